// Where a board is and how it is looked at, as an address or a notebook keeps it, and the way back to it.
import { grows } from "./growing.js";

/** @typedef {{stream?: string, layer?: number, head?: number, station?: string, row?: number, col?: number, held?: number[][], moment?: number,
 *   written?: number, words?: boolean, hidden?: boolean, threshold?: number}} View */

/** What is worth keeping: the place, and what differs from a board that nobody touched. @param {any} board @returns {View} */
export function viewOf(board) {
  const { site, cursor } = board, held = board.held.map((/** @type {any} */ h) => [h.row, h.col]);
  const looked = { moment: board.moment, written: board.grown, words: board.words, hidden: board.hiding, threshold: board.faint };
  return { stream: site.stream, layer: site.layer, head: board.head, station: board.station, row: cursor.row, col: cursor.col, ...(held.length && { held }),
    ...Object.fromEntries(Object.entries(looked).filter(([, chosen]) => chosen)) };
}

/** Show a trace as a view has it. @param {any} board @param {any} bytes @param {View} view */
export function begin(board, bytes, view) {
  const { held = [], moment = 0, written = 0, words = false, hidden = false, threshold = 0 } = view;
  Object.assign(board, { moment, words, hiding: hidden, faint: threshold });
  board.give(bytes, view);
  if (!board.data) return;
  board.held = held.map(([row, col]) => ({ row, col })).filter((h) => h.row < board.rows.length && h.col < board.cols.length);
  board.grown = grows(board) ? written : 0;
  board.size();
}

/** Another moment of a series, chosen here. @param {any} board @param {number} moment */
export function later(board, moment) {
  board.during(moment);
  board.report();
}

/** Bring the whole picture into view, where it fits. @param {any} board */
export function show({ parts: { canvas } }) {
  const { top, bottom } = canvas.getBoundingClientRect();
  if (bottom - top < innerHeight - 76 && (top < 0 || bottom > innerHeight)) canvas.scrollIntoView({ block: "nearest" });
}

/** The row of a token, chosen from a list. @param {any} board @param {number} row */
export function follow(board, row) {
  board.point(row, board.strongest(row));
  board.size();
  board.report();
}
