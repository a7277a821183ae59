// What a head does with its weights on the whole: where it looks, how far, and how widely.
import { headOf } from "./derive.js";
import { percent } from "./ledger.js";

/** @typedef {{id: string, name: string, of: (a: ArrayLike<number>, i: number, m: number) => number | null}} Habit  a number of one row; null where it has none */

/** @param {ArrayLike<number>} a @param {number} i @param {number} m @param {(share: number, j: number) => number} part */
const rowSum = (a, i, m, part) => {
  let sum = 0;
  for (let j = 0; j < m; j++) if (a[i * m + j] > 0) sum += part(a[i * m + j], j);
  return sum;
};

/** Where rows and columns are the same tokens; `spread` and `first` are known of a cross-attention too. @type {Habit[]} */
export const HABITS = [
  { id: "back", name: "previous token", of: (a, i, m) => (i ? a[i * m + i - 1] : null) },
  { id: "self", name: "itself", of: (a, i, m) => a[i * m + i] },
  { id: "on", name: "next token", of: (a, i, m) => (i + 1 < m ? a[i * m + i + 1] : null) },
  { id: "first", name: "first token", of: (a, i, m) => a[i * m] },
  { id: "distance", name: "mean distance", of: (a, i, m) => rowSum(a, i, m, (share, j) => share * Math.abs(j - i)) },
  { id: "spread", name: "spread (entropy)", of: (a, i, m) => rowSum(a, i, m, (share) => -share * Math.log2(share)) },
];
const ANYWHERE = ["first", "spread"];

/** The mean of every habit over the rows of a head; NaN where it has no meaning. @param {import("./data.js").Site} site @param {number} h @returns {Record<string, number>} */
export function habitsOf(site, h) {
  const held = (site.habits ??= new Map());
  if (!held.has(h)) {
    const { alpha, n, m } = headOf(site, h), same = site.rows === site.cols && n === m;
    held.set(h, Object.fromEntries(HABITS.map(({ id, of }) => {
      const found = same || ANYWHERE.includes(id) ? Array.from({ length: n }, (_, i) => of(alpha, i, m)).filter((x) => x != null) : [];
      return [id, found.reduce((sum, x) => sum + /** @type {number} */ (x), 0) / found.length];
    })));
  }
  return held.get(h);
}

/** How strongly a head is coloured by a habit: shares as they are, the others by the most there can be. @param {import("./data.js").Site} site @param {number} h @param {string} id */
export function habitShare(site, h, id) {
  const x = habitsOf(site, h)[id], m = headOf(site, h).m;
  return id === "distance" ? x / Math.max(1, m - 1) : id === "spread" ? x / Math.max(1, Math.log2(m)) : x;
}

/** The head that does something most. @param {import("./data.js").Site[]} sites @param {string} id */
export function mostOf(sites, id) {
  const all = sites.flatMap((site, at) => Array.from({ length: site.heads }, (_, head) => ({ site: at, head, share: habitShare(site, head, id) })));
  return all.filter(({ share }) => share === share).sort((a, b) => b.share - a.share)[0] ?? null;
}

/** What is said of a head when a pointer is on its square. @param {import("./data.js").Site} site @param {number} h @param {string} name
 * @param {boolean} open  whether the board shows it already @returns {import("./ledger.js").Entry} */
export function headEntry(site, h, name, open) {
  const held = habitsOf(site, h), known = (/** @type {string} */ id) => held[id] === held[id];
  const shares = HABITS.slice(0, 4).filter(({ id }) => known(id)).sort((x, y) => held[y.id] - held[x.id]).map(({ id, name }) => `${name} ${percent(held[id])}`);
  const far = known("distance") ? `${held.distance.toFixed(1)} tokens away, ` : "";
  return { title: name, lines: [`Its weights go to: ${shares.join(" · ")}`, `On average ${far}spread over about ${(2 ** held.spread).toFixed(1)} tokens.${open ? "" : " Click to open it."}`, "A weight can count in two of these shares."] };
}

/** Follow the pointer over the squares of all heads. @param {any} board @param {any} found  what is under the pointer @returns {boolean} whether the ledger has to change */
export function peekAt(board, found) {
  const before = board.peek;
  board.peek = found?.thumb ? { site: found.thumb.site, head: found.thumb.head } : null;
  return Boolean(board.peek || before);
}

/** The head that looks most at a single other word from a row: the one to begin with. @param {any} board @param {number} row */
export function tellingHead(board, row) {
  const heads = Array.from({ length: Math.min(board.site.heads, 16) }, (_, h) => h), before = board.head;
  const shares = heads.map((h) => {
    board.head = h;
    const { alpha, m } = headOf(board.site, h), j = board.strongest(row), share = alpha[row * m + j];
    return Math.abs(j - row) > 1 && share === share ? share : 0;
  });
  board.head = before;
  return Math.max(0, shares.indexOf(Math.max(...shares)));
}
