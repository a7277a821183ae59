// What is said of a step: a sentence, what became of a candidate, and the texts that ended. Texts of a model are never HTML.
import { element } from "./element.js";

/** @typedef {import("./decoding.js").Step} Step */

/** @type {Record<string, string>} */
const FATES = { kept: "chosen", finished: "ends the text", "cut:top_k": "cut: top k", "cut:top_p": "cut: top p", "cut:min_p": "cut: min p", "cut:typical_p": "cut: typical p",
  "cut:no_repeat": "cut: repeats", "cut:among": "not allowed", "forced-out": "another was forced" };
/** @type {Record<string, string>} */
const ENDS = { end: "The model wrote its end token.", length: "As many tokens as you asked for.", context: "The model cannot read a longer text.",
  "no open beam can win": "No open beam can become better than the finished texts.", "nothing left": "No beam is left." };

export const percent = (/** @type {number} */ share) => (share > 0 && share < 0.001 ? "< 0.1%" : `${(100 * share).toFixed(1)}%`);
const rounded = (/** @type {number} */ value) => value.toFixed(2).replace("-", "−");

/** A table with a caption, the names of its columns and its rows. @param {string} caption @param {string[]} names @param {(string | HTMLElement)[][]} rows @param {string[]} kinds of the rows */
export function tableOf(caption, names, rows, kinds) {
  const table = element("table", "steps");
  table.createCaption().textContent = caption;
  const head = table.createTHead().insertRow(), body = table.createTBody();
  for (const name of names) /** @type {HTMLTableCellElement} */ (head.appendChild(element("th", "", name))).scope = "col";
  rows.forEach((cells, n) => {
    const row = body.insertRow();
    row.dataset.fate = kinds[n];
    for (const cell of cells) row.insertCell().append(cell);
  });
  return table;
}

/** A share as a bar with its percentage. @param {number} share */
export function barOf(share) {
  const bar = element("span", "share"), fill = bar.appendChild(element("span", "track")).appendChild(element("span", "fill"));
  fill.style.width = `${100 * share}%`;
  bar.append(element("span", "number", percent(share)));
  return bar;
}

/** What became of a candidate, in a few words. @param {import("./decoding.js").Candidate} one */
export const fateOf = (one) => FATES[one.fate] ?? "";

/** A candidate in one sentence; of a beam that was kept in its step, `kept` says what became of it. @param {import("./decoding.js").Candidate} one @param {string} [kept] */
export function candidateSentence(one, kept) {
  const judged = one.fate === "beaten" ? (kept ? "pruned" : "another token is more probable") : (FATES[one.fate] ?? one.fate);
  return `“${one.text}”: P = ${percent(Math.exp(one.logp))}, log P = ${rounded(one.logp)}; log P of the text with it: ${rounded(one.total)}; ${kept && one.fate === "kept" ? kept : judged}.`;
}

/** The texts of a search that have ended; those of `all` that end later have their rows already, so that nothing below moves.
 * @param {Step["finished"]} ended @param {Step["finished"]} all */
export function finishedOf(ended, all) {
  const written = (/** @type {string} */ text) => Object.assign(element("span", "token-text", text || "∅"), { dir: "auto" });
  const rows = [...ended, ...all.slice(ended.length)].map((one, n) => [String(n + 1), written(one.text), rounded(one.total), rounded(one.score)]);
  return tableOf("Finished texts, by log P per token", ["", "Text", "log P", "per token"], rows, rows.map((_, n) => (n < ended.length ? "finished" : "later")));
}

/** A step before a token is taken, in one sentence. @param {Step} step @param {string} way */
export const askedIn = ({ step }, way) => (way === "beam" ? `Token ${step + 1}: each text proposes its most probable tokens.` : `Token ${step + 1}: what may come next?`);

/** A step in one sentence. @param {Step} step @param {string} way */
export function sentenceOf(step, way) {
  const taken = step.candidates.find((one) => one.fate === "kept" || one.fate === "finished");
  const going = step.stopped ? 0 : step.candidates.filter(({ beam = -1 }) => beam >= 0).length;
  const first = way === "beam" ? `${going} ${going === 1 ? "text goes" : "texts go"} on, ${step.finished.length} ended; the best has log P = ${rounded(step.total)}.`
    : taken ? `“${taken.text}” with a probability of ${percent(Math.exp(taken.logp))}; log P of the text is ${rounded(step.total)}.` : "";
  return `${way === "beam" ? "After token" : "Token"} ${step.step + 1}: ${first}${step.stopped ? ` ${ENDS[step.stopped] ?? ""}` : ""}`;
}
