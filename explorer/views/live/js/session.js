// What a board reads and what hands have changed of it, one state after the other; of several questions the newest wins.

/** @typedef {{text: string, target: string | null, edits: any[]}} State */

const LETTERS = 60; // of a word that is written into a sentence

/** The states of one board. */
export class Session {
  /** @param {import("./engine.js").Engine} engine @param {State} begin @param {boolean} both whether the decoder reads the sentence as well */
  constructor(engine, begin, both = false) {
    this.engine = engine;
    this.both = both;
    this.now = begin;
    this.wanted = begin;
    /** @type {State[]} */
    this.before = [];
    /** @type {any} */
    this.found = null;
    /** @type {{name: string, mask: string, config: any, writes: boolean} | null} */
    this.header = null;
    /** @type {Promise<any>} */
    this.reading = Promise.resolve();
  }

  /** What the model computes of a state; null where something newer was asked meanwhile. What cannot be read leaves all as it is.
   * @param {State} next @param {State[]} [before] the states that can be taken back to */
  async read(next, before = this.before) {
    this.wanted = next;
    this.header ??= await this.engine.header;
    await this.reading;
    if (this.wanted !== next) return null;
    const answer = this.engine.ask("read", next);
    this.reading = answer.catch(() => null);
    try {
      this.found = await answer;
    } catch (error) {
      if (this.wanted !== next) return null;
      this.wanted = this.now;
      throw error;
    }
    [this.now, this.before] = [next, before];
    return this.wanted === next ? this.found : null;
  }

  /** Something changed by a hand, which can be taken back. @param {Partial<State>} changed */
  change(changed) {
    return this.read({ ...this.wanted, ...changed }, [...this.before, this.wanted]);
  }

  /** Another sentence; edits by hand belong to the one before. @param {string} text */
  type(text) {
    return this.read({ text, target: this.both ? text : this.wanted.target, edits: [] }, []);
  }

  /** Do what the board's hands ask for (board/request.py says it for Python). @param {any} asked */
  async answer(asked) {
    const { stream, layer, head, row, shares } = asked, { edits } = this.wanted, last = this.before.at(-1);
    if (asked.what === "undo") return last ? this.read(last, this.before.slice(0, -1)) : this.found;
    if (asked.what === "row") return this.change({ edits: [...edits, { edit: "ReplaceRow", stream, layer, head, query: row, row: shares }] });
    if (asked.what === "silence") return this.change({ edits: [...edits, { edit: "SilenceHead", stream, layer, head }] });
    const text = await this.#written(asked);
    return this.change({ text, target: this.both ? text : this.wanted.target, edits: [] });
  }

  /** The sentence with another word at a token, or with the expected token that was chosen. @param {any} asked */
  async #written({ what, row, rank, text = "" }) {
    const { source, data: { top } } = this.found, { mask, config } = /** @type {any} */ (this.header), letters = Array.from(this.now.text), [from, to] = source.offsets[row] ?? [0, 0];
    if (what === "force") {
      const id = top.ids?.[row]?.[rank];
      if (id === undefined) throw new Error("This model expects no such token.");
      const word = await this.engine.ask("decode", [id]), spaced = top.texts[row][rank].startsWith("·") && !word.startsWith(" ") ? ` ${word}` : word;
      return config.family === "encoder" ? put(letters, from, to, word) : letters.slice(0, to).join("") + spaced;
    }
    const word = what === "mask" ? mask : text.slice(0, LETTERS).trim();
    if (!word || from === to) throw new Error("This sentence has no such token.");
    return put(letters, from, to, word);
  }

  /** All that a test or a teacher's script may ask for. */
  state() {
    const { source, logits, data } = this.found, { name } = /** @type {any} */ (this.header);
    /** @type {Record<string, number[][][][]>} */
    const weights = {};
    for (const { stream, weights: { a, s: [heads, n, m] } } of data.sites ?? [])
      (weights[stream] ??= []).push(Array.from({ length: heads }, (_, h) => Array.from({ length: n }, (_q, i) => Array.from(a.slice((h * n + i) * m, (h * n + i + 1) * m)))));
    return { model: name, text: this.now.text, tokens: source.texts, ids: source.ids, weights, logits: Array.from(logits) };
  }
}

/** @param {string[]} letters @param {number} from @param {number} to @param {string} word */
function put(letters, from, to, word) {
  const space = /^\s/.test(letters.slice(from, to).join("")) ? " " : "";
  return letters.slice(0, from).join("") + space + word.trim() + letters.slice(to).join("");
}
