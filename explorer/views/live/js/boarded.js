// What the engine computed, in the form in which a board reads it: the same as openBuffer (board/js/data.js) makes of what Python packed.
import { concerns, labelOf } from "./edits.js";

/** @typedef {any} Trace what Transformer.run and Transformer.translate give */
/** @typedef {{ids: number[], texts: string[], special: boolean[], words: number[], unseen: boolean[] | null, segments: number[], offsets: number[][]}} Tokens */

const STEPS = 255, BEST = 10;
const AFTER = { post: ["add1", "post1"], inside: ["inner1", "add1"], pre: ["add1"] };
const LAST = { post: ["units", "narrow", "add2", "post2"], inside: ["units", "narrow", "inner2", "add2"], pre: ["norm2", "units", "narrow", "add2"] };

/** An array with its shape. @param {Float32Array | Uint8Array} a @param {...number} s */
const shaped = (a, ...s) => ({ a, s });

/** The data of a board. @param {Trace} trace @param {{name: string, config: any, notes: string[], prose: any, readable: (id: number) => string}} model
 * @param {Tokens} source @param {Tokens | null} target @param {import("./edits.js").Edit[]} edits */
export function boardOf(trace, model, source, target, edits) {
  if (!trace.attention.length) throw new Error(`The board shows attention, and ${model.name} has none.`);
  const { config } = model, sets = { source, ...(target && { target }) };
  const sites = trace.attention.map((/** @type {any} */ one) => siteOf(one, trace, config, target ? "target" : "source", edits));
  sites.sort((/** @type {any} */ a, /** @type {any} */ b) => rank(a.stream)[0] - rank(b.stream)[0] || a.layer - b.layer || rank(a.stream)[1] - rank(b.stream)[1]);
  return {
    version: 1, model: model.name, family: config.family, notes: [...model.notes, ...edits.map((edit) => `edited: ${labelOf(edit)}`)], sites, residual: null, rounded: false, top: topOf(trace, config, model.readable), prose: model.prose,
    tokens: Object.fromEntries(Object.entries(sets).map(([name, t]) => [name, { texts: t.texts.map((text, n) => text + (t.unseen?.[n] ? "†" : "")), special: t.special.map(Number), words: t.words, unseen: t.unseen && t.unseen.map(Number) }])),
  };
}

const rank = (/** @type {string} */ stream) => ({ encoder: [0, 0], decoder: [1, 0], cross: [1, 1] })[stream] ?? [0, 0];

/** One attention with what surrounds it. @param {any} one @param {Trace} trace @param {any} config @param {string} own @param {import("./edits.js").Edit[]} edits */
function siteOf(one, trace, config, own, edits) {
  const { heads, dim, hidden } = config, { queries: n, keys: m } = one, wide = dim / heads, groups = config.kv_heads || heads;
  const stream = one.stream === "cross" ? "decoder" : one.stream, crossed = config.family === "encoder-decoder";
  const mine = trace.blocks.filter((/** @type {any} */ b) => b.stream === stream && b.layer === one.layer);
  const parts = one.stream === "cross" ? ["cross-attention", "feed-forward"] : crossed && stream === "decoder" ? ["attention"] : ["attention", "feed-forward"];
  const blocks = parts.flatMap((part) => mine.filter((/** @type {any} */ b) => b.part === part)), last = !follows(trace, one), states = trace.hidden[stream];
  const highest = one.weights.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 0) || 1;
  const source = one.stream === "encoder" ? "source" : own, turned = (/** @type {string} */ which, /** @type {Float32Array} */ vectors) => one.projected[which].some((/** @type {number} */ x, /** @type {number} */ i) => x !== vectors[i]);
  const projected = { q: turned("q", one.q), k: one.stream !== "cross" && one.projected.k.length === one.k.length && turned("k", one.k) };
  const written = edits.filter(concerns(["ReplaceRow", "Uniform"], one)).flatMap(({ head }) => (head == null ? Array.from({ length: heads }, (_, h) => h) : [head]));
  const next = mine.find((/** @type {any} */ b) => b.part === "cross-attention");
  return {
    stream: one.stream, layer: one.layer, rows: source, cols: one.stream === "cross" ? "source" : source, heads, scale: one.scale, softcap: null, sinks: null,
    map: shaped(Uint8Array.from(one.weights, (/** @type {number} */ w) => Math.round((w / highest) * STEPS)), heads, n, m), highest, steps: STEPS, strange: 0, close: true, residual: null,
    stations: stationsOf(one, blocks, projected.q || projected.k, last, one.stream !== "encoder" || !crossed), edited: written, place: config.norm_place,
    q: shaped(one.q, heads, n, wide), k: shaped(one.k, groups, m, wide), v: shaped(one.v, groups, m, wide), weights: shaped(one.weights, heads, n, m), moved: null,
    pq: projected.q ? shaped(one.projected.q, heads, n, wide) : null, pk: projected.k ? shaped(one.projected.k, groups, m, wide) : null,
    bias: one.bias && shaped(one.bias, heads, n, m), allowed: one.allowed.every(Boolean) ? "all" : shaped(one.allowed, n, m), z: edits.some(concerns(["SilenceHead"], one)) ? shaped(one.context, heads, n, wide) : null,
    x: null, o: null, after: one.stream === "decoder" && crossed ? next && shaped(next.given, n, dim) : shaped(states[one.layer + 1], n, dim),
    blocks: blocks.map((/** @type {any} */ b) => blockOf(b, n, dim, hidden)), embedded: embeddedOf(trace, one, n, config),
  };
}

