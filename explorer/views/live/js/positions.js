// How a model knows the position of a token. A scheme fills one slot, as in explorer/nn/positions.py: `add` onto the embeddings,
// `rotate` the queries and keys, `bias` onto the scores, or `score`, which depends on the tokens.
import { normalise } from "./maths.js";

/** @typedef {{dim: number, heads: number, length: number, causal: boolean, base: number, epsilon: number}} Context */
/** @typedef {(name: string) => Float32Array} Weight */

const none = {
  terms: 1,
  add: (/** @type {number[]} */ _) => /** @type {Float32Array | null} */ (null),
  rotate: (/** @type {Float32Array} */ x, /** @type {number} */ _wide, /** @type {number[]} */ _at) => x,
  bias: (/** @type {number[]} */ _q, /** @type {number[]} */ _k) => /** @type {Float32Array | null} */ (null),
  score: /** @type {null | ((q: Float32Array, k: Float32Array, wide: number, project: Project, at: Places) => Record<string, Float32Array>)} */ (null),
};
/** @typedef {typeof none} Position */
/** @typedef {[(x: Float32Array) => Float32Array, (x: Float32Array) => Float32Array]} Project queries and keys of any vectors, by head */
/** @typedef {[number[], number[]]} Places the positions of the queries and of the keys */

/** One trained vector for each position. @param {Context} context @param {Weight} weight @returns {Position} */
function learned({ dim }, weight) {
  const table = weight("position.table.weight");
  return { ...none, add: (at) => rows(at, dim, (p, i) => table[p * dim + i]) };
}

/** Sines and cosines of falling frequency, interleaved, or (`halves`) first all sines. @param {boolean} halves */
const sinusoidal = (halves) => (/** @type {Context} */ { dim }) => ({
  ...none,
  add: (/** @type {number[]} */ at) =>
    rows(at, dim, (p, i) => {
      const pair = halves ? i % (dim / 2) : i >> 1, cosine = halves ? i >= dim / 2 : i % 2;
      const angle = p / 10000 ** ((2 * pair) / dim);
      return cosine ? Math.cos(angle) : Math.sin(angle);
    }),
});

/** RoPE: dimensions i and i + d/2 of each head turn by an angle proportional to the position. @param {Context} context @returns {Position} */
function rotary({ base }) {
  return {
    ...none,
    rotate(x, wide, at) {
      const half = wide / 2, count = at.length, y = new Float32Array(x.length);
      for (let from = 0, n = 0; from < x.length; from += wide, n = (n + 1) % count)
        for (let i = 0; i < half; i++) {
          const angle = at[n] * base ** (-i / half), [cos, sin] = [Math.cos(angle), Math.sin(angle)];
          y[from + i] = x[from + i] * cos - x[from + half + i] * sin;
          y[from + half + i] = x[from + half + i] * cos + x[from + i] * sin;
        }
      return y;
    },
  };
}

/** ALiBi: the further away, the lower the score, by a slope for each head. @param {Context} context @returns {Position} */
function alibi({ heads }) {
  const whole = 2 ** Math.floor(Math.log2(heads));
  const slope = (/** @type {number} */ h) => (h < whole ? 2 ** ((-8 * (h + 1)) / whole) : 2 ** ((-4 * (2 * (h - whole) + 1)) / whole));
  return { ...none, bias: (q, k) => pairs(q, k, heads, (h, distance) => -slope(h) * Math.abs(distance)) };
}

/** The range of distances (key − query) that shares a number in T5. @param {number} distance @param {boolean} causal */
export function bucketOf(distance, causal) {
  const count = causal ? 32 : 16, exact = count >> 1;
  const side = !causal && distance > 0 ? count : 0, far = causal ? Math.max(0, -distance) : Math.abs(distance);
  const log = Math.floor((Math.log(Math.max(far, 1) / exact) / Math.log(128 / exact)) * (count - exact) + 1e-6);
  return side + (far < exact ? far : Math.min(exact + log, count - 1));
}

/** T5: one trained number for each head and each range of distances. @param {Context} context @param {Weight} weight @returns {Position} */
function buckets({ heads, causal }, weight) {
  const table = weight("position.table.weight");
  return { ...none, bias: (q, k) => pairs(q, k, heads, (h, distance) => table[bucketOf(distance, causal) * heads + h]) };
}

/** DeBERTa: content → position and position → content, by the same matrices. @param {Context} context @param {Weight} weight @returns {Position} */
function disentangled({ dim, length, epsilon }, weight) {
  const norm = { gain: weight("position.norm.weight"), shift: weight("position.norm.bias"), epsilon, centred: true };
  const table = normalise(weight("position.table.weight"), dim, norm), last = 2 * length - 1;
  return {
    ...none,
    terms: 3,
    score(q, k, wide, [asQuery, asKey], [rowsAt, columnsAt]) {
      const scale = (3 * wide) ** -0.5, keys = asKey(table), queries = asQuery(table); // [head, distance, dim of a head]
      const heads = q.length / rowsAt.length / wide;
      const row = (/** @type {number} */ i, /** @type {number} */ j) => Math.min(Math.max(rowsAt[i] - columnsAt[j] + length, 0), last);
      const term = (/** @type {(h: number, i: number, j: number) => number} */ of) => {
        const made = new Float32Array(heads * rowsAt.length * columnsAt.length);
        let at = 0;
        for (let h = 0; h < heads; h++) for (let i = 0; i < rowsAt.length; i++) for (let j = 0; j < columnsAt.length; j++) made[at++] = of(h, i, j) * scale;
        return made;
      };
      const dot = (/** @type {Float32Array} */ a, /** @type {number} */ from, /** @type {Float32Array} */ b, /** @type {number} */ to) => {
        let sum = 0;
        for (let c = 0; c < wide; c++) sum += a[from + c] * b[to + c];
        return sum;
      };
      const at = (/** @type {number} */ h, /** @type {number} */ n, /** @type {number} */ count) => (h * count + n) * wide;
      return {
        "content → position": term((h, i, j) => dot(q, at(h, i, rowsAt.length), keys, at(h, row(i, j), last + 1))),
        "position → content": term((h, i, j) => dot(k, at(h, j, columnsAt.length), queries, at(h, row(i, j), last + 1))),
      };
    },
  };
}

/** @param {number[]} at @param {number} dim @param {(position: number, i: number) => number} value */
function rows(at, dim, value) {
  const made = new Float32Array(at.length * dim);
  at.forEach((position, n) => {
    for (let i = 0; i < dim; i++) made[n * dim + i] = value(position, i);
  });
  return made;
}

/** [head, query, key] of a function of the head and the distance key − query. @param {number[]} q @param {number[]} k @param {number} heads
 * @param {(head: number, distance: number) => number} value */
function pairs(q, k, heads, value) {
  const made = new Float32Array(heads * q.length * k.length);
  let n = 0;
  for (let h = 0; h < heads; h++) for (const i of q) for (const j of k) made[n++] = value(h, j - i);
  return made;
}

/** @type {Record<string, (context: Context, weight: Weight) => Position>} */
export const POSITIONS = {
  none: () => none, learned, sinusoidal: sinusoidal(false), "sinusoidal-halves": sinusoidal(true), t5: buckets, rope: rotary, alibi, disentangled,
};
