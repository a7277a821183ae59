// What follows from q, k and v: every stage of one head, sums and norms, each compared with the model's own numbers.
import { sees } from "./data.js";

/** @typedef {import("./data.js").Site} Site */
/** @typedef {import("./data.js").Block} Block */
/** @typedef {{n: number, m: number, d: number, dv: number, q: Float32Array, k: Float32Array, v: Float32Array, group: number, scores: Float32Array,
 *   scaled: Float32Array, capped: Float32Array, biased: Float32Array, alpha: Float32Array, z: Float32Array, gap: number | null,
 *   see: (i: number, j: number) => boolean, base?: Head}} Head   `base` is the head as the model computed it, where a hand changed it */

/** The slice of one head. @param {any} arr @param {number} h @returns {any} */
const part = (arr, h) => arr && arr.a.subarray(h * arr.s[1] * arr.s[2], (h + 1) * arr.s[1] * arr.s[2]);

/** The key/value head that a query head uses. @param {Site} site @param {number} h */
export const groupOf = (site, h) => (site.k ? Math.floor(h / (site.heads / site.k.s[0])) : h);

/** Every stage of one head; kept, so that coming back costs nothing. @param {Site} site @param {number} h @returns {Head} */
export function headOf(site, h) {
  site.made ??= new Map();
  let held = site.made.get(h);
  if (!held) {
    if (site.made.size > 64) site.made.clear();
    held = site.q ? fromQK(site, h) : fromWeights(site, h);
    const byHand = site.written?.get(h);
    if (byHand) held = withWeights(held, byHand);
    site.made.set(h, held);
  }
  return held;
}

/** A head with other weights; its context vectors follow. @param {Head} base @param {Float32Array} alpha @returns {Head} */
const withWeights = (base, alpha) => ({ ...base, base, alpha, z: mixed(alpha, base.v, base.n, base.m, base.dv), gap: null });

/** Write the weights of a head by hand; null gives back the model's own. @param {Site} site @param {number} h @param {Float32Array | null} alpha */
export function rewrite(site, h, alpha) {
  const held = headOf(site, h), base = held.base ?? held;
  site.written ??= new Map();
  if (alpha) site.written.set(h, alpha);
  else site.written.delete(h);
  /** @type {any} */ (site.made).set(h, alpha ? withWeights(base, alpha) : base);
  site.changes = (site.changes ?? 0) + 1;
  site.habits = undefined;
}

/** Σ α v of every row. @param {Float32Array} alpha @param {Float32Array} v @param {number} n @param {number} m @param {number} dv */
function mixed(alpha, v, n, m, dv) {
  const z = new Float32Array(n * dv);
  for (let i = 0; i < n; i++)
    for (let e = 0; e < dv; e++) {
      let sum = 0;
      for (let j = 0; j < m; j++) sum += alpha[i * m + j] * v[j * dv + e];
      z[i * dv + e] = sum;
    }
  return z;
}

/** Where a model hands out its weights only. @param {Site} site @param {number} h @returns {Head} */
function fromWeights(site, h) {
  const held = site.weights, n = held ? held.s[1] : site.map.s[1], m = held ? held.s[2] : site.map.s[2], none = new Float32Array(0);
  const alpha = held ? part(held, h) : Float32Array.from(part(site.map, h), (x) => (x / site.steps) * site.highest);
  return { n, m, d: 0, dv: 0, q: none, k: none, v: none, group: h, scores: none, scaled: none, capped: none, biased: none, alpha, z: none,
    gap: null, see: sees(site) };
}

/** softmax(q·kᵀ · scale + bias, where allowed) · v: `attend` in nn/attention.py names the twins of this formula.
 * @param {Site} site @param {number} h @returns {Head} */
function fromQK(site, h) {
  const Q = /** @type {any} */ (site.q), K = /** @type {any} */ (site.k), V = /** @type {any} */ (site.v), group = groupOf(site, h);
  const n = Q.s[1], m = K.s[1], d = Q.s[2], dv = V.s[2], q = part(Q, h), k = part(K, group), v = part(V, group), see = sees(site);
  const scores = new Float32Array(n * m);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let e = 0; e < d; e++) sum += q[i * d + e] * k[j * d + e];
      scores[i * m + j] = sum;
    }
  const scaled = scores.map((s) => s * site.scale), cap = site.softcap;
  const capped = cap == null ? scaled : scaled.map((s) => Math.tanh(s / cap) * cap);
  const bias = site.bias ? part(site.bias, site.bias.s[0] === 1 ? 0 : h) : null;
  const biased = bias ? capped.map((s, at) => s + bias[at]) : capped;
  const own = site.weights ? part(site.weights, h) : null;
  const found = softmaxed(biased, n, m, see, site.sinks ? site.sinks[h] : null), byEdit = site.edited.includes(h), alpha = byEdit && own ? own : found;
  const z = site.z ? part(site.z, h) : mixed(alpha, v, n, m, dv); // an edit may have changed what a head hands on
  const gap = own && !byEdit ? gapOf(found, own) : null;
  return { n, m, d, dv, q, k, v, group, scores, scaled, capped, biased, alpha, z, gap, see };
}

