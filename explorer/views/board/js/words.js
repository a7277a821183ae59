// Many tokens as one word: a word attends with the mean of its tokens, and is attended to with their sum.
import { headOf } from "./derive.js";
import { short } from "./ledger.js";

/** The groups of neighbouring tokens of one word; special tokens stay alone. @param {number[]} words @returns {number[]} */
export function groupsOf(words) {
  let group = -1, before = NaN;
  return words.map((word) => {
    if (word < 0 || word !== before) group++;
    before = word < 0 ? NaN : word;
    return group;
  });
}

/** Weights between words, drawn over the tokens that they are made of. @param {any} m @param {number[]} rows @param {number[]} cols */
export function inWords(m, rows, cols) {
  const r = groupsOf(rows), c = groupsOf(cols), high = Math.max(...r) + 1, wide = Math.max(...c) + 1;
  const sums = new Float32Array(high * wide), sizes = new Float32Array(high), out = new Float32Array(m.a.length);
  for (const g of r) sizes[g]++;
  for (let i = 0; i < m.r; i++) for (let j = 0; j < m.c; j++) sums[r[i] * wide + c[j]] += m.a[i * m.c + j] / sizes[r[i]];
  for (let i = 0; i < m.r; i++) for (let j = 0; j < m.c; j++) out[i * m.c + j] = sums[r[i] * wide + c[j]];
  return { ...m, id: `${m.id} words`, a: out, see: null };
}

/** The weight between the words of the pair that is pointed at, where words are drawn. @param {any} board @returns {string[]} */
export function wordLine(board) {
  const { row, col, box } = board.cursor, S = board.columns.find((/** @type {any} */ c) => c.id === "S"), m = S?.states.at(-1).m;
  if (!board.words || board.station !== "softmax" || box !== "S" || row < 0 || col < 0 || !m) return [];
  return [`Between their words: α = ${short(board.shownAs(m).a[row * m.c + col])}`];
}

/** What hiding does not do: the weights to special tokens are still there. @param {any} board @returns {string[]} */
export function hiddenLine(board) {
  const { row, box } = board.cursor, { alpha, m } = headOf(board.site, board.head);
  if (!board.hiding || board.station !== "softmax" || box !== "S" || row < 0) return [];
  const gone = board.special.cols.reduce((/** @type {number} */ sum, /** @type {number} */ special, /** @type {number} */ j) => sum + (special ? alpha[row * m + j] : 0), 0);
  return [`Special tokens are hidden, not masked: they keep ${short(gone)} of this row.`];
}

const PRONOUNS = ["it", "he", "she", "they", "him", "her", "them"];

/** The row of a pronoun, or the middle one. @param {string[]} texts */
export function pronounIn(texts) {
  const found = texts.findIndex((text) => PRONOUNS.includes(text.toLowerCase().replace(/[^\p{L}]/gu, "")));
  return found < 0 ? Math.floor(texts.length / 2) : found;
}
