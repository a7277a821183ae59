// The board of the model under training, as it is at the moment that is shown: folded until somebody opens it, or presses a cell of the map.
import { modeOf } from "../../board/js/mode.js";
import { element } from "../../live/js/element.js";
import { LiveBoard } from "../../live/js/home.js";

/** @typedef {import("./training.js").Shown} Shown */

const REST = 2500; // milliseconds between two drawings while it trains

export class MomentBoard {
  /** @param {HTMLElement} root @param {(what: string, given: any) => Promise<any>} ask the training, after what was asked before
   * @param {"light" | "dark" | null} [mode] */
  constructor(root, ask, mode) {
    this.frame = root.appendChild(element("section", "board opened")); // beside the training, whose style is no board's
    this.fold = this.frame.appendChild(element("details", ""));
    this.title = this.fold.appendChild(element("summary", "", "The board of this model"));
    this.place = this.fold.appendChild(element("div", ""));
    this.ask = ask;
    this.drawn = 0;
    /** @type {LiveBoard | null} */
    this.live = null;
    /** @type {Shown | null} */
    this.example = null;
    this.fold.ontoggle = () => this.fold.open && void this.#drawn();
    this.dress(mode);
  }

  /** Another model: its board begins anew. @param {Shown} example */
  begin(example) {
    this.end();
    this.example = example;
    if (this.fold.open) void this.#drawn();
  }

  /** The model has other weights now. @param {number} step @param {boolean} running whether others follow soon: the page has to answer meanwhile */
  at(step, running) {
    if (running && performance.now() - this.drawn < REST) return;
    this.drawn = performance.now();
    this.title.textContent = `The board of this model, at step ${step.toLocaleString("en")}`;
    if (this.fold.open) void this.live?.again();
  }

  /** One token of an example. @param {Shown} example @param {number} number of its guesses */
  async open(example, number) {
    const { text, target, rows } = example;
    this.example = example;
    this.fold.open = true;
    await this.#drawn();
    await this.live?.again({ text, target, edits: [] });
    this.live?.write();
    const board = this.live?.board;
    if (target === null && board) {
      board.held = [];
      board.turnTo(rows[number]);
      board.hold(false); // the pointer may rest on the board next
    }
    this.fold.scrollIntoView({ block: "start" });
  }

  /** The board, once it is drawn. */
  async #drawn() {
    if (!this.live && this.example) {
      const { text, target } = this.example, header = this.ask("header", null), ask = this.ask;
      this.live = new LiveBoard(this.place, /** @type {any} */ ({ header, ask }), { text, target, mode: this.mode, view: { station: "softmax" } });
    }
    await this.live?.ready;
  }

  /** @param {"light" | "dark" | null | undefined} mode */
  dress(mode) {
    this.mode = mode;
    this.frame.dataset.mode = modeOf(mode);
    const board = this.live?.board;
    if (board) Object.assign(board.options, { mode });
    board?.draw();
  }

  /** Another model, or none: its board is gone. */
  end() {
    this.live?.end();
    this.live = null;
    this.place.replaceChildren();
  }
}
