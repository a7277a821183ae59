// A board of a live model: what is typed is read in the page, and what hands ask for is done there. Nothing is asked of anybody else.
import { Board } from "../../board/js/board.js";
import { say } from "../../board/js/parts.js";
import { LiveDecoder } from "./decoder.js";
import { Directions } from "./directions.js";
import { Engine } from "./engine.js";
import { Session } from "./session.js";

/** @typedef {{text: string, target: string | null, edits?: any[], both?: boolean, decoding?: import("../../board/js/data.js").Moment[], view?: any, mode?: "light" | "dark" | null, writes?: boolean}} Beginning `writes`: with a decoder below */
/** @typedef {{boxes?: boolean, rested?: (now: import("./session.js").State) => void, options?: any}} Home  whether it has boxes of its own; who is told when
 * hands rest; more options of the board */

const FIRST = 16; // tokens that an encoder–decoder writes for the board's first sentence
const REST = 600; // milliseconds without a change before the rest of a page follows

/** One sentence, read by a live model, on a board. */
export class LiveBoard {
  /** @param {HTMLElement} root @param {Engine} engine @param {Beginning} begin @param {Home} [home] */
  constructor(root, engine, begin, home = {}) {
    const { text, target, edits = [], both = false } = begin;
    this.begin = begin;
    this.home = home;
    this.session = new Session(engine, { text, target, edits }, both);
    /** @type {Board | null} */
    this.board = null;
    /** @type {Directions | null} */
    this.directions = null; // of an ELMo, which has no attention
    /** @type {any} */
    this.resting = 0;
    root.replaceChildren();
    const form = root.appendChild(document.createElement("form"));
    this.line = root.appendChild(document.createElement("p"));
    this.words = this.line.appendChild(document.createElement("span"));
    this.back = this.line.appendChild(document.createElement("button"));
    this.place = root.appendChild(document.createElement("div"));
    form.className = "typed";
    form.onsubmit = (event) => event.preventDefault();
    this.line.className = "typed-said";
    this.words.setAttribute("role", "status");
    Object.assign(this.back, { type: "button", textContent: "Undo the last change", onclick: () => this.answer({ what: "undo" }) });
    this.#say("Opening the model …");
    const boxes = home.boxes ?? true;
    this.source = boxes ? this.#box(form, "Your sentence", text, (typed) => this.type(typed)) : null;
    this.target = boxes && target !== null && !both ? this.#box(form, "The decoder's sentence", target, (typed) => this.change({ target: typed, edits: [] })) : null;
    this.ready = this.#shown(this.session.read(this.session.now));
  }

  /** A box that is read at the next frame. @param {HTMLElement} form @param {string} name @param {string} value @param {(typed: string) => void} read */
  #box(form, name, value, read) {
    const label = form.appendChild(document.createElement("label")), box = document.createElement("input");
    let waiting = 0;
    label.append(name, box);
    box.onchange = () => void (box.scrollLeft = 0); // the sentence from its start
    Object.assign(box, { value, type: "text", autocomplete: "off", spellcheck: false, maxLength: 2000, dir: "auto" });
    box.oninput = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => read(box.value));
    };
    return box;
  }

  /** Another sentence. @param {string} text */
  type(text) {
    return this.#shown(this.session.type(text));
  }

  /** @param {Partial<import("./session.js").State>} changed */
  change(changed) {
    return this.#shown(this.session.change(changed));
  }

  /** Read the same once more, as the model has changed, or something else that is no change by a hand. @param {import("./session.js").State} [next] */
  again(next) {
    return this.#shown(next ? this.session.read(next, []) : this.session.read(this.session.wanted));
  }

  /** What a hand asked for on the board. @param {any} asked */
  async answer(asked) {
    const done = await this.#shown(this.session.answer(asked), true, asked.view);
    clearTimeout(this.resting);
    if (done) this.resting = setTimeout(() => this.home.rested?.(this.session.now), REST);
    return done;
  }

  /** Draw what was found, or say why not; whether this was the newest question, and had an answer. @param {Promise<any>} reading @param {boolean} [writes] into the boxes
   * @param {any} [view] where the board is then, if not where it is */
  async #shown(reading, writes = false, view = undefined) {
    try {
      const found = await reading;
      if (!found) return false;
      const { text, target, decoding } = this.begin, { now } = this.session;
      this.#draw(now.text === text && now.target === target ? { ...found.data, decoding } : found.data, view);
      if (writes) this.write();
      this.#say([found.note, ...found.labels.length ? [`Edited: ${found.labels.join("; ")}.`] : []].filter(Boolean).join(" "));
      return true;
    } catch (error) {
      this.#say(String(/** @type {any} */ (error).message ?? error));
      return false;
    }
  }

  /** @param {any} data of a board, or of the directions of an ELMo @param {any} [at] where the board is then */
  #draw(data, at) {
    if (data.sides) return this.#drawDirections(data);
    if (this.board) return at ? this.board.give(data, at) : this.#again(data);
    const ask = (/** @type {any} */ what) => void this.answer(what), { mask, config } = /** @type {any} */ (this.session.header), { view, mode } = this.begin;
    this.board = new Board(this.place, data, { mode, view, ask, silence: ask, mask, force: config.family !== "encoder-decoder", replace: true, ...this.home.options });
  }

  /** The board stays where it is; where other tokens stand in the place of its pair, it points at another pair. @param {any} data */
  #again(data) {
    const { board } = this, { row, col } = board.cursor, reads = board.rows[row], read = board.cols[col];
    board.give(data, board.view());
    const stays = board.rows[row] === reads;
    if (!stays || board.cols[col] !== read) board.visit({ ...board.view(), row: stays ? row : undefined, col: undefined });
  }

  /** @param {import("./boarded.js").Sides} data */
  #drawDirections(data) {
    if (this.directions) this.directions.give(data);
    else this.directions = new Directions(this.place, data, { ...this.begin, ...this.home.options });
  }

  /** What is read is what is written in the boxes. */
  write() {
    const { text, target } = this.session.now;
    if (this.source && this.source.value !== text) this.source.value = text;
    if (this.target && this.target.value !== target) this.target.value = target ?? "";
  }

  /** A sentence above the board, and the way back where a hand changed something. @param {string} text */
  #say(text) {
    this.back.hidden = !this.session.before.length;
    this.line.hidden = !text && this.back.hidden;
    this.words.hidden = !text;
    say(this.words, text);
  }

  /** Leave nothing behind; the model stays open for the next board. */
  end() {
    clearTimeout(this.resting);
    this.board?.end();
    this.directions?.end();
  }
}

