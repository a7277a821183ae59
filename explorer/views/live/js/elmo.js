// ELMo, as in explorer/nn/elmo.py: words from their letters, then two language models that read in two directions.
import { linear, plus, sigmoid } from "./maths.js";
import { required } from "./weights.js";

const WIDTH = 50, BEGIN = 259, END = 260, FILL = 261; // explorer/text/letters.py
/** @type {Record<string, number>} */
const SENTENCE = { "<S>": 257, "</S>": 258 };

/** The numbers of a word's letters: its bytes between a beginning and an end. @param {string} word */
function letterRow(word) {
  const row = new Array(WIDTH).fill(FILL);
  const inside = word in SENTENCE ? [SENTENCE[word]] : [...new TextEncoder().encode(word)].slice(0, WIDTH - 2).map((byte) => byte + 1);
  [BEGIN, ...inside, END].forEach((letter, n) => (row[n] = letter));
  return row;
}

export class Elmo {
  /** @param {Record<string, any>} config @param {(name: string) => Float32Array | null} weight */
  constructor(config, weight) {
    this.config = config;
    this.weight = required(weight);
    /** @type {Map<string, Float32Array>} */
    this.known = new Map(); // words whose vector was computed
  }

  /** x Wᵀ + b by the name of a layer. @param {string} name @param {Float32Array} x @param {number} wide */
  #linear(name, x, wide) {
    return linear(x, wide, this.weight(`${name}.weight`), this.weight(`${name}.bias`));
  }

  /** The vector of a word, the same in every text (Characters): filters over its letters, max-pooling, highways, projection. @param {string} word */
  word(word) {
    const known = this.known.get(word);
    if (known) return known;
    const letters = letterRow(word);
    const strongest = this.config.filters.map((/** @type {[number, number]} */ [span, count], /** @type {number} */ n) => this.#filtered(letters, `characters.filters.${n}`, span, count));
    let x = Float32Array.from(strongest.flat(), (value) => Math.max(0, value));
    for (let n = 0; n < this.config.highways; n++) x = this.#highway(`characters.highways.${n}`, x);
    const vector = this.#linear("characters.project", x, x.length);
    this.known.set(word, vector);
    return vector;
  }

  /** The largest activation of each filter that is `span` letters wide. @param {number[]} letters @param {string} name @param {number} span @param {number} count */
  #filtered(letters, name, span, count) {
    const wide = this.config.letters, table = this.weight("characters.letters.weight"), weight = this.weight(`${name}.weight`), bias = this.weight(`${name}.bias`);
    return Array.from({ length: count }, (_, filter) => {
      let most = -Infinity;
      for (let at = 0; at + span <= WIDTH; at++) {
        let sum = bias[filter];
        for (let c = 0; c < wide; c++)
          for (let s = 0; s < span; s++) sum += weight[(filter * wide + c) * span + s] * table[letters[at + s] * wide + c];
        most = Math.max(most, sum);
      }
      return most;
    });
  }

  /** g ∘ x + (1 − g) ∘ relu(W x + b) (Highway). @param {string} name @param {Float32Array} x */
  #highway(name, x) {
    const gate = this.#linear(`${name}.gate`, x, x.length).map(sigmoid), computed = this.#linear(`${name}.make`, x, x.length);
    return x.map((value, i) => gate[i] * value + (1 - gate[i]) * Math.max(0, computed[i]));
  }

  /** All layers of one direction: LSTMs, from the second on with a residual connection (Direction). @param {string} name @param {Float32Array} x */
  #direction(name, x) {
    const states = [];
    for (let layer = 0; layer < this.config.layers; layer++) {
      const out = this.#lstm(`${name}.layers.${layer}`, x);
      states.push((x = layer ? plus(out, x) : out));
    }
    return states;
  }

  /** One LSTM whose output is projected to the width of the model (torch.nn.LSTM). @param {string} name @param {Float32Array} x */
  #lstm(name, x) {
    const { dim, hidden } = this.config, outputs = new Float32Array(x.length);
    const [ih, hh, bih, bhh, hr] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"].map((part) => this.weight(`${name}.${part}_l0`));
    const entering = linear(x, dim, ih, bih);
    let output = new Float32Array(dim), cell = new Float32Array(hidden);
    for (let n = 0; n < x.length / dim; n++) {
      const gates = plus(entering.slice(n * 4 * hidden, (n + 1) * 4 * hidden), linear(output, dim, hh, bhh)); // input, forget, new, output
      cell = cell.map((value, i) => sigmoid(gates[hidden + i]) * value + sigmoid(gates[i]) * Math.tanh(gates[2 * hidden + i]));
      output = linear(cell.map((value, i) => sigmoid(gates[3 * hidden + i]) * Math.tanh(value)), hidden, hr, null);
      outputs.set(output, n * dim);
    }
    return outputs;
  }

  /** Every state of a text, given by the words as they are written, with <S> and </S> (BiLM). `layers` are h_k0, h_k1, …: both directions of a
   * layer side by side. @param {string[]} words */
  run(words) {
    const { dim } = this.config, x = new Float32Array(words.length * dim);
    words.forEach((word, n) => x.set(this.word(word), n * dim));
    const forward = this.#direction("onward", x), backward = this.#direction("back", turned(x, dim)).map((states) => turned(states, dim));
    const [lm, back] = [forward, backward].map((states) => this.#linear("head", states[states.length - 1], dim));
    const layers = [beside(x, x, dim), ...forward.map((states, n) => beside(states, backward[n], dim))];
    return { hidden: { characters: [x], forward, backward }, layers, logits: lm, outputs: { lm, backward: back } };
  }
}

/** The rows in the other order. @param {Float32Array} x @param {number} wide */
function turned(x, wide) {
  const rows = new Float32Array(x.length);
  for (let from = 0; from < x.length; from += wide) rows.set(x.subarray(from, from + wide), x.length - wide - from);
  return rows;
}

/** The rows of two matrices side by side. @param {Float32Array} a @param {Float32Array} b @param {number} wide */
function beside(a, b, wide) {
  const rows = new Float32Array(2 * a.length);
  for (let from = 0; from < a.length; from += wide) {
    rows.set(a.subarray(from, from + wide), 2 * from);
    rows.set(b.subarray(from, from + wide), 2 * from + wide);
  }
  return rows;
}