/** Whether the mask of a head forbids anything. @param {Head} head */
export function forbids({ n, m, see }) {
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) if (!see(i, j)) return true;
  return false;
}

/** Shares of each row. @param {Float32Array} s @param {number} n @param {number} m @param {(i: number, j: number) => boolean} see
 * @param {number | null} sink */
function softmaxed(s, n, m, see, sink) {
  const out = new Float32Array(n * m);
  for (let i = 0; i < n; i++) {
    let top = sink ?? -Infinity, sum = 0;
    for (let j = 0; j < m; j++) if (see(i, j) && !(s[i * m + j] <= top)) top = s[i * m + j];
    if (sink != null) sum += Math.exp(sink - top);
    for (let j = 0; j < m; j++) if (see(i, j)) sum += Math.exp(s[i * m + j] - top);
    for (let j = 0; j < m; j++) out[i * m + j] = see(i, j) ? Math.exp(s[i * m + j] - top) / sum : 0;
  }
  return out;
}

/** The largest difference of two arrays; infinite where one of them holds NaN and the other does not. @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function gapOf(a, b) {
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const gap = Math.abs(a[i] - b[i]);
    if (gap > worst || (gap !== gap && !(a[i] !== a[i] && b[i] !== b[i]))) worst = gap === gap ? gap : Infinity;
  }
  return worst;
}

/** All heads side by side: [n, heads · dv]. @param {Site} site */
export function concatenated(site) {
  const all = Array.from({ length: site.heads }, (_, h) => headOf(site, h)), { n, dv } = all[0], wide = dv * site.heads;
  const out = new Float32Array(n * wide);
  all.forEach((held, h) => {
    for (let i = 0; i < n; i++) out.set(held.z.subarray(i * dv, (i + 1) * dv), i * wide + h * dv);
  });
  return { a: out, s: [n, wide] };
}

/** (x − μ) / σ · γ + β. @param {any} x @param {any} b */
function normed(x, b) {
  const [n, d] = x.s, out = new Float32Array(n * d), from = x.a, [mean, deviation, gain, shift] = [b.mean.a, b.deviation.a, b.gain.a, b.shift.a];
  for (let i = 0; i < n; i++)
    for (let e = 0; e < d; e++) out[i * d + e] = ((from[i * d + e] - mean[i]) / deviation[i]) * gain[e] + shift[e];
  return { a: out, s: [n, d] };
}

/** The norm before a sub-layer: what it reads, and its numbers; null where there is none. @param {any} b @returns {any} */
export function entryNorm(b) {
  if (b.place === "both") return { x: b.given, mean: b.entry_mean, deviation: b.entry_deviation, gain: b.entry_gain, shift: b.entry_shift };
  return b.place === "pre" || b.place === "beside" ? { ...b, x: b.read ?? b.given } : null;
}

/** @param {any} x @param {any} y */
function plus(x, y) {
  const one = x.a, other = y.a, out = new Float32Array(one.length);
  for (let at = 0; at < out.length; at++) out[at] = one[at] + other[at];
  return { a: out, s: x.s };
}

/** The sum and the norm of one sub-layer, and what leaves it. @param {Block} b */
export function blockOf(b) {
  const held = /** @type {any} */ (b);
  if (!held.done) {
    const before = entryNorm(b), first = before && normed(before.x, before), inner = ["inside", "both"].includes(b.place) ? normed(b.made, b) : null;
    const made = b.added ?? inner ?? b.made, total = b.residual === false ? made : plus(b.given, made), last = b.place === "post" ? normed(total, b) : null;
    held.done = { first, inner, made, total, last, leaves: last ?? total, read: first ?? b.given };
  }
  return held.done;
}

/** How far what is derived here is from what the model handed on: of the head, and of the sums and norms around it.
 * @param {Site} site @param {number} h */
export function gaps(site, h) {
  const blocks = site.blocks ?? [], own = blocks.map((_, n) => (n + 1 < blocks.length ? blocks[n + 1].given : site.after));
  const around = blocks.map((b, n) => (own[n] ? gapOf(blockOf(b).leaves.a, /** @type {any} */ (own[n]).a) : null));
  return { weights: site.q ? headOf(site, h).gap : null, around };
}

/** The numbers derived here, for whoever checks them. @param {Site} site @param {number} h */
export function numbersOf(site, h) {
  const head = headOf(site, h), plain = (/** @type {any} */ a) => Array.from(a);
  return { stream: site.stream, layer: site.layer, scores: plain(head.scores), scaled: plain(head.scaled), capped: plain(head.capped), biased: plain(head.biased),
    masked: Array.from(head.biased, (x, n) => (head.see(Math.floor(n / head.m), n % head.m) ? x : null)), weights: plain(head.alpha),
    context: plain(head.z), blocks: (site.blocks ?? []).map((b) => ({ total: plain(blockOf(b).total.a), leaves: plain(blockOf(b).leaves.a) })), gaps: gaps(site, h) };
}
