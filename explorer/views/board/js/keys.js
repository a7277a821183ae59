// What the keys do, and how they are listed.
import { forbids, headOf } from "./derive.js";
import { grows, write } from "./growing.js";
import { nudge, takeBack } from "./hands.js";
import { later } from "./share.js";

const HELP = [
  ["space", "play, pause"], ["← →", "one station"], ["1 – 9", "a station"], ["↑ ↓", "another row"], ["Shift ↑ ↓", "another column"],
  ["[ ]", "another head"], [", .", "another layer"], ["+ −", "more or less weight in the cell (or drag it up and down)"], ["Z", "undo an edit"], ["D", "write one token more (Shift+D: one less)"],
  ["Enter, click", "hold a cell (Shift: one more)"], ["Esc", "release"], ["T", "the next moment of a series (Shift+T: the one before)"], ["M", "mask or replace the token of the row"], ["W", "words or tokens"],
  ["H", "hide special tokens"], ["P", "present: full screen"], ["S", "save as PNG"], ["?", "these keys"],
];

/** The next station; a mask that hides nothing is passed over. @param {any} board @returns {number} */
export const nextOf = ({ site, step, head }) => step + (site.stations[step + 1] === "mask" && !forbids(headOf(site, head)) ? 2 : 1);

/** The keys that do something on a board. @param {any} board */
export const helpOf = (board) => HELP.filter(([key]) => (key === "T" ? board.series : key === "D" ? grows(board) : key === "M" ? board.options.ask : true));

/** What a key does; nothing where it means nothing here. @param {any} board @param {KeyboardEvent} e @returns {(() => void) | null | undefined} */
export function actOf(board, e) {
  const { row, col } = board.cursor, n = board.rows.length, m = board.cols.length;
  const move = (/** @type {number} */ r, /** @type {number} */ c) => () => {
    const at = Math.max(0, Math.min(n - 1, row + r));
    board.point(at, r ? board.strongest(at) : Math.max(0, Math.min(m - 1, col + c))); // another row, at what it reads most
    board.draw();
    board.parts.twin(board);
    board.report();
  };
  if (/^[1-9]$/.test(e.key)) return () => board.go(Number(e.key) - 1);
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key, back = e.shiftKey ? -1 : 1;
  /** @type {Record<string, () => void>} */
  const known = {
    " ": () => board.play(!board.playing), ArrowRight: () => board.go(nextOf(board)), ArrowLeft: () => board.go(board.step - 1),
    ArrowUp: e.shiftKey ? move(0, -1) : move(-1, 0), ArrowDown: e.shiftKey ? move(0, 1) : move(1, 0), Enter: () => board.hold(e.shiftKey),
    Escape: () => board.free(), "[": () => board.choose(board.at, board.head - 1), "]": () => board.choose(board.at, board.head + 1),
    ",": () => board.choose(board.at - 1, board.head), ".": () => board.choose(board.at + 1, board.head), p: () => board.fullscreen(),
    s: () => savePicture(board), "?": () => board.parts.help(helpOf(board)), m: () => board.ask(), w: () => board.toggle("words"), h: () => board.toggle("hiding"),
    t: () => later(board, e.shiftKey ? board.moment - 1 : (board.moment + 1) % (board.series?.length ?? 1)), d: () => write(board, back),
    "+": () => nudge(board, 0.05), "=": () => nudge(board, 0.05), "-": () => nudge(board, -0.05), z: () => takeBack(board),
  };
  return known[key];
}

/** The picture as a file. @param {any} board */
function savePicture(board) {
  board.parts.canvas.toBlob((/** @type {Blob | null} */ blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${board.data.model}-${board.site.stream}-${board.site.layer}-${board.station}.png`.replace(/[^\w.-]/g, "_");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