/** Every board of the page, for its scripts and for tests. @returns {any[]} */
const boards = () => ((/** @type {any} */ (globalThis)).explorerBoards ??= []);

/** Put a live board into the list `explorerBoards`, once it is drawn; what comes back takes it out again. @param {LiveBoard} live */
export function listed(live) {
  const entry = {
    engine: live.session.engine,
    type: (/** @type {string} */ text) => live.type(text),
    edit: (/** @type {any[]} */ edits) => live.change({ edits }),
    answer: (/** @type {any} */ asked) => live.answer(asked),
    write: (/** @type {string} */ text, /** @type {string} */ way, /** @type {any} */ settings) => live.session.engine.ask("write", { text, way, settings }),
    encode: (/** @type {string} */ text) => live.session.engine.ask("encode", text),
    state: () => live.session.state(),
  };
  void live.ready.then((drawn) => drawn && boards().push(entry));
  return () => {
    const at = boards().indexOf(entry);
    if (at >= 0) boards().splice(at, 1);
  };
}

/** What the decoder beside an encoder reads: what was given, or what it writes itself for this text. @param {Engine} engine @param {Beginning} begin */
async function targetOf(engine, { text, target, writes }) {
  const { config } = writes && !target ? await engine.header : { config: {} };
  if (config.family !== "encoder-decoder") return target;
  const steps = await engine.ask("write", { text, way: "greedy", settings: { max_tokens: FIRST } });
  return steps.pop()?.whole ?? "";
}

/** A decoder of the same model below a board, which reads what was written when it is asked to; what comes back takes it out again.
 * @param {HTMLElement} root @param {LiveBoard} live @param {Beginning} begin */
async function writeBelow(root, live, { text, mode }) {
  const { engine } = live.session, header = await engine.header;
  if (!header.writes) return () => {};
  const show = async (/** @type {string} */ prompt, /** @type {import("./decoding.js").Step} */ step) => {
    const state = header.config.family === "decoder" ? { text: step.whole ?? "", edits: [] } : { text: prompt, target: step.whole ?? "", edits: [] };
    if (await live.change(state)) live.write();
    root.scrollIntoView({ block: "start" });
  };
  return listedDecoder(new LiveDecoder(root, engine, header, { text, mode, show }));
}

/** Put a decoder into the list `explorerDecoders`; what comes back ends it and takes it out again. @param {LiveDecoder} decoder */
export function listedDecoder(decoder) {
  const list = (/** @type {any} */ (globalThis)).explorerDecoders ??= [];
  list.push(decoder);
  return () => {
    decoder.end();
    list.splice(list.indexOf(decoder), 1);
  };
}

/** A live board in an element, with a decoder below it where that is wanted; and what leaves nothing of them behind. @param {HTMLElement} root
 * @param {Uint8Array | Promise<Uint8Array>} bytes the model @param {Beginning} begin @param {Home} [home] */
export async function openLive(root, bytes, begin, home) {
  const engine = new Engine(bytes), target = await targetOf(engine, begin).catch(() => begin.target); // what is wrong is said by the board
  const live = new LiveBoard(root, engine, { ...begin, target }, home), gone = listed(live), drawn = await live.ready;
  const unwritten = drawn && begin.writes ? await writeBelow(root, live, begin) : () => {};
  return { live, end: () => [unwritten, gone, () => engine.end(), () => live.end()].forEach((leave) => leave()) };
}

/** A live board in an element, once it is drawn. @param {HTMLElement} root @param {Uint8Array | Promise<Uint8Array>} bytes the model @param {Beginning} begin */
export async function mountLive(root, bytes, begin) {
  return (await openLive(root, bytes, begin)).live;
}
