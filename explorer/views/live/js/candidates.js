// What a live decoder shows of a step: the text so far, the candidates as bars, and the beams. Texts of a model are never HTML.
import { element } from "./element.js";

/** @typedef {import("./decoding.js").Step} Step */

/** @type {Record<string, string>} */
const FATES = { kept: "chosen", finished: "ends the text", "cut:top_k": "cut: top k", "cut:top_p": "cut: top p" };
/** @type {Record<string, string>} */
const ENDS = { end: "The model wrote its end token.", length: "As many tokens as you asked for.", context: "The model reads no longer text.",
  "no open beam can win": "No open beam can become better than the finished texts.", "nothing left": "No beam is left." };

export const percent = (/** @type {number} */ share) => (share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);
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

/** The tokens that could come next, the most probable first; in a beam search by the probability of the whole text. @param {Step} step @param {string} way */
export function candidatesOf(step, way) {
  const beams = way === "beam", drawn = step.candidates.some((one) => one.share !== undefined && Math.abs(one.share - Math.exp(one.logp)) > 1e-4);
  const rows = step.candidates.map((one) => {
    const token = element("span", "token-text", one.text || "∅");
    token.dir = "auto";
    const fate = beams && one.fate !== "finished" ? (one.fate === "kept" ? "kept" : "pruned") : (FATES[one.fate] ?? "");
    return [...(beams && step.step ? [String(one.parent + 1)] : []), token, barOf(Math.exp(one.logp)), ...(drawn ? [barOf(one.share ?? 0)] : []), ...(beams ? [rounded(one.total)] : []), fate];
  });
  const names = [...(beams && step.step ? ["Beam"] : []), "Token", "Probability", ...(drawn ? ["Drawn with"] : []), ...(beams ? ["log P of the text"] : []), ""];
  return tableOf(beams ? "Continuations of all beams, the most probable text first" : "Candidates for this token", names, rows, step.candidates.map((one) => one.fate));
}

/** The beams after a step, and the texts that have ended. @param {Step} step */
export function beamsOf(step) {
  const both = element("div", "beams"), written = (/** @type {string} */ text) => Object.assign(element("span", "token-text", text || "∅"), { dir: "auto" });
  if (step.beams.length) both.append(tableOf("Beams after this step", ["", "Text", "log P"], step.beams.map((one, n) => [String(n + 1), written(one.text), rounded(one.total)]), step.beams.map(() => "kept")));
  const ended = step.finished.map((one, n) => [String(n + 1), written(one.text), rounded(one.total), rounded(one.score)]);
  if (ended.length) both.append(tableOf("Finished texts, by log P per token", ["", "Text", "log P", "per token"], ended, ended.map(() => "finished")));
  return both;
}

/** A step in one sentence. @param {Step} step @param {string} way */
export function sentenceOf(step, way) {
  const taken = step.candidates.find((one) => one.fate === "kept" || one.fate === "finished");
  const first = way === "beam" ? `${step.beams.length} open, ${step.finished.length} finished; the best text has log P = ${rounded(step.total)}.`
    : taken ? `“${taken.text}” with a probability of ${percent(Math.exp(taken.logp))}; log P of the text is ${rounded(step.total)}.` : "";
  return `Token ${step.step + 1}: ${first}${step.stopped ? ` ${ENDS[step.stopped] ?? ""}` : ""}`;
}
