// ELMo, as in explorer/nn/elmo.py: words from their letters, two language models in two directions, and a mix of their layers.
import { linear, plus, sigmoid } from "./maths.js";

const WIDTH = 50, BEGIN = 259, END = 260, FILL = 261;
/** @type {Record<string, number>} */
const SENTENCE = { "<S>": 257, "</S>": 258 };

/** The numbers of a word's letters: its bytes between a beginning and an end. @param {string} word */
function letterRow(word) {
  const row = new Array(WIDTH).fill(FILL), inside = word in SENTENCE ? [SENTENCE[word]] : [...new TextEncoder().encode(word)].slice(0, WIDTH - 2).map((byte) => byte + 1);
  [BEGIN, ...inside, END].forEach((letter, n) => (row[n] = letter));
  return row;
}

export class Elmo {
  /** @param {Record<string, any>} config @param {(name: string) => Float32Array | null} weight */
  constructor(config, weight) {
    this.config = config;
    this.weight = (/** @type {string} */ name) => {
      const found = weight(name);
      if (!found) throw new Error(`The model file lacks the tensor ${name}. Export the model again.`);
      return found;
    };
    /** @type {Map<string, Float32Array>} */
    this.known = new Map();
  }

  /** @param {string} name @param {Float32Array} x @param {number} wide */
  #linear(name, x, wide) {
    return linear(x, wide, this.weight(`${name}.weight`), this.weight(`${name}.bias`));
  }

  /** The vector of a word, whatever stands around it: filters over its letters, max-pooling, highways, projection. @param {string} word */
  word(word) {
    const known = this.known.get(word);
    if (known) return known;
    const { letters: wide, filters, highways } = this.config, table = this.weight("characters.letters.weight");
    const letters = letterRow(word), strongest = /** @type {number[]} */ ([]);
    filters.forEach((/** @type {[number, number]} */ [span, many], /** @type {number} */ n) => {
      const weight = this.weight(`characters.filters.${n}.weight`), bias = this.weight(`characters.filters.${n}.bias`);
      for (let f = 0; f < many; f++) {
        let most = -Infinity;
        for (let at = 0; at + span <= WIDTH; at++) {
          let sum = bias[f];
          for (let c = 0; c < wide; c++) for (let s = 0; s < span; s++) sum += weight[(f * wide + c) * span + s] * table[letters[at + s] * wide + c];
          most = Math.max(most, sum);
        }
        strongest.push(most);
      }
    });
    let x = Float32Array.from(strongest, (value) => Math.max(0, value));
    for (let n = 0; n < highways; n++) {
      const gate = this.#linear(`characters.highways.${n}.gate`, x, x.length).map(sigmoid), made = this.#linear(`characters.highways.${n}.make`, x, x.length);
      x = x.map((value, i) => gate[i] * value + (1 - gate[i]) * Math.max(0, made[i]));
    }
    const vector = this.#linear("characters.project", x, x.length);
    this.known.set(word, vector);
    return vector;
  }

  /** All layers of one direction: LSTMs, from the second on with a residual connection. @param {string} name @param {Float32Array} x */
  #direction(name, x) {
    const states = [];
    for (let layer = 0; layer < this.config.layers; layer++) {
      const out = this.#lstm(`${name}.layers.${layer}`, x);
      states.push((x = layer ? plus(out, x) : out));
    }
    return states;
  }

  /** One LSTM whose output is projected to the width of the model. @param {string} name @param {Float32Array} x */
  #lstm(name, x) {
    const { dim, hidden } = this.config, count = x.length / dim, made = new Float32Array(x.length);
    const [ih, hh, bih, bhh, hr] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"].map((part) => this.weight(`${name}.${part}_l0`));
    const entering = linear(x, dim, ih, bih);
    let output = new Float32Array(dim), cell = new Float32Array(hidden);
    for (let n = 0; n < count; n++) {
      const gates = plus(entering.slice(n * 4 * hidden, (n + 1) * 4 * hidden), linear(output, dim, hh, bhh)); // input, forget, new, output
      cell = cell.map((value, i) => sigmoid(gates[hidden + i]) * value + sigmoid(gates[i]) * Math.tanh(gates[2 * hidden + i]));
      output = linear(cell.map((value, i) => sigmoid(gates[3 * hidden + i]) * Math.tanh(value)), hidden, hr, null);
      made.set(output, n * dim);
    }
    return made;
  }

  /** Every state of a text, given by the words as they are written, with <S> and </S>. @param {string[]} words */
  run(words) {
    const { dim } = this.config, x = new Float32Array(words.length * dim);
    words.forEach((word, n) => x.set(this.word(word), n * dim));
    const forward = this.#direction("onward", x), backward = this.#direction("back", turned(x, dim)).map((states) => turned(states, dim));
    const lm = this.#linear("head", /** @type {Float32Array} */ (forward.at(-1)), dim), back = this.#linear("head", /** @type {Float32Array} */ (backward.at(-1)), dim);
    return { attention: [], blocks: [], embeddings: {}, hidden: { characters: [x], forward, backward }, logits: lm, outputs: { lm, backward: back } };
  }
}

/** The rows in the other order. @param {Float32Array} x @param {number} wide */
function turned(x, wide) {
  const made = new Float32Array(x.length), count = x.length / wide;
  for (let n = 0; n < count; n++) made.set(x.subarray(n * wide, (n + 1) * wide), (count - 1 - n) * wide);
  return made;
}
