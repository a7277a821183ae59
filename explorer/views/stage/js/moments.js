// The snapshots of a training: a dot that goes down the curve of the loss, from one snapshot to the next, and a text as the model predicts it then.

import { curveOf } from "./curve.js";

/** A token: itself, and at each snapshot what was the most probable one instead and how probable the right one was. @typedef {{text: string, best: string[], chances: number[]}} Word */
/** @typedef {import("./curve.js").Curves & {words: Word[]}} Moments */

/** @param {Moments} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function momentsAt(told, at) {
  return [{ key: "words", name: "said", inside: told.words.map((word, n) => wordOf(word, n, at)) }, curveOf(told, at)];
}

/** What is predicted at a token, how probable the right one is, and the right one. @param {Word} word @param {number} n @param {number} at */
function wordOf({ text, best, chances }, n, at) {
  const right = best[at] === text, says = `P(${text}) = ${chances[at].toFixed(3)}; most probable: ${best[at]}`;
  return { key: `word ${n}`, name: "guess", is: { "data-says": says, "data-right": right ? "" : undefined }, inside: [
    { key: `best ${n}`, tag: "b", text: best[at], is: { dir: "auto" } },
    { key: `bar ${n}`, name: "share", inside: [{ key: `fill ${n}`, name: "fill", turns: true, style: { width: `${100 * chances[at]}%` } }] },
    { key: `right ${n}`, tag: "span", text, is: { dir: "auto" } },
  ] };
}
