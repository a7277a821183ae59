// The attention weights of one head under one mask after the other: cells open and close, and the loss of each token grows or shrinks.

/** `weights` [mask][row][column] are null where a token is hidden; `losses` [mask][token] in nats, of the tokens that are `wanted` at these `places`
 * (rows). The first mask is the model's own. `colours` are for the roots of weights, from 0 to 1.
 * @typedef {{rows: string[], columns: string[], frames: {title: string}[], weights: (number | null)[][][], wanted: string[], places: number[], losses: number[][],
 *   colours: string[]}} Masks */

const SHOWN = [0, 0.05, 0.25, 1]; // weights in the legend
const NAMED = 24; // columns that have room for their names
const LETTERS = 9; // of a token that a name has room for

/** @param {string} text */
function fitting(text) {
  const letters = [...text];
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : text;
}

/** @param {Masks} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function masksAt(told, at) {
  const { rows, columns, frames } = told, every = Math.ceil(columns.length / NAMED);
  const names = columns.map((text, n) => ({ key: `column ${n}`, tag: "span", name: "weight", turns: true, text: n % every ? "" : fitting(text), is: { dir: "auto", "data-says": text } }));
  const head = { key: "columns", name: "row columns", inside: [{ key: "corner", tag: "span", name: "word" }, { key: "names", name: "weights", inside: names }, { key: "heading", tag: "span", name: "loss", text: "loss (nats)" }] };
  const matrix = { key: "matrix", name: every > 1 ? "matrix many" : "matrix", style: { "--columns": String(columns.length), "--every": String(every) }, is: { role: "img", "aria-label": frames[at].title }, inside: [head, ...rows.map((text, row) => rowOf(told, at, text, row))] };
  return [matrix, { key: "legend", name: "entries", inside: legendOf(told) }];
}

/** @param {Masks} told @param {number} at @param {string} text @param {number} row @returns {import("./moving.js").Thing} */
function rowOf(told, at, text, row) {
  const cells = told.weights[at][row].map((weight, column) => {
    const opened = weight !== null && told.weights[0][row][column] === null, says = weight === null ? "hidden" : weight.toFixed(3);
    return { key: `cell ${row} ${column}`, tag: "i", name: "weight", turns: true, style: { "background-color": colourOf(told, weight), "--late": String(Math.abs(column - row)) },
      is: { "data-says": `${text} → ${told.columns[column]}: ${says}`, "data-opened": opened ? "" : undefined } };
  });
  const name = { key: `token ${row}`, tag: "span", name: "word", text: fitting(text), is: { dir: "auto", "data-says": text } };
  return { key: `row ${row}`, name: "row", inside: [name, { key: `weights ${row}`, name: "weights", inside: cells }, lossOf(told, at, row)] };
}

/** The token that is predicted at a row, and its loss: a bar, and a mark where it ends under the model's own mask. @param {Masks} told @param {number} at @param {number} row
 * @returns {import("./moving.js").Thing} */
function lossOf({ wanted, places, losses }, at, row) {
  const n = places.indexOf(row);
  if (n < 0) return { key: `loss ${row}`, name: "loss" };
  const top = Math.max(...losses.flat(), 1e-9), share = (/** @type {number} */ mask) => `${(100 * losses[mask][n]) / top}%`;
  const says = `−log P(${wanted[n]}) = ${losses[at][n].toFixed(2)} nats; under its own mask ${losses[0][n].toFixed(2)}`;
  const bars = /** @type {import("./moving.js").Thing[]} */ ([{ key: `fill ${row}`, name: "fill", turns: true, style: { width: share(at) } }, { key: `own ${row}`, tag: "i", name: "own", style: { left: share(0) } }]);
  const inside = [{ key: `wanted ${row}`, tag: "span", name: "word", text: fitting(wanted[n]), is: { dir: "auto", "data-says": wanted[n] } }, { key: `track ${row}`, name: "track", inside: bars }, { key: `nats ${row}`, tag: "span", name: "nats", text: losses[at][n].toFixed(1) }];
  return { key: `loss ${row}`, name: "loss", is: { "data-says": says }, inside };
}

/** @param {Masks} told @param {number | null} weight */
const colourOf = ({ colours }, weight) => weight === null ? "var(--line)" : colours[Math.round(Math.sqrt(weight) * (colours.length - 1))];

/** @param {Masks} told */
function legendOf(told) {
  const entry = (/** @type {string} */ text, /** @type {string} */ name, colour = "") => ({ key: `entry ${text}`, tag: "span", name: "entry", inside: [{ key: `mark ${text}`, tag: "i", name, style: { background: colour } }, { key: `says ${text}`, tag: "span", text }] });
  return [entry("hidden", "swatch", colourOf(told, null)), entry("allowed only by this mask", "swatch opened"), ...SHOWN.map((weight) => entry(`weight ${weight}`, "swatch", colourOf(told, weight))), entry("loss under its own mask", "own")];
}
