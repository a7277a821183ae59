// A Transformer that can be trained: the network of explorer/nn/transformer.py and of live/js/transformer.js on a tape, for several texts at
// once. What a trace hands out are tensors here; after `trace.back()` each of them has its gradient as well.
import { GATED } from "../../live/js/maths.js";
import { bucketOf, POSITIONS } from "../../live/js/positions.js";
import { AttentionTape } from "./attention.js";

/** @typedef {import("./tape.js").Tensor} Tensor */
/** @typedef {import("../../live/js/transformer.js").Config} Config */
/** Texts of equal length, one after the other; `present` is 0 at padding. @typedef {{ids: ArrayLike<number>, length: number, present?: ArrayLike<number>, segments?: ArrayLike<number>}} Texts */
/** What is read, and (`at`) the positions, counted through all texts, at which these labels are to be predicted. An encoder–decoder has a target as well,
 * which its decoder reads. @typedef {{source: Texts, target?: Texts, at: ArrayLike<number>, labels: ArrayLike<number>}} Batch */
/** @typedef {{stream: string, layer: number, q: Tensor, k: Tensor, v: Tensor, scores: Tensor, weights: Tensor, context: Tensor, output: Tensor, allowed: Uint8Array}} Attention */
/** @typedef {{attention: Attention[], blocks: {stream: string, layer: number, part: string, out: Tensor, total: Tensor, result: Tensor}[], hidden: Record<string, Tensor[]>,
 * states: Tensor, logits: Tensor, loss: Tensor, back: () => void}} Trace `back` fills every gradient */
/** @typedef {{stream: string, prefix: string, texts: Texts, memory?: {states: Tensor, texts: Texts}, bias: Tensor | null, states?: Tensor}} Stack one pass through a stack */

const NONE = { rate: 0, random: Math.random };

