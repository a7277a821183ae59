// Multi-head attention, forward and backward: scores, weights, context; and what a position scheme does to them. Queries, keys and values
// are [text · position, head · dim]: the heads lie side by side in a row. Scores and weights are [text, head, query, key].
import { addScaled, dotted } from "./products.js";
import { Tape } from "./tape.js";

/** @typedef {import("./products.js").Numbers} Numbers */
/** @typedef {import("./tape.js").Tensor} Tensor */
/** How many texts, heads, heads of keys and values (`groups`), queries and keys there are, and how wide a head is.
 * @typedef {{texts: number, heads: number, groups: number, queries: number, keys: number, wide: number}} Shape */

/** Call `visit(n, q, k)` for every score n, with where its query and its key begin. @param {Shape} shape @param {(n: number, q: number, k: number) => void} visit */
function eachPair({ texts, heads, groups, queries, keys, wide }, visit) {
  let n = 0;
  for (let text = 0; text < texts; text++)
    for (let head = 0; head < heads; head++) {
      const group = Math.floor((head * groups) / heads);
      for (let i = 0; i < queries; i++) {
        const q = ((text * queries + i) * heads + head) * wide;
        for (let j = 0; j < keys; j++, n++) visit(n, q, ((text * keys + j) * groups + group) * wide);
      }
    }
}

export class AttentionTape extends Tape {
  /** q · k times a scale: ∂q = Σ ∂s k, ∂k = Σ ∂s q. @param {Tensor} q @param {Tensor} k @param {Shape} shape @param {number} scale */
  scores(q, k, shape, scale) {
    const { texts, heads, queries, keys, wide } = shape;
    const y = this.output(texts * heads * queries * keys, keys, (slopes) => {
      const dq = q.slopes, dk = k.slopes;
      eachPair(shape, (n, i, j) => {
        if (slopes[n] === 0) return; // a masked score
        addScaled(dq, i, scale * slopes[n], k.data, j, wide);
        addScaled(dk, j, scale * slopes[n], q.data, i, wide);
      });
    });
    eachPair(shape, (n, i, j) => (y.data[n] = scale * dotted(q.data, i, k.data, j, wide)));
    return y;
  }

  /** Each row of scores as weights that sum to one, where allowed: ∂s = w (∂w − Σ w ∂w). @param {Tensor} scores @param {Shape} shape
   * @param {Uint8Array} allowed [text, query, key] */
  weights(scores, { heads, queries, keys }, allowed) {
    const y = this.output(scores.data.length, keys, (slopes) => {
      const to = scores.slopes;
      for (let from = 0; from < slopes.length; from += keys) {
        const mean = dotted(slopes, from, y.data, from, keys);
        for (let n = from; n < from + keys; n++) to[n] += y.data[n] * (slopes[n] - mean);
      }
    });
    const cells = queries * keys, s = scores.data, w = y.data;
    for (let from = 0; from < w.length; from += keys) {
      const row = Math.floor(from / cells / heads) * cells + (from % cells);
      let most = -Infinity, sum = 0;
      for (let j = 0; j < keys; j++) if (allowed[row + j]) most = Math.max(most, s[from + j]);
      for (let j = 0; j < keys; j++) if (allowed[row + j]) sum += w[from + j] = Math.exp(s[from + j] - most);
      for (let j = 0; j < keys; j++) w[from + j] /= sum;
    }
    return y;
  }

  /** The values, weighed, heads side by side: ∂w = ∂y · v, ∂v = Σ w ∂y. @param {Tensor} weights @param {Tensor} v @param {Shape} shape */
  weighed(weights, v, shape) {
    const { texts, heads, queries, wide } = shape;
    const y = this.output(texts * queries * heads * wide, heads * wide, (slopes) => {
      const dw = weights.slopes, dv = v.slopes;
      eachPair(shape, (n, i, j) => {
        dw[n] += dotted(slopes, i, v.data, j, wide);
        if (weights.data[n]) addScaled(dv, j, weights.data[n], slopes, i, wide);
      });
    });
    eachPair(shape, (n, i, j) => weights.data[n] && addScaled(y.data, i, weights.data[n], v.data, j, wide));
    return y;
  }

  /** RoPE: dimensions i and i + d/2 of each head rotated by an angle that grows with the position; the gradient turns back by it.
   * @param {Tensor} x @param {number} count positions of a text @param {number} wide of a head @param {number} base */
  rotated(x, count, wide, base) {
    const half = wide / 2, heads = x.wide / wide;
    const turn = (/** @type {Numbers} */ from, /** @type {Numbers} */ to, /** @type {number} */ sense) => {
      for (let row = 0; row < from.length / x.wide; row++)
        for (let i = 0; i < half; i++) {
          const angle = (row % count) * base ** (-i / half), cos = Math.cos(angle), sin = sense * Math.sin(angle);
          for (let head = 0, at = row * x.wide + i; head < heads; head++, at += wide) {
            to[at] += from[at] * cos - from[at + half] * sin;
            to[at + half] += from[at + half] * cos + from[at] * sin;
          }
        }
    };
    const y = this.output(x.data.length, x.wide, (slopes) => turn(slopes, x.slopes, -1));
    turn(x.data, y.data, 1);
    return y;
  }

  /** A term of DeBERTa's scores: each query (or, with `ofKeys`, each key) times the row of a table of distances, [distance, head · dim].
   * @param {Tensor} x @param {Tensor} table @param {Shape} shape @param {{row: (i: number, j: number) => number, ofKeys: boolean, scale: number}} how */
  distances(x, table, shape, { row, ofKeys, scale }) {
    const { texts, heads, queries, keys, wide } = shape, groups = x.wide / wide, tables = table.wide / wide;
    const each = (/** @type {(n: number, x: number, table: number) => void} */ visit) => {
      let n = 0;
      for (let text = 0; text < texts; text++)
        for (let head = 0; head < heads; head++)
          for (let i = 0; i < queries; i++)
            for (let j = 0; j < keys; j++, n++) {
              const position = text * (ofKeys ? keys : queries) + (ofKeys ? j : i), mine = Math.floor((head * groups) / heads);
              visit(n, position * x.wide + mine * wide, row(i, j) * table.wide + Math.floor((head * tables) / heads) * wide);
            }
    };
    const y = this.output(texts * heads * queries * keys, keys, (slopes) => {
      const dx = x.slopes, dtable = table.slopes;
      each((n, from, to) => {
        if (slopes[n] === 0) return;
        addScaled(dx, from, scale * slopes[n], table.data, to, wide);
        addScaled(dtable, to, scale * slopes[n], x.data, from, wide);
      });
    });
    each((n, from, to) => (y.data[n] = scale * dotted(x.data, from, table.data, to, wide)));
    return y;
  }
}
