// A model in the page: it reads what is typed, with what hands have changed, and shows it on a board.
import { boardOf } from "./boarded.js";
import { beam, greedy, sample, Stepper } from "./decoding.js";
import { Edits } from "./edits.js";
import { Elmo } from "./elmo.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { openWeights } from "./weights.js";

/** @typedef {{name: string, config: any, tokenizer: any, seen: {words: string[], pieces: number[]} | null, notes: string[], prose: any, mask: string, start: number}} Header */

const WAYS = { greedy, sample, beam };
const LETTERS = 60; // of a word that is written into a sentence

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
    this.tokenizer = new Tokenizer(this.header.tokenizer, this.header.seen);
    this.network = this.config.family === "bilm" ? new Elmo(this.config, weights) : new Transformer(this.config, weights);
  }

  /** The tokens of a text, cut where they are more than the model reads. @param {string} text */
  tokens(text) {
    const tokens = this.tokenizer.encode(text), over = tokens.ids.length - this.config.length;
    if (over <= 0) return { tokens, note: "" };
    const first = this.config.length - 1;
    const keep = (/** @type {any[]} */ row) => [...row.slice(0, first), row.at(-1)];
    return { tokens: Object.fromEntries(Object.entries(tokens).map(([name, row]) => [name, row && keep(row)])), note: `The text has ${tokens.ids.length} tokens; this model reads ${this.config.length}, so its end was left out.` };
  }

  /** Read a text (and a target, for an encoder–decoder) with these edits. @param {string} text @param {string | null} target @param {any[]} edits */
  read(text, target, edits) {
    const { tokens, note } = this.tokens(text), source = /** @type {any} */ (tokens), both = this.config.family === "encoder-decoder";
    const network = /** @type {Transformer} */ (this.network);
    network.edits = edits.length ? new Edits(edits) : null;
    if (!source.ids.length) throw new Error("There is nothing to read yet. Type a sentence.");
    if (!both) {
      const trace = network.run(source.ids, source.segments);
      return { trace, source, target: null, note };
    }
    const wanted = this.tokens(target ?? "").tokens, reads = this.#shifted(/** @type {any} */ (wanted));
    return { trace: network.translate(source.ids, reads.ids), source, target: reads, note };
  }

  /** What the decoder reads: the start token, then the target without its last token. @param {any} tokens */
  #shifted(tokens) {
    const start = this.header.start, text = this.tokenizer.readable(start);
    const before = { ids: start, texts: text, special: true, words: -1, segments: 0, offsets: [0, 0], unseen: false, sources: "" };
    return Object.fromEntries(Object.entries(tokens).map(([name, row]) => [name, row && [/** @type {any} */ (before)[name], ...row.slice(0, -1)]]));
  }

  /** The board's data. @param {ReturnType<LiveModel["read"]>} found */
  board(found) {
    const model = { name: this.header.name, config: this.config, notes: this.header.notes, prose: this.header.prose, readable: (/** @type {number} */ id) => this.tokenizer.readable(id) };
    return boardOf(found.trace, model, found.source, found.target);
  }

  /** Write on, step by step. @param {string} text @param {"greedy" | "sample" | "beam"} way @param {any} settings */
  *write(text, way, settings) {
    const network = /** @type {Transformer} */ (this.network), ids = this.tokenizer.encode(text).ids, both = this.config.family === "encoder-decoder";
    network.edits = null;
    yield* WAYS[way](new Stepper(network, this.tokenizer, both ? [this.header.start] : ids, both ? network.encode(ids) : undefined), settings);
  }
}

/** What a hand asked for on a board of a live model: another sentence, or one more edit. */
export class Session {
  /** @param {LiveModel} model @param {string} text @param {string | null} target @param {any[]} [edits] */
  constructor(model, text, target, edits = []) {
    this.model = model;
    this.now = { text, target, edits };
    /** @type {(typeof this.now)[]} */
    this.before = [];
    this.found = model.read(text, target, edits);
  }

  /** Read anew; what cannot be read leaves all as it is. @param {Partial<typeof this.now>} changed */
  change(changed) {
    const next = { ...this.now, ...changed }, found = this.model.read(next.text, next.target, next.edits);
    this.before.push(this.now);
    [this.now, this.found] = [next, found];
    return found;
  }

  /** Another sentence; edits by hand belong to the one before. @param {string} text */
  type(text) {
    return this.change({ text, edits: [] });
  }

  /** Do what the board's hands ask for (board/request.py says it for Python). @param {any} asked */
  answer(asked) {
    if (asked.what === "undo") {
      const last = this.before.pop();
      if (last) [this.now, this.found] = [last, this.model.read(last.text, last.target, last.edits)];
      return this.found;
    }
    if (asked.what === "row") return this.#edited({ edit: "ReplaceRow", stream: asked.stream, layer: asked.layer, head: asked.head, query: asked.row, row: asked.shares });
    if (asked.what === "silence") return this.#edited({ edit: "SilenceHead", stream: asked.stream, layer: asked.layer, head: asked.head });
    return this.change({ text: this.#written(asked), edits: [] });
  }

  /** @param {any} edit */
  #edited(edit) {
    return this.change({ edits: [...this.now.edits, edit] });
  }

  /** The sentence with another word at a token, or with the expected token that was chosen. @param {any} asked */
  #written({ what, row, rank, text = "" }) {
    const { source, trace } = this.found, letters = Array.from(this.now.text), [from, to] = source.offsets[row] ?? [0, 0];
    if (what === "force") {
      const top = this.model.board(this.found).top, id = top.ids?.[row]?.[rank];
      if (id === undefined) throw new Error("This model expects no such token.");
      const word = this.model.tokenizer.decode([id]), spaced = top.texts[row][rank].startsWith("·") && !word.startsWith(" ") ? ` ${word}` : word;
      return this.model.config.family === "encoder" ? this.#put(letters, from, to, word) : letters.slice(0, to).join("") + spaced;
    }
    const word = what === "mask" ? this.model.header.mask : text.slice(0, LETTERS).trim();
    if (!word || from === to || !trace) throw new Error("This sentence has no such token.");
    return this.#put(letters, from, to, word);
  }

  /** @param {string[]} letters @param {number} from @param {number} to @param {string} word */
  #put(letters, from, to, word) {
    const space = /^\s/.test(letters.slice(from, to).join("")) ? " " : "";
    return letters.slice(0, from).join("") + space + word.trim() + letters.slice(to).join("");
  }

  /** All that a test or a teacher's script may ask for. */
  state() {
    const { trace, source } = this.found, { config } = this.model;
    /** @type {Record<string, number[][][][]>} */
    const weights = {};
    for (const { stream, weights: w, queries, keys } of trace.attention)
      (weights[stream] ??= []).push(Array.from({ length: config.heads }, (_, h) => Array.from({ length: queries }, (_q, i) => Array.from(w.slice((h * queries + i) * keys, (h * queries + i + 1) * keys)))));
    return { model: this.model.header.name, text: this.now.text, tokens: source.texts, ids: source.ids, weights, logits: Array.from(trace.logits) };
  }
}
