// A Transformer of any of the three families, as in explorer/nn/transformer.py: one forward pass that hands out all it computes.
import { ACTIVATIONS, GATED, linear, normalise, plus, softmax, times } from "./maths.js";
import { POSITIONS } from "./positions.js";
import { required } from "./weights.js";

/** @typedef {Record<string, any>} Config the fields of explorer.nn.config.Config */
/** @typedef {{q: Float32Array, k: Float32Array, v: Float32Array, projected: Record<string, Float32Array>, terms: Record<string, Float32Array>,
 * bias: Float32Array | null, allowed: Uint8Array, weights: Float32Array, context: Float32Array, output: Float32Array, scale: number,
 * stream: string, layer: number, queries: number, keys: number}} Attention arrays are [head, position, dim] and [head, query, key] */
/** @typedef {{position: import("./positions.js").Position, at: [number[], number[]], memory?: Float32Array, cache?: Map<string, any>, states?: Float32Array}} Inputs */

/** One model: its configuration, its weights by name, and what an edit may change (`edits.js`). */
export class Transformer {
  /** @param {Config} config @param {(name: string) => Float32Array | null} weight */
  constructor(config, weight) {
    this.config = config;
    this.weight = weight;
    this.need = required(weight);
    this.wide = config.dim / config.heads; // of a head
    this.groups = config.kv_heads || config.heads;
    this.own = config.family === "encoder" ? "encoder" : "decoder";
    /** @type {import("./edits.js").Edits | null} */
    this.edits = null;
    /** @type {Map<string, import("./positions.js").Position>} */
    this.schemes = new Map();
  }