export class Network {
  /** @param {Config} config @param {Map<string, Tensor>} weights by the names that PyTorch gives them */
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
    this.tape = new AttentionTape();
    this.dropout = NONE;
  }

  /** All that is computed of a batch, its loss last. @param {Batch} batch @param {AttentionTape} [tape]
   * @param {{dropout?: import("./tape.js").Dropout, smoothing?: number}} [regularised] only while it trains @returns {Trace} */
  run({ source, target, at, labels }, tape = new AttentionTape(), { dropout = NONE, smoothing = 0 } = {}) {
    this.tape = tape;
    this.dropout = dropout;
    /** @type {any} */
    const trace = { attention: [], blocks: [], hidden: {} };
    if (target) {
      const memory = { states: this.#stack(trace, "encoder", "encoder.", source), texts: source };
      trace.states = this.#stack(trace, "decoder", "", target, memory);
    } else trace.states = this.#stack(trace, this.config.family, "", source);
    trace.logits = this.#head(tape.gathered(trace.states, at));
    trace.loss = tape.crossEntropy(trace.logits, labels, smoothing);
    trace.back = () => tape.back(trace.loss);
    return trace;
  }

  /** @param {string} name @returns {Tensor} */
  #need(name) {
    const weight = this.weights.get(name);
    if (!weight) throw new Error(`The model lacks the tensor ${name}.`);
    return weight;
  }

  /** @param {string} name @param {Tensor} x */
  #linear(name, x) {
    return this.tape.linear(x, this.#need(`${name}.weight`), this.weights.get(`${name}.bias`) ?? null);
  }

  /** @param {string} name @param {Tensor} x @param {string} [kind] */
  #normalised(name, x, kind = this.config.norm) {
    if (kind === "none") return x;
    const gain = kind === "bare" ? null : this.#need(`${name}.weight`), shift = this.weights.get(`${name}.bias`) ?? null;
    return this.tape.normalised(x, { gain, shift, epsilon: this.config.norm_epsilon, centred: kind !== "rms" });
  }

  /** Embeddings, layers and last norm. @param {Trace} trace @param {string} stream @param {string} prefix @param {Texts} texts @param {Stack["memory"]} [memory] */
  #stack(trace, stream, prefix, texts, memory) {
    const { config } = this, stack = { stream, prefix, texts, memory, bias: this.#bias(stream, prefix, texts.length) };
    let x = this.#embedded(stack);
    trace.hidden[stream] = [x];
    const count = stream === "encoder" ? config.encoder_layers || config.layers : config.layers, plain = config.mask_decoder ? count - 1 : count;
    for (let layer = 0; layer < plain; layer++) x = this.#layer(trace, stack, layer, layer, x);
    if (config.mask_decoder) x = this.#maskDecoder(trace, stack, plain, x);
    return config.final_norm ? this.#normalised(`${prefix}norm`, x) : x;
  }

  /** Token + position + segment, a norm, and a projection to the layers' width. @param {Stack} stack */
  #embedded({ prefix, texts }) {
    const { config, tape } = this, { ids, length } = texts;
    let x = tape.gathered(this.#need("embeddings.tokens.weight"), ids);
    if (config.embedding_scale) x = tape.times(x, config.dim ** 0.5);
    const places = Array.from({ length }, (_, n) => n);
    if (config.positions === "learned") x = tape.plus(x, tape.gathered(this.#need(`${prefix}embeddings.position.table.weight`), places));
    if (config.positions.startsWith("sinusoidal")) x = tape.plus(x, tape.constant(/** @type {Float32Array} */ (this.#scheme("", x.wide).add(places)), x.wide));
    if (config.segments) x = tape.plus(x, tape.gathered(this.#need(`${prefix}embeddings.segments.weight`), texts.segments ?? new Uint8Array(ids.length)));
    if (config.embedding_norm) x = this.#normalised(`${prefix}embeddings.norm`, x);
    x = tape.dropped(x, this.dropout);
    return x.wide === config.dim ? x : this.#linear(`${prefix}project`, x);
  }

  /** A scheme without weights, as the live engine has it. @param {string} stream @param {number} dim */
  #scheme(stream, dim) {
    const { heads, length, rope_base: base, norm_epsilon: epsilon, positions } = this.config;
    return POSITIONS[positions]({ dim, heads, length, causal: stream === "decoder", base, epsilon }, () => new Float32Array(0));
  }

  /** What a scheme adds to all scores of a stack, [head, query, key]. @param {string} stream @param {string} prefix @param {number} length */
  #bias(stream, prefix, length) {
    const { config, tape } = this, places = Array.from({ length }, (_, n) => n);
    if (config.positions === "alibi") return tape.constant(/** @type {Float32Array} */ (this.#scheme(stream, config.dim).bias(places, places)), length);
    if (config.positions !== "t5") return null;
    const buckets = places.flatMap((i) => places.map((j) => bucketOf(j - i, stream === "decoder")));
    return tape.transposed(tape.gathered(this.#need(`${prefix}embeddings.position.table.weight`), buckets)); // by head
  }

  /** DeBERTa's last layer twice, with absolute positions in the queries. @param {Trace} trace @param {Stack} stack @param {number} last @param {Tensor} x */
  #maskDecoder(trace, stack, last, x) {
    const places = Array.from({ length: stack.texts.length }, (_, n) => n), seen = { ...stack, states: x };
    const asking = this.tape.plus(x, this.tape.gathered(this.#need("mask_decoder.position.table.weight"), places));
    return this.#layer(trace, seen, last, last + 1, this.#layer(trace, seen, last, last, asking));
  }

  /** Attention, cross-attention where there is one, feed-forward; each with its residual sum and norm. @param {Trace} trace @param {Stack} stack
   * @param {number} number whose weights it has @param {number} layer @param {Tensor} x */
  #layer(trace, stack, number, layer, x) {
    const { stream } = stack, name = `${stack.prefix}layers.${number}`;
    const around = (/** @type {string} */ part, /** @type {string} */ norm, /** @type {(y: Tensor) => Tensor} */ sublayer) => {
      const { out, total, result } = this.#addNorm(`${name}.${norm}.norm`, x, sublayer);
      trace.blocks.push({ stream, layer, part, out, total, result });
      x = result;
    };
    around("attention", "after_attention", (y) => this.#attention(trace, stack, stream, `${name}.attention`, layer, y));
    if (stack.memory) around("cross-attention", "after_cross", (y) => this.#attention(trace, stack, "cross", `${name}.cross`, layer, y));
    const { feed_forward: has } = this.config; // one that is left out adds nothing, and its norm stays
    around("feed-forward", "after_feed_forward", (y) => (has ? this.#feedForward(`${name}.feed_forward`, y) : this.tape.times(y, 0)));
    trace.hidden[stream].push(x);
    return x;
  }

  /** post: norm(x + f(x)); pre: x + f(norm(x)); inside: x + norm(f(x)). @param {string} norm @param {Tensor} x @param {(x: Tensor) => Tensor} sublayer */
  #addNorm(norm, x, sublayer) {
    const { norm_place: place, residual } = this.config;
    let out = sublayer(place === "pre" ? this.#normalised(norm, x) : x);
    if (place === "inside") out = this.#normalised(norm, out);
    out = this.tape.dropped(out, this.dropout);
    const total = residual ? this.tape.plus(x, out) : out;
    return { out, total, result: place === "post" ? this.#normalised(norm, total) : total };
  }

  /** d → hidden, activation, hidden → d; gated, a second product decides what passes. @param {string} name @param {Tensor} x */
  #feedForward(name, x) {
    const { tape } = this, { activation } = this.config, gate = GATED[activation], wide = this.#linear(`${name}.widen`, x);
    const units = gate ? tape.gated(tape.activated(this.#linear(`${name}.gate`, x), gate), wide) : tape.activated(wide, activation);
    return this.#linear(`${name}.narrow`, units);
  }

  /** Queries or keys, with QK norm where this model has one. @param {string} name @param {string} which @param {Tensor} x */
  #projected(name, which, x) {
    const projected = this.#linear(`${name}.${which}`, x);
    return this.config.qk_norm ? this.#normalised(`${name}.${which}_norm`, projected) : projected;
  }

  /** softmax(q·kᵀ / √d + bias, where allowed) · v, then W_O. @param {Trace} trace @param {Stack} stack @param {string} stream @param {string} name
   * @param {number} layer @param {Tensor} x */
  #attention(trace, stack, stream, name, layer, x) {
    const { config, tape } = this, { memory, texts } = stack, crossing = stream === "cross" && memory, { heads } = config, wide = config.dim / heads;
    const source = crossing ? memory.states : (stack.states ?? x), keys = crossing ? memory.texts : texts;
    const shape = { texts: texts.ids.length / texts.length, heads, groups: config.kv_heads || heads, queries: texts.length, keys: keys.length, wide };
    const turn = (/** @type {Tensor} */ y) => (config.positions === "rope" && !crossing ? tape.rotated(y, texts.length, wide, config.rope_base) : y);
    const q = turn(this.#projected(name, "query", x)), k = turn(this.#projected(name, "key", source)), v = this.#linear(`${name}.value`, source);
    const terms = config.positions === "disentangled" && !crossing ? 3 : 1, scale = config.scaled ? (terms * wide) ** -0.5 : 1;
    let scores = tape.scores(q, k, shape, scale);
    if (stack.bias && !crossing) scores = tape.plus(scores, stack.bias);
    if (terms === 3) scores = this.#distances(scores, name, stack.prefix, q, k, shape);
    const allowed = allowedIn(shape, stream, keys.present), weights = tape.weights(scores, shape, allowed), context = tape.weighed(tape.dropped(weights, this.dropout), v, shape);
    const output = this.#linear(`${name}.output`, context);
    trace.attention.push({ stream, layer, q, k, v, scores, weights, context, output, allowed });
    return output;
  }

  /** DeBERTa: content → position and position → content, by the same matrices. @param {Tensor} scores @param {string} name @param {string} prefix
   * @param {Tensor} q @param {Tensor} k @param {import("./attention.js").Shape} shape */
  #distances(scores, name, prefix, q, k, shape) {
    const { tape } = this, { length } = this.config, scale = (3 * shape.wide) ** -0.5, place = `${prefix}embeddings.position`;
    const table = this.#normalised(`${place}.norm`, this.#need(`${place}.table.weight`), "layer");
    const row = (/** @type {number} */ i, /** @type {number} */ j) => Math.min(Math.max(i - j + length, 0), 2 * length - 1);
    const toPlace = tape.distances(q, this.#projected(name, "key", table), shape, { row, ofKeys: false, scale });
    const fromPlace = tape.distances(k, this.#projected(name, "query", table), shape, { row, ofKeys: true, scale });
    return tape.plus(tape.plus(scores, toPlace), fromPlace);
  }

  /** The scores if the model ended after its input, or after any of its sub-layers: the logit lens (explorer/analysis/lens.py).
   * @param {Trace} trace of the last run @param {ArrayLike<number>} at @returns {{name: string, scores: ArrayLike<number>}[]} */
  lens({ hidden, blocks }, at) {
    const { family, final_norm: last } = this.config, stream = family === "encoder" ? "encoder" : "decoder";
    const inside = blocks.filter((block) => block.stream === stream).map(({ part, layer, result }) => ({ name: `${part} ${layer}`, states: result }));
    return [{ name: "input", states: hidden[stream][0] }, ...inside].map(({ name, states }) => {
      const x = this.tape.gathered(states, at);
      return { name, scores: this.#head(last ? this.#normalised("norm", x) : x).data };
    });
  }

  /** A score for every token of the vocabulary. @param {Tensor} states */
  #head(states) {
    const { config, tape } = this;
    let x = states;
    if (config.head_transform) x = this.#normalised("head.transform.norm", tape.activated(this.#linear("head.transform.dense", x), GATED[config.activation] ?? config.activation), "layer");
    if (config.scaled_head) x = tape.times(x, config.dim ** -0.5);
    return tape.linear(x, this.#need(config.tied ? "embeddings.tokens.weight" : "head.project.weight"), this.weights.get("head.bias") ?? null);
  }
}

/** Who may see whom [text, query, key]: nobody sees padding, and in a decoder nobody what comes later. @param {import("./attention.js").Shape} shape
 * @param {string} stream @param {ArrayLike<number>} [present] */
function allowedIn({ texts, queries, keys }, stream, present) {
  const allowed = new Uint8Array(texts * queries * keys);
  for (let text = 0, n = 0; text < texts; text++)
    for (let i = 0; i < queries; i++)
      for (let j = 0; j < keys; j++, n++) allowed[n] = Number((stream !== "decoder" || j <= i) && (!present || present[text * keys + j] !== 0));
  return allowed;
}
