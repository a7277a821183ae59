// Buttons, words and numbers of the opening.
import { element } from "../../live/js/element.js";

/** A button that does something. @param {string} name @param {string} text @param {() => void} press */
export function button(name, text, press) {
  return Object.assign(element("button", name, text), { type: "button", onclick: press });
}

/** A probability as a reader says it. @param {number} share */
export const percent = (share) => (share > 0 && share < 0.005 ? "< 1%" : `${Math.round(100 * share)}%`);

/** A token as a word, "…er" where it goes on with one. @param {string} token @param {boolean} spaced whether · before a token begins a word */
export function wordOf(token, spaced) {
  if (/^[[<].+[\]>]$/.test(token)) return token;
  const goes = spaced ? !token.startsWith("·") && /^\p{L}/u.test(token) : token.startsWith("##");
  return (goes ? "…" : "") + (token.replace(/^(·|##)(?=.)/u, "") || token);
}

/** @typedef {{text: string, from: number, to: number}} Word where it is in the text, counted in letters */

/** The words of a text, as word_offsets in explorer/analysis/architectures.py finds them. @param {string} text @returns {Word[]} */
export function wordsIn(text) {
  const letters = (/** @type {string} */ part) => Array.from(part).length;
  return [...text.matchAll(/[\p{L}\p{N}_]+(?:['’][\p{L}\p{N}_]+)*/gu)].map((match) => {
    const from = letters(text.slice(0, match.index));
    return { text: match[0], from, to: from + letters(match[0]) };
  });
}

/** Spans of letters without the spaces at their ends, from the first to the last: what overlaps is one. @param {number[][]} spans @param {string} text */
export function merged(spans, text) {
  const letters = Array.from(text), found = /** @type {number[][]} */ ([]);
  for (let [from, to] of spans.sort(([one], [other]) => one - other)) {
    while (from < to && !letters[from].trim()) from++;
    while (from < to && !letters[to - 1].trim()) to--;
    const last = found[found.length - 1];
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else if (from < to) found.push([from, to]);
  }
  return found;
}

/** From 0 to 1 while the time goes from one moment to another, slow at both ends. @param {number} time @param {number} from @param {number} to */
export function eased(time, from, to) {
  const part = Math.min(1, Math.max(0, (time - from) / (to - from)));
  return part * part * (3 - 2 * part);
}