  /** x Wᵀ + b by the name of a layer. @param {string} name @param {Float32Array} x @param {number} wide */
  #linear(name, x, wide) {
    return linear(x, wide, this.need(`${name}.weight`), this.weight(`${name}.bias`));
  }

  /** The settings of a norm by its name. @param {string} name @param {string} [kind] */
  #norm(name, kind = this.config.norm) {
    const bare = kind === "bare" || kind === "none";
    return { gain: bare ? null : this.need(`${name}.weight`), shift: this.weight(`${name}.bias`), epsilon: this.config.norm_epsilon, centred: kind !== "rms" };
  }

  /** @param {string} name @param {Float32Array} x @param {number} wide @param {string} [kind] */
  #normalised(name, x, wide, kind = this.config.norm) {
    return kind === "none" ? x : normalise(x, wide, this.#norm(name, kind));
  }

  /** All that an encoder or a decoder computes of these ids. @param {number[]} ids */
  run(ids) {
    const trace = this.#trace();
    trace.states = this.#stack(trace, this.own, "", ids, {});
    return this.#outputs(trace);
  }

  /** All that an encoder–decoder computes: the source, and what its decoder reads. @param {number[]} source @param {number[]} target */
  translate(source, target) {
    const trace = this.#trace();
    const memory = this.#stack(trace, "encoder", "encoder.", source, {});
    trace.states = this.#stack(trace, "decoder", "", target, { memory });
    return this.#outputs(trace);
  }

  /** The encoder's last states, once for a whole decoding. @param {number[]} source */
  encode(source) {
    return this.#stack(this.#trace(), "encoder", "encoder.", source, {});
  }

  /** The scores of the next token after new ids, with a cache of keys and values that grows. @param {number[]} ids @param {Map<string, any>} cache
   * @param {Float32Array} [memory] */
  next(ids, cache, memory) {
    const trace = this.#trace(), states = this.#stack(trace, "decoder", "", ids, { cache, memory });
    return { logits: this.#head(states.slice(-this.config.dim)), attention: trace.attention };
  }

  #trace() {
    return { attention: /** @type {Attention[]} */ ([]), hidden: /** @type {Record<string, Float32Array[]>} */ ({}), blocks: /** @type {any[]} */ ([]),
      embeddings: /** @type {Record<string, Record<string, Float32Array>>} */ ({}), states: /** @type {Float32Array} */ (new Float32Array(0)), logits: /** @type {Float32Array} */ (new Float32Array(0)),
      outputs: /** @type {Record<string, Float32Array>} */ ({}) };
  }

  /** What the last states predict. @param {any} trace @returns {any} */
  #outputs(trace) {
    const { dim } = this.config;
    if (this.config.replaced) {
      const dense = this.#linear("replaced.dense", trace.states, dim).map(ACTIVATIONS[this.config.activation]);
      trace.outputs.rtd = this.#linear("replaced.classify", dense, dim);
      return trace;
    }
    trace.outputs.lm = trace.logits = this.#head(trace.states);
    if (this.config.next_sentence) {
      const pooled = this.#linear("next_sentence.pool", trace.states.slice(0, dim), dim).map(Math.tanh);
      trace.outputs.nsp = this.#linear("next_sentence.classify", pooled, dim);
    }
    return trace;
  }

  /** A score for every token of the vocabulary. @param {Float32Array} states */
  #head(states) {
    const { config } = this, wide = config.head_transform ? config.embedding || config.dim : config.dim;
    let x = states;
    if (config.head_transform) {
      x = this.#linear("head.transform.dense", x, config.dim).map(ACTIVATIONS[config.activation]);
      x = normalise(x, wide, this.#norm("head.transform.norm", "layer"));
    }
    if (config.scaled_head) x = times(x, config.dim ** -0.5);
    const table = this.need(config.tied ? "embeddings.tokens.weight" : "head.project.weight");
    return linear(x, wide, table, this.weight("head.bias"));
  }

  /** Embeddings, layers and last norm of one stack. @param {any} trace @param {string} stream @param {string} prefix @param {number[]} ids
   * @param {{memory?: Float32Array, cache?: Map<string, any>}} given */
  #stack(trace, stream, prefix, ids, { memory, cache }) {
    const { config } = this, begin = cache?.get("length") ?? 0;
    const positions = Array.from({ length: begin + ids.length }, (_, n) => n);
    const position = this.#scheme(stream, prefix);
    /** @type {Inputs} */
    const inputs = { position, at: [positions.slice(begin), positions], memory, cache };
    let x = this.#embedded(trace, stream, prefix, ids, inputs);
    x = this.#handed(trace, stream, -1, x);
    const count = stream === "encoder" ? config.encoder_layers || config.layers : config.layers;
    const plain = config.mask_decoder ? count - 1 : count;
    for (let layer = 0; layer < plain; layer++) x = this.#layer(trace, stream, `${prefix}layers.${layer}`, layer, x, inputs);
    if (config.mask_decoder) x = this.#maskDecoder(trace, stream, plain, x, inputs);
    if (cache) cache.set("length", begin + ids.length);
    return config.final_norm ? this.#normalised(`${prefix}norm`, x, config.dim) : x;
  }

  /** The scheme of a stack, opened once. @param {string} stream @param {string} prefix */
  #scheme(stream, prefix) {
    const { config } = this, known = this.schemes.get(prefix);
    if (known) return known;
    const context = { dim: config.embedding || config.dim, heads: config.heads, length: config.length, causal: stream === "decoder", base: config.rope_base, epsilon: config.norm_epsilon };
    const made = POSITIONS[config.positions](context, (name) => this.need(`${prefix}embeddings.${name}`));
    this.schemes.set(prefix, made);
    return made;
  }

  /** Token + position + segment, a norm, and a projection to the layers' width. @param {any} trace @param {string} stream @param {string} prefix
   * @param {number[]} ids @param {Inputs} inputs */
  #embedded(trace, stream, prefix, ids, inputs) {
    const { config } = this, wide = config.embedding || config.dim, table = this.need("embeddings.tokens.weight");
    const scale = config.embedding_scale ? config.dim ** 0.5 : 1, token = gathered(table, ids, wide).map((value) => value * scale);
    /** @type {Record<string, Float32Array>} */
    const parts = { token };
    const where = this.edits ? this.edits.positions(stream, -1, inputs.at[0]) : inputs.at[0];
    const added = where && inputs.position.add(where);
    if (added) parts.position = added;
    if (config.segments) parts.segment = gathered(this.need(`${prefix}embeddings.segments.weight`), ids.map(() => 0), wide); // one text: all tokens are of the first
    let x = Object.values(parts).reduce(plus);
    trace.embeddings[stream] = { ...parts, sum: x };
    if (config.embedding_norm) x = this.#normalised(`${prefix}embeddings.norm`, x, wide);
    return wide === config.dim ? x : this.#linear(`${prefix}project`, x, wide);
  }

  /** The states of a layer, after edits, kept in the trace. @param {any} trace @param {string} stream @param {number} layer @param {Float32Array} x */
  #handed(trace, stream, layer, x) {
    const states = this.edits ? this.edits.hidden(stream, layer, x, this.config.dim) : x;
    (trace.hidden[stream] ??= []).push(states);
    return states;
  }

  /** DeBERTa's last layer twice, with absolute positions in the queries. @param {any} trace @param {string} stream @param {number} last
   * @param {Float32Array} x @param {Inputs} inputs */
  #maskDecoder(trace, stream, last, x, inputs) {
    const seen = { ...inputs, states: x }, { dim } = this.config;
    const where = this.edits ? this.edits.positions(stream, -1, inputs.at[1]) : inputs.at[1];
    const asking = where ? plus(x, gathered(this.need("mask_decoder.position.table.weight"), where, dim)) : x;
    const once = this.#layer(trace, stream, `layers.${last}`, last, asking, seen);
    return this.#layer(trace, stream, `layers.${last}`, last + 1, once, seen);
  }

  /** Attention, cross-attention where there is one, feed-forward; each with its residual sum and norm. @param {any} trace @param {string} stream
   * @param {string} name @param {number} layer @param {Float32Array} x @param {Inputs} inputs */
  #layer(trace, stream, name, layer, x, inputs) {
    const around = (/** @type {string} */ part, /** @type {string} */ norm, /** @type {Float32Array} */ y, /** @type {(y: Float32Array) => Float32Array} */ sublayer) =>
      this.#addNorm(trace, [stream, layer, part], `${name}.${norm}.norm`, y, sublayer);
    x = around("attention", "after_attention", x, (y) => this.#attention(trace, stream, `${name}.attention`, layer, y, inputs));
    if (stream === "decoder" && inputs.memory)
      x = around("cross-attention", "after_cross", x, (y) => this.#attention(trace, "cross", `${name}.cross`, layer, y, inputs));
    const { feed_forward: has } = this.config; // one that is left out adds nothing, and its norm stays
    x = around("feed-forward", "after_feed_forward", x, (y) => (has ? this.#feedForward(trace, stream, `${name}.feed_forward`, layer, y) : times(y, 0)));
    return this.#handed(trace, stream, layer, x);
  }

  /** post: norm(x + f(x)); pre: x + f(norm(x)); inside: x + norm(f(x)). @param {any} trace @param {[string, number, string]} where @param {string} norm
   * @param {Float32Array} x @param {(x: Float32Array) => Float32Array} sublayer */
  #addNorm(trace, where, norm, x, sublayer) {
    const { config, edits } = this, place = config.norm_place;
    const normed = (/** @type {Float32Array} */ y) => (edits?.leavesNormOut(where) ? y : this.#normalised(norm, y, config.dim));
    const out = (/** @type {Float32Array} */ y) => (edits?.silences(where) ? y.map(() => 0) : y);
    const cut = !config.residual || edits?.cuts(where), given = cut ? x.map(() => 0) : x, bare = edits?.leavesNormOut(where) || config.norm === "none";
    let made, total, result, entering;
    if (place === "pre") {
      made = out(sublayer(normed((entering = x))));
      result = total = plus(given, made);
    } else if (place === "inside") {
      made = out(normed((entering = sublayer(x))));
      result = total = plus(given, made);
    } else {
      made = out(sublayer(x));
      result = normed((entering = total = plus(given, made)));
    }
    const settings = bare ? null : this.#norm(norm), units = where[2] === "feed-forward" ? trace.units : null;
    trace.blocks.push({ stream: where[0], layer: where[1], part: where[2], place, given: x, out: made, total, entering, settings, units, residual: !cut });
    return result;
  }

  /** d → hidden, activation, hidden → d; gated, a second product decides what passes. @param {any} trace @param {string} stream @param {string} name
   * @param {number} layer @param {Float32Array} x */
  #feedForward(trace, stream, name, layer, x) {
    const { config } = this, gated = GATED[config.activation], activation = ACTIVATIONS[gated ?? config.activation];
    const wide = this.#linear(`${name}.widen`, x, config.dim);
    /** @type {Float32Array} */
    let units = gated ? this.#linear(`${name}.gate`, x, config.dim).map((value, i) => activation(value) * wide[i]) : wide.map(activation);
    if (this.edits) units = this.edits.units(stream, layer, units, config.hidden);
    trace.units = units;
    return this.#linear(`${name}.narrow`, units, config.hidden);
  }

  /** Queries or keys by head, with QK norm where this model has one: [head, position, dim of a head]. @param {string} name @param {string} which
   * @param {Float32Array} x @param {number} heads */
  #byHead(name, which, x, heads) {
    const projected = this.#linear(`${name}.${which}`, x, this.config.dim);
    const normed = this.config.qk_norm && which !== "value" ? this.#normalised(`${name}.${which}_norm`, projected, this.wide * heads) : projected;
    return { projected: splitHeads(projected, heads, this.wide), vectors: splitHeads(normed, heads, this.wide) };
  }

  /** softmax(q·kᵀ / √d + bias, where allowed) · v, then W_O. `attend` in nn/attention.py names the twins of this formula.
   * @param {any} trace @param {string} stream @param {string} name @param {number} layer @param {Float32Array} x @param {Inputs} inputs */
  #attention(trace, stream, name, layer, x, inputs) {
    const { config, wide, groups, edits } = this, { heads } = config, crossing = stream === "cross";
    const moved = !crossing && edits ? inputs.at.map((at) => edits.positions(stream, layer, at)) : inputs.at;
    const placed = !crossing && moved[0] !== null, position = placed ? inputs.position : POSITIONS.none(/** @type {any} */ (null), /** @type {any} */ (null));
    const at = /** @type {[number[], number[]]} */ (placed ? moved : inputs.at);
    const query = this.#byHead(name, "query", x, heads);
    const { k, v, projected } = this.#keysAndValues(stream, name, layer, x, position, at, inputs);
    let q = position.rotate(query.vectors, wide, at[0]);
    if (edits) q = edits.vectors("q", stream, layer, q, heads, wide);
    const queries = x.length / config.dim, keys = k.length / groups / wide;
    const terms = position.score?.(q, shared(k, groups, heads), wide, this.#project(name), at) ?? {};
    const bias = crossing ? null : Object.values(terms).reduce((/** @type {Float32Array | null} */ sum, term) => (sum ? plus(sum, term) : term), position.bias(at[0], at[1]));
    const ownScale = config.scaled ? (((crossing ? 1 : inputs.position.terms) * wide) ** -0.5) : 1;
    const scale = edits ? edits.scale(stream, ownScale) : ownScale;
    const allowed = edits ? edits.allowed(stream, layer, mask(stream, queries, keys)) : mask(stream, queries, keys);
    let weights = attend(q, shared(k, groups, heads), { heads, wide, queries, keys, scale, bias, allowed });
    if (edits) weights = edits.weights(stream, layer, weights, allowed, heads, queries, keys);
    let context = weighed(weights, shared(v, groups, heads), heads, queries, keys, wide);
    if (edits) context = edits.context(stream, layer, context, heads);
    const output = this.#linear(`${name}.output`, joinHeads(context, heads, wide), config.dim);
    trace.attention.push({ stream, layer, q, k, v, projected: { q: query.projected, k: projected }, terms, bias, allowed, weights, context, output, scale, queries, keys });
    return output;
  }

  /** Keys and values of the text with those of the cache, or of the source. @param {string} stream @param {string} name @param {number} layer
   * @param {Float32Array} x @param {import("./positions.js").Position} position @param {[number[], number[]]} at @param {Inputs} inputs */
  #keysAndValues(stream, name, layer, x, position, at, inputs) {
    const crossing = stream === "cross", cached = inputs.cache?.get(name);
    if (crossing && cached) return cached;
    const source = crossing ? /** @type {Float32Array} */ (inputs.memory) : (inputs.states ?? x);
    const key = this.#byHead(name, "key", source, this.groups), count = source.length / this.config.dim;
    const ownAt = crossing ? [] : at[0].slice(-count);
    let k = crossing ? key.vectors : position.rotate(key.vectors, this.wide, ownAt), v = this.#byHead(name, "value", source, this.groups).vectors;
    if (this.edits) k = this.edits.vectors("k", stream, layer, k, this.groups, this.wide);
    if (this.edits) v = this.edits.vectors("v", stream, layer, v, this.groups, this.wide);
    if (cached) [k, v] = [grown(cached.k, k, this.groups), grown(cached.v, v, this.groups)];
    const made = { k, v, projected: key.projected };
    inputs.cache?.set(name, made);
    return made;
  }

  /** Queries and keys of any vectors, as DeBERTa projects distances. @param {string} name @returns {import("./positions.js").Project} */
  #project(name) {
    return [(x) => this.#byHead(name, "query", x, this.config.heads).vectors, (x) => shared(this.#byHead(name, "key", x, this.groups).vectors, this.groups, this.config.heads)];
  }
}

