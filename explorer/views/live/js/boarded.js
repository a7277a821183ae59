// What the engine computed, in the form in which a board reads it: the same as openBuffer (board/js/data.js) makes of what Python packed.
import { concerns, labelOf } from "./edits.js";
import { sigmoid, softmax } from "./maths.js";

/** @typedef {any} Trace what Transformer.run and Transformer.translate give */
/** @typedef {{ids: number[], texts: string[], special: boolean[], words: number[], unseen: boolean[] | null, offsets: number[][],
 * sources: string[]}} Tokens */
/** @typedef {{name: string, config: any, notes: string[], prose: any, readable: (id: number) => string}} Model what a picture says of its model */
/** @typedef {{texts: string[], p: number[], truth: number}} Expected the most probable words, with their probabilities, and that of the word itself */
/** @typedef {{sides: Record<"forward" | "backward", (Expected | null)[]>, words: string[], texts: string[], layers: Float32Array[], dim: number}} Sides by position:
 * `words` as they are written, `texts` as the vocabulary has them */

const STEPS = 255, BEST = 10;
const AFTER = { post: ["add1", "post1"], inside: ["inner1", "add1"], pre: ["add1"] };
const LAST = { post: ["units", "narrow", "add2", "post2"], inside: ["units", "narrow", "inner2", "add2"], pre: ["norm2", "units", "narrow", "add2"] };

/** An array with its shape. @param {Float32Array | Uint8Array} a @param {...number} s */
const shaped = (a, ...s) => ({ a, s });

/** The tokens as they are shown: † marks what training never had. @param {Tokens} tokens @param {string[]} [texts] */
const marked = ({ unseen, texts: own }, texts = own) => texts.map((text, n) => text + (unseen?.[n] ? "†" : ""));

/** The data of a board. @param {Trace} trace @param {Model} model @param {Tokens} source @param {Tokens | null} target @param {import("./edits.js").Edit[]} edits */
export function boardOf(trace, model, source, target, edits) {
  const { config } = model, sets = { source, ...(target && { target }) };
  const sites = trace.attention.map((/** @type {any} */ one) => siteOf(one, trace, config, target ? "target" : "source", edits));
  sites.sort((/** @type {any} */ a, /** @type {any} */ b) => rank(a.stream)[0] - rank(b.stream)[0] || a.layer - b.layer || rank(a.stream)[1] - rank(b.stream)[1]);
  return {
    version: 1, model: model.name, family: config.family, notes: [...model.notes, ...edits.map((edit) => `edited: ${labelOf(edit)}`)], sites, residual: null, rounded: false, top: topOf(trace, config, model.readable), prose: model.prose,
    tokens: Object.fromEntries(Object.entries(sets).map(([name, t]) => [name, { texts: marked(t), special: t.special.map(Number), words: t.words, unseen: t.unseen && t.unseen.map(Number) }])),
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
  if (rtd) return { kind: "rtd", p: shaped(rtd.map(sigmoid), rtd.length) };
  const rows = expected(lm, config.vocab, readable);
  return { kind: "lm", texts: rows.map(({ texts }) => texts), ids: rows.map(({ ids }) => ids), p: shaped(Float32Array.from(rows.flatMap(({ p }) => p)), rows.length, BEST) };
}

/** Of every row of scores the most probable tokens, and the probability of any. @param {Float32Array} scores @param {number} vocab @param {(id: number) => string} readable */
function expected(scores, vocab, readable) {
  const shares = softmax(scores, vocab);
  return Array.from({ length: scores.length / vocab }, (_, row) => {
    const ids = bestOf(scores.subarray(row * vocab, (row + 1) * vocab)), chance = (/** @type {number} */ id) => shares[row * vocab + id];
    return { ids, texts: ids.map(readable), p: ids.map(chance), chance };
  });
}

/** What an ELMo computed: what each direction expects at every word, of which it has not read the word itself (analysis.both_sides), and the
 * vectors of all layers. @param {Trace} trace @param {Model} model @param {Tokens} source @returns {Sides} */
export function sidesOf({ outputs, layers }, { config, readable }, source) {
  const about = (/** @type {Float32Array} */ scores, /** @type {number} */ step) => {
    const rows = expected(scores, config.vocab, readable);
    return source.ids.map((id, n) => {
      const row = rows[n + step]; // the state beside the word; at one end of the text there is none
      return row ? { texts: row.texts, p: row.p, truth: row.chance(id) } : null;
    });
  };
  const words = marked(source, source.texts.map((text, n) => (source.special[n] ? text : source.sources[n])));
  return { sides: { forward: about(outputs.lm, -1), backward: about(outputs.backward, 1) }, words, texts: source.texts, layers, dim: 2 * config.dim };
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
