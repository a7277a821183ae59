// One text before and after corruption on one grid of columns: x, below it what the model reads, below that what it must predict.

/** A token: its number in its row, what was done to it, whether it is part of the loss, and what is said of it.
 * @typedef {{n: number, text: string, kind: string, scored: boolean, says: string}} Cell */
/** Of each column the tokens of x, of x̃ and of ỹ. @typedef {{columns: [Cell[], Cell[], Cell[]][], colours: Record<string, string>, legend: [string, string][]}} Grid */

const ROWS = ["text x", "reads x̃", "predicts ỹ"];

/** As many rows as the frame has. @param {Grid} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function gridAt({ columns, colours, legend }, at) {
  const names = { key: "names", name: "column names", inside: ROWS.map((text, row) => ({ key: `name ${row}`, tag: "b", name: "cells", text })) };
  const every = columns.map((cells, n) => {
    const wide = Math.max(...cells.map((row) => row.reduce((sum, { text }) => sum + [...text].length + 2, 0)));
    const inside = cells.map((row, number) => ({ key: `cells ${n} ${number}`, name: "cells", inside: number > at ? [] : row.map((cell) => cellOf(cell, number, cells, colours)) }));
    return { key: `column ${n}`, name: "column", style: { "min-width": `${wide}ch` }, inside };
  });
  const entries = legend.map(([text, colour], n) => ({ key: `legend ${n}`, tag: "span", name: "entry", inside: [{ key: `swatch ${n}`, tag: "i", style: { background: colour } }, { key: `entry ${n}`, tag: "span", text }] }));
  return [{ key: "columns", name: "columns", inside: [names, ...every] }, { key: "legend", name: "entries", inside: entries }];
}

/** A token, which comes out of the first token of the row above it. @param {Cell} cell @param {number} row @param {Cell[][]} column @param {Record<string, string>} colours */
function cellOf({ n, text, kind, scored, says }, row, column, colours) {
  const above = row && column.slice(0, row).findLast((cells) => cells.length)?.[0], from = above ? `cell ${column.slice(0, row).findLastIndex((cells) => cells.length)} ${above.n}` : undefined;
  return { key: `cell ${row} ${n}`, tag: "span", name: "cell", text: text || "∅", from, is: { dir: "auto", "data-says": says, "data-kind": kind, "data-scored": scored ? "" : undefined },
    style: { "--kind": colours[kind] ?? "transparent", "--loss": colours.loss } };
}