/** The rows of a table. @param {Float32Array} table @param {number[]} ids @param {number} wide */
export function gathered(table, ids, wide) {
  const made = new Float32Array(ids.length * wide);
  ids.forEach((id, n) => made.set(table.subarray(id * wide, (id + 1) * wide), n * wide));
  return made;
}

/** [position, head · dim] as [head, position, dim]. @param {Float32Array} x @param {number} heads @param {number} wide */
function splitHeads(x, heads, wide) {
  const count = x.length / heads / wide, made = new Float32Array(x.length);
  for (let h = 0; h < heads; h++) for (let n = 0; n < count; n++) made.set(x.subarray((n * heads + h) * wide, (n * heads + h + 1) * wide), (h * count + n) * wide);
  return made;
}

/** [head, position, dim] as [position, head · dim]. @param {Float32Array} x @param {number} heads @param {number} wide */
function joinHeads(x, heads, wide) {
  const count = x.length / heads / wide, made = new Float32Array(x.length);
  for (let h = 0; h < heads; h++) for (let n = 0; n < count; n++) made.set(x.subarray((h * count + n) * wide, (h * count + n + 1) * wide), (n * heads + h) * wide);
  return made;
}

/** Keys or values once for every query head of their group. @param {Float32Array} x @param {number} groups @param {number} heads */
function shared(x, groups, heads) {
  if (groups === heads) return x;
  const size = x.length / groups, made = new Float32Array(size * heads);
  for (let h = 0; h < heads; h++) made.set(x.subarray(Math.floor((h * groups) / heads) * size, (Math.floor((h * groups) / heads) + 1) * size), h * size);
  return made;
}

