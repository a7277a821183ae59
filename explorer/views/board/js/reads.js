// What the followed token reads, as bars beside the matrix: the largest weights of its row, to be seen from the last row of a hall.
import { headOf } from "./derive.js";
import { percent, readable } from "./ledger.js";

const BARS = 6; // bars
const WEIGHING = ["softmax", "mix"]; // at which a row of weights is on the board

/** The columns of a row with the largest weights, and what the others have together. @param {ArrayLike<number>} alpha @param {number} row @param {number} m */
function mostRead(alpha, row, m) {
  const all = Array.from({ length: m }, (_, col) => ({ col, share: alpha[row * m + col] })).filter(({ share }) => share > 0);
  const best = all.sort((a, b) => b.share - a.share).slice(0, BARS);
  return { best, others: all.slice(BARS).reduce((sum, { share }) => sum + share, 0) };
}

/** The bars, where the board has room for them; a click points at the cell. @param {HTMLElement} place @param {any} board */
export function ranked(place, board) {
  const { row, col, box } = board.cursor, head = headOf(board.site, board.head);
  place.hidden = !board.layout?.ledger?.tall || board.peek || box !== "S" || row < 0 || !WEIGHING.includes(board.station);
  if (place.hidden) return;
  place.setAttribute("aria-label", `What “${readable(board.rows[row])}” reads`);
  const { best, others } = mostRead(head.alpha, row, head.m);
  const bars = [...best, ...(others > 0.0005 ? [{ col: -1, share: others }] : [])];
  while (place.children.length > bars.length) place.lastChild?.remove();
  while (place.children.length < bars.length) place.append(document.createElement("button"));
  bars.forEach((bar, at) => {
    const button = /** @type {HTMLButtonElement} */ (place.children[at]), name = bar.col < 0 ? `${head.m - best.length} others` : readable(board.cols[bar.col]);
    button.type = "button";
    button.disabled = bar.col < 0;
    button.onclick = () => {
      board.point(row, bar.col);
      board.draw();
      board.report();
    };
    button.classList.toggle("here", bar.col === col);
    button.style.setProperty("--share", String(bar.share));
    if (button.dataset.name !== name) {
      button.replaceChildren(...["b", "i", "span"].map((tag) => document.createElement(tag)));
      button.dataset.name = name;
      button.children[0].textContent = name;
    }
    button.children[2].textContent = percent(bar.share);
  });
}
