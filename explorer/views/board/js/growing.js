// A text as it is written: rows that are not written yet are covered, and each step drops one token into a new row.
import { readable, short } from "./ledger.js";

/** Whether the rows of this board are written one after the other. @param {any} board */
export const grows = (board) => board.data.family !== "encoder" && board.rows.length > 1 && !board.series && (board.data.sites.at(-1).stream !== "encoder");

/** The first row from which the model wrote by itself. @param {any} board */
const begun = (board) => board.data.decoding?.[0]?.row ?? 0;

/** How many rows are written; all of them where nobody asked. @param {any} board */
export const writtenRows = (board) => (board.grown && board.site.stream !== "encoder" ? Math.min(board.grown, board.rows.length) : board.rows.length);

/** One more token, or all again after the last one. @param {any} board @param {number} by */
export function write(board, by) {
  if (!grows(board)) return;
  const side = board.data.sites.findLastIndex((/** @type {any} */ s) => s.stream !== "encoder"), n = board.data.tokens[board.data.sites[side].rows].texts.length;
  if (board.site.stream === "encoder") board.choose(side, board.head, false);
  const now = board.grown ?? (by > 0 ? begun(board) : n + 1), next = now + by;
  writeTo(board, next > n ? begun(board) + 1 : Math.max(1, next));
}

/** So many rows are written. @param {any} board @param {number} rows */
export function writeTo(board, rows) {
  board.grown = rows;
  board.point(rows - 1, Math.min(board.cursor.col, board.cols.length - 1));
  if (board.station === "next") board.animate(0);
  board.size();
  board.report();
}

/** What stands beside the slider: the token that came last, and how many there are. @param {any} board */
export function lengthSaid(board) {
  const rows = writtenRows(board);
  return `${readable(board.rows[rows - 1] ?? "")} (${rows} of ${board.rows.length})`;
}

/** The best beams after the step that the row that is pointed at wrote. @param {any} board @returns {string[]} */
export function beamsAt(board) {
  const step = board.data.decoding?.find((/** @type {any} */ one) => one.row === board.cursor.row);
  if (!step) return [];
  return [step.beams.length > 1 ? "Best beams after this step, with the sum of log P:" : "Written after this step, with the sum of log P:",
    ...step.beams.map((/** @type {any} */ beam) => `${short(beam.total)}  ${beam.text}`)];
}
