// A model in the page: it reads what is typed, with what hands have changed, and gives the data of a board.
import { boardOf, sidesOf } from "./boarded.js";
import { beam, greedy, sample, Stepper } from "./decoding.js";
import { Edits, labelOf } from "./edits.js";
import { Elmo } from "./elmo.js";
import { checkSizes, sentenceOf, sound } from "./faults.js";
import { expectedInGap } from "./gaps.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { openWeights } from "./weights.js";

/** @typedef {{name: string, config: any, tokenizer: any, seen: {words: string[], pieces: number[]} | null, notes: string[], prose: any, mask: string, start: number}} Header */

const WAYS = { greedy, sample, beam };

/** One model that was packed for the page: u32 length of the header | header as JSON | the weights as safetensors. */
export class LiveModel {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    const size = bytes.byteLength > 4 ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) : 0;
    if (!size || 4 + size > bytes.byteLength) throw new Error("The model of this page is cut off. Save the page again.");
    /** @type {Header} */
    this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    const weights = openWeights(bytes.slice(4 + size).buffer);
    this.config = this.header.config;
    checkSizes(this.config, weights);
    this.tokenizer = new Tokenizer(this.header.tokenizer, this.header.seen);
    /** @type {Map<number, Generator<any>>} */
    this.runs = new Map(); // decodings that were begun
    this.network = this.config.family === "bilm" ? new Elmo(this.config, weights) : new Transformer(this.config, weights);
  }

  /** The tokens of a text, cut where they are more than the model reads. @param {string} text */
  tokens(text) {
    const tokens = this.tokenizer.encode(text), over = tokens.ids.length - this.config.length;
    if (over <= 0) return { tokens, note: "" };
    const ends = tokens.special.at(-1), first = this.config.length - Number(ends);
    const keep = (/** @type {any[]} */ row) => [...row.slice(0, first), ...(ends ? row.slice(-1) : [])];
    return { tokens: Object.fromEntries(Object.entries(tokens).map(([name, row]) => [name, row && keep(row)])), note: `The text has ${tokens.ids.length} tokens; this model reads ${this.config.length}, so its end was left out.` };
  }

  /** Read a text (and a target, for an encoder–decoder) with these edits. @param {string} text @param {string | null} target @param {any[]} edits */
  read(text, target, edits) {
    const found = this.#computed(text, target, edits);
    Object.values(found.trace.outputs).forEach(sound);
    return found;
  }

  /** @param {string} text @param {string | null} target @param {any[]} edits */
  #computed(text, target, edits) {
    const { tokens, note } = this.tokens(text), source = /** @type {any} */ (tokens), both = this.config.family === "encoder-decoder";
    const { network } = this;
    if (!text.trim()) throw new Error("There is nothing to read yet. Type a sentence.");
    if (network instanceof Elmo) {
      if (edits.length) throw new Error(`${this.header.name} has no layers of attention to edit.`);
      return { trace: network.run(this.#words(source)), source, target: null, note, edits };
    }
    network.edits = edits.length ? new Edits(edits) : null;
    if (!both) {
      const trace = network.run(source.ids);
      return { trace, source, target: null, note, edits };
    }
    const reads = this.#shifted(target === null ? this.#nothing(source) : /** @type {any} */ (this.tokens(target).tokens));
    return { trace: network.translate(source.ids, reads.ids), source, target: reads, note, edits };
  }

  /** The words as they are written, whose letters an ELMo reads. @param {import("./boarded.js").Tokens} tokens */
  #words({ ids, special, sources }) {
    return ids.map((id, n) => (special[n] ? (this.tokenizer.pieces.get(id) ?? "") : sources[n]));
  }

  /** No tokens at all: without a target, a decoder reads its start token alone. @param {any} like */
  #nothing(like) {
    return Object.fromEntries(Object.entries(like).map(([name, row]) => [name, row && []]));
  }

  /** What the decoder reads: the start token, then the target without its last token. @param {any} tokens @returns {import("./boarded.js").Tokens} */
  #shifted(tokens) {
    const start = this.header.start, text = this.tokenizer.readable(start);
    const before = { ids: start, texts: text, special: true, words: -1, offsets: [0, 0], unseen: false, sources: "" };
    const shifted = Object.entries(tokens).map(([name, row]) => [name, row && [/** @type {any} */ (before)[name], ...row.slice(0, -1)]]);
    return /** @type {any} */ (Object.fromEntries(shifted));
  }

  /** The data of a board, or of an ELMo those of its two directions. @param {ReturnType<LiveModel["read"]>} found */
  shown(found) {
    const model = { name: this.header.name, config: this.config, notes: this.header.notes, prose: this.header.prose, readable: (/** @type {number} */ id) => this.tokenizer.readable(id) };
    if (this.network instanceof Elmo) return sidesOf(found.trace, model, found.source);
    return boardOf(found.trace, model, found.source, found.target, found.edits);
  }

  /** Whether it writes: a decoder goes on with a text, an encoder–decoder writes one for another. */
  get writes() {
    return this.network instanceof Transformer && this.config.family !== "encoder";
  }

  /** Write on, step by step. @param {string} text @param {"greedy" | "sample" | "beam"} way @param {import("./decoding.js").Settings} settings */
  *write(text, way, settings) {
    const network = /** @type {Transformer} */ (this.network), { family, length } = this.config, both = family === "encoder-decoder";
    const ids = both ? /** @type {number[]} */ (this.tokens(text).tokens.ids) : this.tokenizer.encode(text).ids;
    if (!this.writes) throw new Error("This model reads a whole text at once and predicts no next token, so it cannot write.");
    if (!text.trim()) throw new Error("The prompt is empty. Give at least one word.");
    if (!both && ids.length >= length) throw new Error(`The prompt has ${ids.length} tokens and the model reads at most ${length}: there is no room to continue. Shorten it.`);
    network.edits = null;
    const stepper = new Stepper(network, this.tokenizer, both ? [this.header.start] : ids, both ? network.encode(ids) : undefined);
    const marked = (/** @type {number[]} */ written) => this.tokenizer.decode(written.filter((id) => id !== stepper.end && id !== this.header.start), true).trim();
    for (const step of WAYS[way](stepper, settings)) yield { ...step, whole: both ? marked(step.ids) : this.tokenizer.decode([...ids, ...step.ids]) };
  }
}

