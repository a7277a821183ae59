// The vectors behind the cell that is pointed at, as bars: one bar for each dimension. A pointer over a bar reads that dimension in each of them.
import { stateAt } from "./columns.js";
import { headOf } from "./derive.js";
import { readable, short } from "./ledger.js";

/** @typedef {{name: string, a: ArrayLike<number>, note?: string, alone?: boolean}} Vector  `alone`, where it has a scale of its own */

const SCORES = ["qk", "scale", "cap", "bias", "mask"]; // at which a cell is a score
const SVG_NAMES = "http://www.w3.org/2000/svg";

/** One row or column of a matrix on the board. @param {any} board @param {string} id @param {number} at @returns {Vector | null} */
function vectorAt(board, id, at) {
  const state = stateAt(board.columns.find((/** @type {any} */ c) => c.id === id), board.site, board.step);
  if (!state || at < 0) return null;
  const { a, r, c } = state.m, key = id === "k", of = key || id === "v" ? board.cols : board.rows;
  const name = `${id === "q" || key ? state.says.replace("Kᵀ", "k").replace("K′ᵀ", "k′") : id === "v" ? "v" : state.says} of “${readable(of[at])}”`;
  return { name, a: Array.from({ length: key ? r : c }, (_, e) => a[key ? e * c + at : at * c + e]) };
}

/** A query, a key, and their products, whose sum is the score. @param {any} board @returns {(Vector | null)[]} */
function multiplied(board) {
  const { row, col } = board.cursor, q = vectorAt(board, "q", row), k = vectorAt(board, "k", col), { scores, m } = headOf(board.site, board.head);
  if (!q || !k) return [];
  return [q, k, { name: "q × k", a: Array.from(q.a, (x, e) => x * k.a[e]), note: `sum of all: ${short(scores[row * m + col])}`, alone: true }];
}

/** What a station makes of one token. @param {any} board @returns {(Vector | null)[]} */
function vectorsOf(board) {
  const { site, station, cursor: { row, col, box } } = board;
  if (SCORES.includes(station)) return multiplied(board);
  const own = site.rows === site.cols && !["k", "v"].includes(box) ? row : col;
  if (station === "qkv") return [vectorAt(board, "q", row), vectorAt(board, "k", own), vectorAt(board, "v", own)];
  if (station === "turn") return [vectorAt(board, "q", row), vectorAt(board, "k", own)];
  if (station === "norm1") return [vectorAt(board, "x", row), vectorAt(board, "n1", row)];
  if (station !== "x") return [];
  const parts = Object.entries(site.embedded ?? {}).map(([name, arr]) => ({ name: `${name} embedding`, a: arr.a.subarray(row * arr.s[1], (row + 1) * arr.s[1]) }));
  return [...parts.filter(({ a }) => a.length), vectorAt(board, "x", row)];
}

/** One vector: its name, and a bar for each dimension, up where it is above 0. @param {Vector} vector @param {number} top */
function vectorFigure({ name, a, note = "" }, top) {
  const figure = document.createElement("div"), label = figure.appendChild(document.createElement("div")), svg = figure.appendChild(document.createElementNS(SVG_NAMES, "svg"));
  const bars = (/** @type {(x: number) => boolean} */ which) => Array.from(a, (x, e) => (which(x) ? `M${e + 0.1} 1v${(-x / top).toFixed(3)}h.8V1z` : "")).join("");
  svg.setAttribute("viewBox", `0 0 ${a.length} 2`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("width", "100%");
  svg.setAttribute("height", "4em");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name}: ${a.length} numbers. ${note}`);
  for (const [sign, d] of [["hold", ""], ["above", bars((x) => x > 0)], ["below", bars((x) => x < 0)]]) {
    const path = svg.appendChild(document.createElementNS(SVG_NAMES, "path"));
    path.setAttribute("d", d);
    path.style.fill = `var(--${sign})`;
  }
  svg.firstElementChild?.setAttribute("fill-opacity", ".25");
  Object.assign(label, { dir: "auto", className: "name" });
  label.style.fontWeight = "700";
  return figure;
}

/** Mark a dimension in each vector, and say its numbers; −1 for none. @param {HTMLElement} place @param {Vector[]} vectors @param {number} e */
function readDimension(place, vectors, e) {
  vectors.forEach(({ name, a, note }, at) => {
    const { firstElementChild: label, lastElementChild: svg } = place.children[at], over = e >= 0 && e < a.length;
    svg?.firstElementChild?.setAttribute("d", over ? `M${e} 0h1v2h-1z` : "");
    if (label) label.textContent = over ? `${name} · dimension ${e}: ${short(a[e])}` : [name, note].filter(Boolean).join(" · ");
  });
}

/** The vectors, where the board has room for them. @param {HTMLElement} place @param {any} board */
export function vectored(place, board) {
  const { columns, cursor: { row, col, box }, step, layout, peek } = board, room = Boolean(layout?.ledger?.tall) && !peek && row >= 0;
  const now = [columns, step, row, col, box, room], made = /** @type {any} */ (place).made ?? [];
  if (now.every((one, n) => one === made[n])) return; // most frames: nothing else is pointed at
  /** @type {any} */ (place).made = now;
  const vectors = room ? vectorsOf(board).filter((one) => one !== null) : [];
  place.hidden = !vectors.length;
  const sizes = vectors.map(({ a }) => Math.max(...Array.from(a, Math.abs), 1e-9)), shared = Math.max(...sizes.filter((_, n) => !vectors[n].alone));
  place.replaceChildren(...vectors.map((one, n) => vectorFigure(one, one.alone ? sizes[n] : shared)));
  readDimension(place, vectors, -1);
  const over = (/** @type {PointerEvent} */ { target, clientX }) => {
    const svg = /** @type {Element} */ (target).closest("svg"), { left = 0, width = 1 } = svg?.getBoundingClientRect() ?? {}, many = svg?.viewBox.baseVal.width ?? 0;
    readDimension(place, vectors, svg ? Math.floor(((clientX - left) / width) * many) : -1);
  };
  place.onpointermove = over;
  place.onpointerleave = () => readDimension(place, vectors, -1);
}
