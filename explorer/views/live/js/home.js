// The home of a live model in a file: a sentence that can be typed, and the board of it. Nothing is asked of anybody else.
import { Board } from "./board.js";
import { LiveModel, Session } from "./live.js";
import { say } from "./parts.js";

/** @typedef {{text: string, target: string | null, edits?: any[], view?: any, mode?: "light" | "dark" | null}} Beginning */

/** One sentence, read by a live model, on a board. */
class LiveBoard {
  /** @param {HTMLElement} root @param {Uint8Array} bytes the model @param {Beginning} begin */
  constructor(root, bytes, { text, target, edits = [], view, mode }) {
    root.replaceChildren();
    const form = root.appendChild(document.createElement("form")), place = root.appendChild(document.createElement("div"));
    form.className = "typed";
    this.session = new Session(new LiveModel(bytes), text, target, edits);
    const silence = (/** @type {any} */ what) => this.answer(what), { header, config } = this.session.model;
    const options = { mode, view, ask: silence, silence, mask: header.mask, force: config.family !== "encoder-decoder", replace: true };
    this.board = new Board(place, this.session.model.board(this.session.found), options);
    this.source = this.#box(form, "Your sentence", text, (typed) => this.type(typed));
    this.target = target === null ? null : this.#box(form, "The decoder's sentence", target, (typed) => this.change({ target: typed, edits: [] }));
    form.onsubmit = (event) => event.preventDefault();
  }

  /** A box that is read as soon as typing rests for a moment. @param {HTMLElement} form @param {string} name @param {string} value @param {(typed: string) => void} read */
  #box(form, name, value, read) {
    const label = form.appendChild(document.createElement("label")), box = document.createElement("input");
    label.append(name, box);
    Object.assign(box, { value, type: "text", autocomplete: "off", spellcheck: false, maxLength: 2000, dir: "auto" });
    box.oninput = () => {
      cancelAnimationFrame(this.waiting ?? 0);
      this.waiting = requestAnimationFrame(() => read(box.value));
    };
    return box;
  }

  /** What is read is what is written in the box. @param {HTMLInputElement | null} box @param {string} text */
  #write(box, text) {
    if (box && box.value !== text) box.value = text;
  }

  /** Another sentence. @param {string} text */
  type(text) {
    return this.#shown(() => this.session.type(text));
  }

  /** @param {any} changed */
  change(changed) {
    return this.#shown(() => this.session.change(changed));
  }

  /** What a hand asked for on the board. @param {any} asked */
  answer(asked) {
    return this.#shown(() => this.session.answer(asked));
  }

  /** Read, and draw what was found; or say why not. @param {() => any} read */
  #shown(read) {
    try {
      const found = read();
      this.board.give(this.session.model.board(found), this.board.data ? this.board.view() : undefined);
      this.#write(this.source, this.session.now.text);
      this.#write(this.target, this.session.now.target ?? "");
      if (found.note) say(this.board.parts.gap, found.note);
      return true;
    } catch (error) {
      say(this.board.parts.gap, String(/** @type {any} */ (error).message ?? error));
      return false;
    }
  }
}

/** Put a live board into an element, and into the list that scripts and tests find at `explorerBoards`. @param {HTMLElement} root @param {Uint8Array} bytes
 * @param {Beginning} begin */
export function mountLive(root, bytes, begin) {
  const live = new LiveBoard(root, bytes, begin), list = (/** @type {any} */ (globalThis).explorerBoards ??= []);
  list.push({
    type: async (/** @type {string} */ text) => live.type(text),
    edit: async (/** @type {any[]} */ edits) => live.change({ edits }),
    answer: async (/** @type {any} */ asked) => live.answer(asked),
    write: async (/** @type {string} */ text, /** @type {any} */ way, /** @type {any} */ settings) => [...live.session.model.write(text, way, settings)],
    encode: (/** @type {string} */ text) => live.session.model.tokenizer.encode(text),
    trace: () => live.session.found.trace,
    state: () => live.session.state(),
  });
  return live;
}
