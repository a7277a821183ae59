// What a model under training predicts of texts that it never learned from: each token in the colour of its probability, a right one underlined.
import { element } from "../../live/js/element.js";
import { percent } from "./curves.js";

/** @typedef {import("./training.js").Shown} Shown */
/** @typedef {import("./training.js").Guess} Guess */

const LONG = "<|endoftext|>", SHORT = "‹end›"; // too long a name for a cell
/** A token in few letters. @param {string} text */
export const shownAs = (text) => (text === LONG ? SHORT : text);
const DEEPEST = 45; // percent of the colour, so that letters on it can be read

/** @param {Guess} guess */
function guessed({ text, chance, first, right }) {
  const token = element("span", `guess${right ? " right" : ""}`);
  token.style.setProperty("--chance", `${Math.round(DEEPEST * Math.sqrt(chance))}%`); // by its root, as the board colours weights
  token.append(element("b", "", shownAs(text)), element("small", "", right ? percent(chance) : shownAs(first)));
  token.title = right ? `${text}: ${percent(chance)}, the most probable token` : `${text}: ${percent(chance)}; the most probable token is ${first}`;
  return token;
}

/** Some held-out examples. @param {Shown[]} shown @param {boolean} task */
export function examplesOf(shown, task) {
  const list = element("ol", "examples");
  for (const { read, guesses, at } of shown) {
    const line = list.appendChild(element("li", "")), inside = new Map(at.map((place, n) => [place, guesses[n]]));
    const asks = task || at.length > 0; // else a decoder's own text: what it reads is what it predicts
    const asked = read[0] === LONG ? 1 : 0; // a decoder begins with it; it is no part of the question
    if (asks) read.forEach((text, n) => n >= asked && line.append(inside.has(n) ? guessed(/** @type {Guess} */ (inside.get(n))) : element("span", "read", shownAs(text)), " "));
    if (at.length) continue;
    if (asks) line.append(element("span", "read", "→"), " ");
    for (const guess of guesses) line.append(guessed(guess), " ");
  }
  return list;
}

/** What it wrote, the newest first. @param {{step: number, text: string}[]} written */
export function writtenList(written) {
  const list = element("ol", "written-list");
  for (const { step, text } of [...written].reverse()) {
    const line = list.appendChild(element("li", ""));
    line.append(element("small", "", `step ${step}`), " ", element("span", "", text || "(nothing)"));
  }
  return list;
}