/** Cached vectors with new ones after them, by head. @param {Float32Array} old @param {Float32Array} more @param {number} groups */
function grown(old, more, groups) {
  const made = new Float32Array(old.length + more.length), a = old.length / groups, b = more.length / groups;
  for (let g = 0; g < groups; g++) {
    made.set(old.subarray(g * a, (g + 1) * a), g * (a + b));
    made.set(more.subarray(g * b, (g + 1) * b), g * (a + b) + a);
  }
  return made;
}

/** Who may see whom [query, key]: a decoder sees itself and what came before. @param {string} stream @param {number} queries @param {number} keys */
function mask(stream, queries, keys) {
  const allowed = new Uint8Array(queries * keys).fill(1);
  if (stream === "decoder") for (let i = 0; i < queries; i++) for (let j = i + 1 + keys - queries; j < keys; j++) allowed[i * keys + j] = 0;
  return allowed;
}

/** The attention weights [head, query, key]. @param {Float32Array} q @param {Float32Array} k
 * @param {{heads: number, wide: number, queries: number, keys: number, scale: number, bias: Float32Array | null, allowed: Uint8Array}} given */
export function attend(q, k, { heads, wide, queries, keys, scale, bias, allowed }) {
  const scores = new Float32Array(heads * queries * keys);
  let n = 0;
  for (let h = 0; h < heads; h++)
    for (let i = 0; i < queries; i++)
      for (let j = 0; j < keys; j++, n++) {
        let dot = 0;
        for (let c = 0; c < wide; c++) dot += q[(h * queries + i) * wide + c] * k[(h * keys + j) * wide + c];
        scores[n] = allowed[i * keys + j] ? dot * scale + (bias ? bias[n] : 0) : -Infinity;
      }
  return softmax(scores, keys);
}

/** The values, weighed: [head, query, dim of a head]. @param {Float32Array} weights @param {Float32Array} v @param {number} heads @param {number} queries
 * @param {number} keys @param {number} wide */
export function weighed(weights, v, heads, queries, keys, wide) {
  const made = new Float32Array(heads * queries * wide);
  for (let h = 0; h < heads; h++)
    for (let i = 0; i < queries; i++)
      for (let c = 0; c < wide; c++) {
        let sum = 0;
        for (let j = 0; j < keys; j++) sum += weights[(h * queries + i) * keys + j] * v[(h * keys + j) * wide + c];
        made[(h * queries + i) * wide + c] = sum;
      }
  return made;
}