/** What a page asks of its model; every answer is plain data. @type {Record<string, (model: LiveModel, given: any) => any>} */
export const ANSWERS = {
  header: ({ header: { name, mask }, config, writes }) => ({ name, mask, config, writes }),
  read(model, { text, target, edits }) {
    const found = model.read(text, target, edits), { source, note } = found;
    return { source, note, logits: found.trace.logits, data: model.shown(found), labels: edits.map(labelOf) };
  },
  gap: expectedInGap,
  write: (model, { text, way, settings }) => [...model.write(text, way, settings)],
  begin: (model, { run, text, way, settings }) => void model.runs.set(run, model.write(text, way, settings)),
  step: (model, run) => model.runs.get(run)?.next() ?? {},
  encode: (model, text) => model.tokenizer.encode(text),
  decode: (model, ids) => model.tokenizer.decode(ids),
};

/** What answers a page, here or in a worker: it opens a model first. @param {(answer: {id: number, answer?: any, refused?: string}) => void} send */
export function answering(send) {
  /** @type {LiveModel} */
  let model;
  return (/** @type {{data: {id: number, what: string, given: any}}} */ { data: { id, what, given } }) => {
    try {
      if (what === "open") model = new LiveModel(given);
      send({ id, answer: ANSWERS[what === "open" ? "header" : what](model, given) });
    } catch (error) {
      send({ id, refused: sentenceOf(error) });
    }
  };
}

/** Read a few times with a small model of zeros: the browser compiles what computes while the real model is still on its way. */
export function warmUp() {
  const dim = 32, ids = [...Array(20).keys()], square = new Float32Array(dim * dim), row = new Float32Array(dim);
  const config = { family: "decoder", dim, hidden: dim, vocab: dim, length: dim, heads: 2, layers: 1, positions: "none", norm: "layer", norm_place: "post",
    norm_epsilon: 1, activation: "gelu", feed_forward: true, residual: true, scaled: true, tied: true };
  const network = new Transformer(config, (name) => (/norm|bias/.test(name) ? row : square));
  for (let time = 0; time < 8; time++) network.run(ids);
}
