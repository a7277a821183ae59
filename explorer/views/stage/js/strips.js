// Rows of tokens as boxes: which tokens join, which blank is filled; where there is a number for each frame, its curve stands beside them.
import { curveOf } from "./curve.js";

/** A box: its key, its text, the number of its colour, at which letter it begins where it does not follow the one before, and what it says.
 * @typedef {[string, string, number, number | null, string]} Box */
/** A row without boxes is a heading. @typedef {{name: string, more: string, boxes: Box[]}} Row */
/** A row that is null is the same as in the frame before; `inks` are the colours of the letters in boxes of these `colours`.
 * @typedef {{frames: {rows: (Row | null)[], keys: string[]}[], colours: string[], inks: string[]} & Partial<import("./curve.js").Curves>} Strips */

/** A row of a frame: where it is as before, that of an earlier one. @param {Strips} told @param {number} at @param {number} row @returns {Row} */
const rowAt = (told, at, row) => told.frames[at].rows[row] ?? rowAt(told, at - 1, row);

/** @param {Strips} told @param {number} at */
export function stripsAt(told, at) {
  const { rows, keys } = told.frames[at], { curves, dots = [], ends = [] } = told;
  const strips = rows.map((_, row) => stripOf(told, rowAt(told, at, row), keys[row], joinedIn(told, at, row)));
  return curves ? [...strips, curveOf({ curves, dots, ends }, at)] : strips;
}

/** The two boxes of the frame before that have become one, by the key of that one. @param {Strips} told @param {number} at @param {number} row */
function joinedIn(told, at, row) {
  const joined = /** @type {Map<string, Record<string, string>>} */ (new Map());
  if (!at || !told.frames[at].rows[row]) return joined;
  const before = rowAt(told, at - 1, row).boxes, { boxes } = rowAt(told, at, row);
  boxes.forEach(([key, whole], n) => {
    const [first, second, ...more] = before.filter(([other]) => Number(other) >= Number(key) && Number(other) < Number(boxes[n + 1]?.[0] ?? Infinity));
    if (second && !more.length) joined.set(key, { "data-first": first[1], "data-second": whole.slice(first[1].length), "data-joins": String(at % 2) });
  });
  return joined;
}

/** @param {Strips} told @param {Row} row @param {string} n its key @param {Map<string, Record<string, string>>} joined @returns {import("./moving.js").Thing} */
function stripOf({ colours, inks }, { name, more, boxes }, n, joined) {
  const label = { key: `name ${n}`, tag: boxes.length ? "span" : "b", name: "name", text: boxes.length ? name : `${name} ${more}`, is: { dir: "auto" } };
  const things = boxes.map(([key, text, tone, place, says]) => ({ key: `box ${n} ${key}`, tag: "span", name: "box", text: text || "∅", is: { dir: "auto", "data-says": says, "data-joins": undefined, ...joined.get(key) },
    style: { "background-color": colours[tone], color: inks[tone], "--joined": colours[tone], "--joined-ink": inks[tone], "margin-left": place === null ? "0" : `${place}ch` } }));
  return { key: `row ${n}`, name: "strip", inside: [label, ...things] };
}