/** Whether another attention reads what this one hands on. @param {Trace} trace @param {any} one */
function follows(trace, one) {
  const side = one.stream === "encoder" ? ["encoder"] : ["decoder", "cross"], place = (/** @type {any} */ a) => 2 * a.layer + Number(a.stream === "cross");
  return trace.attention.some((/** @type {any} */ other) => side.includes(other.stream) && place(other) > place(one));
}

/** The stations, in the order in which this model takes them (board/stations.py). @param {any} one @param {any[]} blocks @param {boolean} turned @param {boolean} last @param {boolean} speaks */
function stationsOf(one, blocks, turned, last, speaks) {
  const place = /** @type {"post" | "pre" | "inside"} */ (blocks[0]?.place ?? "post"), feed = blocks.some((b) => b.part === "feed-forward");
  const looks = ["qkv", ...(turned ? ["turn"] : []), "qk", "scale", ...(one.bias ? ["bias"] : []), "mask", "softmax", "mix"];
  return ["x", ...(place === "pre" ? ["norm1"] : []), ...looks, "concat", "wo", ...AFTER[place], ...(feed ? LAST[place] : []), ...(last ? [] : ["up"]), ...(last && speaks ? ["next"] : [])];
}

/** A sub-layer: what entered its norm, with μ and σ of each position. @param {any} b @param {number} n @param {number} dim @param {number} hidden */
function blockOf(b, n, dim, hidden) {
  const mean = new Float32Array(n), deviation = new Float32Array(n).fill(1), one = () => new Float32Array(dim).fill(1), { settings } = b;
  if (settings)
    for (let i = 0; i < n; i++) {
      let sum = 0, square = 0;
      if (settings.centred) for (let c = 0; c < dim; c++) sum += b.entering[i * dim + c] / dim;
      for (let c = 0; c < dim; c++) square += (b.entering[i * dim + c] - sum) ** 2 / dim;
      [mean[i], deviation[i]] = [sum, Math.sqrt(square + settings.epsilon)];
    }
  const made = b.place === "inside" ? b.entering : b.out, silenced = b.place === "inside" && b.out.every((/** @type {number} */ x) => x === 0);
  return {
    part: b.part, place: b.place, given: shaped(b.given, n, dim), made: shaped(made, n, dim), mean: shaped(mean, n), deviation: shaped(deviation, n),
    gain: shaped(settings?.gain ?? one(), dim), shift: shaped(settings?.shift ?? new Float32Array(dim), dim), units: b.units && shaped(b.units, n, hidden),
    ...(b.residual ? {} : { residual: false }), added: silenced ? shaped(b.out, n, dim) : null, read: null,
  };
}

/** The parts of the embeddings, where this is the first layer of a text. @param {Trace} trace @param {any} one @param {number} n @param {any} config */
function embeddedOf(trace, one, n, config) {
  const parts = one.layer || one.stream === "cross" ? {} : (trace.embeddings[one.stream] ?? {}), wide = config.embedding || config.dim;
  return Object.fromEntries(Object.entries(parts).filter(([name]) => name !== "sum").map(([name, a]) => [name, shaped(/** @type {Float32Array} */ (a), n, wide)]));
}

/** What is expected at each row: the most probable tokens, or how probably the token was replaced. @param {Trace} trace @param {any} config @param {(id: number) => string} readable */
function topOf(trace, config, readable) {
  const { lm, rtd } = trace.outputs;
  if (rtd) return { kind: "rtd", p: shaped(rtd.map((/** @type {number} */ x) => 1 / (1 + Math.exp(-x))), rtd.length) };
  const rows = lm.length / config.vocab, texts = [], p = new Float32Array(rows * BEST), ids = [];
  for (let row = 0; row < rows; row++) {
    const scores = lm.subarray(row * config.vocab, (row + 1) * config.vocab), best = bestOf(scores);
    const most = scores[best[0]], sum = scores.reduce((/** @type {number} */ all, /** @type {number} */ s) => all + Math.exp(s - most), 0);
    texts.push(best.map(readable));
    ids.push(best);
    best.forEach((id, k) => (p[row * BEST + k] = Math.exp(scores[id] - most) / sum));
  }
  return { kind: "lm", texts, ids, p: shaped(p, rows, BEST) };
}

/** The places of the largest numbers, largest first, without sorting them all. @param {Float32Array} scores */
function bestOf(scores) {
  /** @type {number[]} */
  const best = [];
  for (let id = 0; id < scores.length; id++) {
    if (best.length === BEST && !(scores[id] > scores[best[BEST - 1]])) continue;
    let at = best.length;
    while (at > 0 && scores[best[at - 1]] < scores[id]) at--;
    best.splice(at, 0, id);
    if (best.length > BEST) best.pop();
  }
  return best;
}
