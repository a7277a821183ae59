// What a hand changes: one weight of a row. The other weights of the row give way, the context vector follows, and it can be undone.
import { headOf, rewrite } from "./derive.js";
import { short } from "./ledger.js";

const OPEN = ["softmax", "mix", "concat"]; // where weights are seen
const FAR = 160; // dots that a hand draws a weight from 0 to 1

/** The weights of a row that may be other than 0. @param {any} head @param {number} row @returns {number[]} */
const seenBy = (head, row) => Array.from({ length: head.m }, (_, j) => j).filter((j) => head.see(row, j));

/** Whether weights are seen here that a hand may change. @param {any} board */
export const weighing = ({ site, station, words }) => Boolean(site.q && !site.z && OPEN.includes(station) && !words);

/** Whether the weight that is pointed at can be changed here. @param {any} board @param {number} [row] @param {number} [col] */
export function liftable(board, row = board.cursor.row, col = board.cursor.col) {
  const { site } = board;
  if (!weighing(board) || row < 0 || col < 0) return false;
  const head = headOf(site, board.head);
  return head.see(row, col) && seenBy(head, row).length > 1 && Number.isFinite(head.alpha[row * head.m + col]);
}

/** Give one weight another value; the others of its row keep their proportions and the row its sum. @param {any} board @param {number} row
 * @param {number} col @param {number} wanted @param {Float32Array} from  the weights before the hand came */
function weigh(board, row, col, wanted, from) {
  const head = headOf(board.site, board.head), at = row * head.m, open = seenBy(head, row), alpha = from.slice();
  const sum = open.reduce((all, j) => all + from[at + j], 0), value = Math.max(0, Math.min(sum, wanted)), rest = sum - from[at + col];
  for (const j of open) alpha[at + j] = j === col ? value : rest > 1e-6 ? (from[at + j] * (sum - value)) / rest : (sum - value) / (open.length - 1);
  rewrite(board.site, board.head, alpha);
  board.prepare();
  board.draw();
}

/** Keep what was, so that it can come back. @param {any} board */
function remember(board) {
  const { site, head } = board;
  board.changes.push({ at: board.at, head, before: site.written?.get(head) ?? null, row: board.cursor.row, col: board.cursor.col });
}

/** Change the weight that is pointed at, in one step that can be undone. @param {any} board @param {number} value */
export function setWeight(board, value) {
  if (!liftable(board)) return;
  const { alpha, m } = headOf(board.site, board.head);
  if (Math.abs(Math.max(0, Math.min(1, value)) - alpha[board.cursor.row * m + board.cursor.col]) < 1e-6) return; // nothing to undo
  remember(board);
  weigh(board, board.cursor.row, board.cursor.col, value, alpha);
  board.told();
}

/** A little more or less. @param {any} board @param {number} by */
export function nudge(board, by) {
  if (liftable(board)) setWeight(board, headOf(board.site, board.head).alpha[board.cursor.row * board.cols.length + board.cursor.col] + by);
}

/** Take the last change back; where there is none, the last one that the model was run on. @param {any} board */
export function takeBack(board) {
  const last = board.changes.pop();
  if (!last) return board.options.ask?.({ what: "undo" });
  if (board.at !== last.at || board.head !== last.head) board.choose(last.at, last.head);
  rewrite(board.site, last.head, last.before);
  board.prepare();
  board.point(last.row, last.col);
  board.draw();
  board.told();
}

/** Begin to draw at the weight under a hand; null where there is none. @param {any} board @param {any} found @param {number} y
 * @returns {((y: number) => boolean) | null} what follows the hand, and says whether it drew */
export function grip(board, found, y) {
  if (found?.box?.id !== "S" || !liftable(board, found.i, found.j)) return null;
  const { i, j } = found, from = headOf(board.site, board.head).alpha, begin = from[i * board.cols.length + j];
  let moved = false;
  return (to) => {
    if (!moved && Math.abs(to - y) < 5) return false;
    if (!moved) {
      board.point(i, j);
      remember(board);
      board.told();
    }
    moved = true;
    weigh(board, i, j, begin + (y - to) / FAR, from);
    return true;
  };
}

/** What a hand did to the row that is pointed at, in sentences. @param {any} board @returns {string[]} */
export function changedLines(board) {
  const head = headOf(board.site, board.head), own = head.base, { row, col } = board.cursor, { m, dv } = head;
  if (!own) return [];
  let gap = 0, size = 0;
  for (let e = row * dv; e < (row + 1) * dv; e++) {
    gap += (head.z[e] - own.z[e]) ** 2;
    size += own.z[e] ** 2;
  }
  if (!gap) return ["Another row of this head was edited by hand."];
  const at = row * m + Math.max(0, col), far = `z moved by ${short(Math.sqrt(gap))} (${Math.round((100 * Math.sqrt(gap)) / (Math.sqrt(size) || 1))}% of its length)`;
  const later = board.station === "softmax" && board.site.stations.includes("mix") ? `, as step ${board.data.prose.mix.name} shows` : "";
  return [`Edited by hand: α was ${short(own.alpha[at])}, is ${short(head.alpha[at])}; ${far}${later}.`];
}

/** What an edit by hand reaches, for the foot of the board; empty where nothing was changed. @param {any} board */
export const reachOf = (board) => (board.site.written?.size ? "Weights of this layer were edited by hand: Σ α v and the heads follow; W_O and everything after it still show the model's own run." : "");

/** The bar of an expected token under a pointer, where it can be forced. @param {any} board @param {any} found @param {number} y
 * @returns {{rank: number} | null} */
export function barAt(board, found, y) {
  const { ask, force } = board.options, { top } = board.data;
  if (!ask || !force || found?.box?.id !== "next" || board.station !== "next" || top?.kind !== "lm") return null;
  const rank = Math.floor((y - found.box.y - 18) / (board.layout.font > 18 ? 40 : 25));
  return rank >= 0 && rank < board.expected(board.cursor.row).bars.length ? { rank } : null;
}

/** Ask Python to run the model on the row that a hand wrote. @param {any} board */
export function send(board) {
  const { site, head } = board, { row } = board.cursor, { alpha, m } = headOf(site, head);
  board.options.ask?.({ what: "row", stream: site.stream, layer: site.layer, head, row, shares: Array.from(alpha.subarray(row * m, (row + 1) * m)) });
}
