// A live decoder: a prompt, a strategy, and a text that grows token by token, each with what could have been written instead.
import { beamsOf, candidatesOf, sentenceOf } from "./candidates.js";
import { element } from "./element.js";
import { modeOf, whenTurned } from "../../board/js/mode.js";

/** @typedef {import("./decoding.js").Step} Step */
/** @typedef {"greedy" | "sample" | "beam"} Way */
/** @typedef {{title: string, value: number, min: number, max: number, step: number}} Setting */

const PAUSE = 700, SETTLED = 150; // milliseconds between two steps while it plays, and after a key before the prompt is read

/** @typedef {{ask: (what: string, given: any) => Promise<any>}} Asked a model, here or in a worker */
/** @typedef {{name: string, config: any}} Header */
/** @type {Record<Way, {title: string, settings: string[]}>} */
const STRATEGIES = {
  greedy: { title: "Greedy: the most probable token", settings: [] },
  sample: { title: "Sampling: a token by chance", settings: ["temperature", "top_k", "top_p", "seed"] },
  beam: { title: "Beams: several texts side by side", settings: ["beams"] },
};
/** @type {Record<string, Setting>} */
const SETTINGS = {
  temperature: { title: "Temperature", value: 1, min: 0.1, max: 3, step: 0.1 },
  top_k: { title: "Top k (0: all)", value: 0, min: 0, max: 200, step: 1 },
  top_p: { title: "Top p (1: all)", value: 1, min: 0.05, max: 1, step: 0.05 },
  seed: { title: "Seed", value: 0, min: 0, max: 9999, step: 1 },
  beams: { title: "Beams", value: 4, min: 1, max: 8, step: 1 },
  max_tokens: { title: "Tokens at most", value: 20, min: 1, max: 100, step: 1 },
};

let count = 0; // of decodings that were begun on this page

/** A model that writes, in one element. */
export class LiveDecoder {
  /** @param {HTMLElement} root @param {Asked} engine @param {Header} header
   * @param {{text: string, mode?: "light" | "dark" | null, show?: (prompt: string, step: Step) => void}} begin `show` puts a text on a board */
  constructor(root, engine, { name, config }, { text, mode, show }) {
    this.engine = engine;
    this.own = config.family === "decoder"; // it goes on with a text of its own
    this.run = 0;
    this.queue = Promise.resolve();
    this.steps = /** @type {Step[]} */ ([]);
    this.at = -1;
    this.playing = false;
    this.timer = /** @type {any} */ (0);
    this.frame = root.appendChild(element("section", "board decoder"));
    this.frame.setAttribute("aria-label", `${name} writes, token by token`);
    this.frame.append(element("h3", "title", this.own ? "Let it go on with a text" : "Let it write for a text"));
    const turn = () => (this.frame.dataset.mode = modeOf(mode));
    turn();
    this.unturned = whenTurned(turn);
    this.prompt = this.#promptBox(text);
    this.choice = this.#choices();
    this.buttons = this.#player(show);
    this.written = this.frame.appendChild(element("p", "written"));
    this.status = this.frame.appendChild(element("p", "says"));
    this.status.setAttribute("aria-live", "polite");
    this.tables = this.frame.appendChild(element("div", "tables"));
    this.frame.onkeydown = (event) => this.#key(event);
    this.begin();
  }

  /** @param {string} text */
  #promptBox(text) {
    const label = this.frame.appendChild(element("label", "prompt", this.own ? "Prompt" : "Text for the encoder")), box = document.createElement("input");
    label.append(box);
    Object.assign(box, { value: text, type: "text", autocomplete: "off", spellcheck: false, maxLength: 2000, dir: "auto" });
    box.oninput = () => this.#soon();
    return box;
  }

  /** The strategy and its numbers. */
  #choices() {
    const row = this.frame.appendChild(element("div", "bar settings")), select = document.createElement("select");
    select.setAttribute("aria-label", "Strategy");
    for (const [way, { title }] of Object.entries(STRATEGIES)) select.append(new Option(title, way));
    row.append(select);
    const boxes = Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, this.#number(row, setting)]));
    select.onchange = () => this.begin();
    return { select, boxes };
  }

  /** @param {HTMLElement} row @param {Setting} setting */
  #number(row, { title, ...setting }) {
    const label = row.appendChild(element("label", "setting", title)), box = document.createElement("input");
    Object.assign(box, { type: "number", inputMode: "decimal", ...Object.fromEntries(Object.entries(setting).map(([name, value]) => [name, String(value)])) });
    label.append(box);
    box.oninput = () => this.#soon();
    return box;
  }

  /** The buttons and the slider. @param {((prompt: string, step: Step) => void) | undefined} show */
  #player(show) {
    const bar = this.frame.appendChild(element("div", "bar player"));
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ press, name = "") => {
      const created = /** @type {HTMLButtonElement} */ (bar.appendChild(element("button", name, text)));
      Object.assign(created, { type: "button", title: label, onclick: press });
      if (!/\p{L}/u.test(text)) created.setAttribute("aria-label", label);
      return created;
    };
    const play = button("▶", "Play (space)", () => this.play(!this.playing), "play");
    button("◀", "One token back (←)", () => this.show(this.at - 1));
    button("▶|", "One token on (→)", () => this.step());
    button("▶▶", "To the end (End)", () => this.finish());
    button("Again", "Begin again (Home)", () => this.begin());
    const slider = /** @type {HTMLInputElement} */ (bar.appendChild(element("input", "moment")));
    Object.assign(slider, { type: "range", min: "1", max: "1", value: "1", oninput: () => this.show(Number(slider.value) - 1) });
    slider.setAttribute("aria-label", "Token");
    if (show) button("Show on the board", "Let the board read this text", () => this.at >= 0 && show(this.prompt.value, this.steps[this.at]));
    return { play, slider };
  }

  /** The chosen strategy. @returns {Way} */
  get way() {
    return /** @type {Way} */ (this.choice.select.value);
  }

  /** The numbers of the strategy, each inside its limits. */
  settings() {
    const wanted = [...STRATEGIES[this.way].settings, "max_tokens"];
    const numbers = wanted.map((name) => {
      const { min, max, value, step } = SETTINGS[name], written = Number.parseFloat(this.choice.boxes[name].value);
      const inside = Math.min(max, Math.max(min, Number.isFinite(written) ? written : value));
      return /** @type {[string, number]} */ ([name, step === 1 ? Math.round(inside) : inside]);
    });
    return Object.fromEntries(numbers.filter(([name, value]) => name !== "top_p" || value < 1));
  }

  /** Begin when typing rests. */
  #soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.begin(), SETTLED);
  }

  /** Nothing written yet but the first token. */
  begin() {
    clearTimeout(this.waiting);
    this.play(false);
    for (const [name, box] of Object.entries(this.choice.boxes)) /** @type {HTMLElement} */ (box.parentElement).hidden = name !== "max_tokens" && !STRATEGIES[this.way].settings.includes(name);
    const run = (this.run = ++count), given = { run, text: this.prompt.value, way: this.way, settings: this.settings() };
    this.steps = [];
    this.at = -1;
    this.tables.replaceChildren();
    this.#write();
    this.queue = this.engine.ask("begin", given).then(() => this.#next(run));
  }

  /** One token on: a step that was taken before, or the next one. */
  step() {
    if (this.at + 1 < this.steps.length) return this.show(this.at + 1);
    const { run } = this;
    this.queue = this.queue.then(() => this.#next(run));
    return this.queue;
  }

  /** The next step of a decoding, unless another was begun meanwhile. What the model cannot do is said in a sentence. @param {number} run */
  async #next(run) {
    if (run !== this.run || this.steps[this.steps.length - 1]?.stopped) return;
    try {
      const { value } = await this.engine.ask("step", run);
      if (run !== this.run || !value) return;
      this.steps.push(value);
      this.show(this.steps.length - 1);
    } catch (error) {
      if (run === this.run) this.status.textContent = String(/** @type {any} */ (error).message ?? error);
    }
  }

  /** Whether there is a step after the one that is shown. */
  get open() {
    return this.at + 1 < this.steps.length || Boolean(this.steps.length && !this.steps[this.steps.length - 1].stopped);
  }

  /** Every step that is left. */
  async finish() {
    this.play(false);
    const { run } = this;
    if (this.steps.length) this.show(this.steps.length - 1);
    while (run === this.run && this.open) await this.step();
  }

  /** Step after step, or rest. @param {boolean} on */
  play(on) {
    clearTimeout(this.timer);
    this.playing = on && this.open;
    this.buttons.play.textContent = this.playing ? "❚❚" : "▶";
    this.buttons.play.setAttribute("aria-label", this.playing ? "Pause (space)" : "Play (space)");
    if (!this.playing) return;
    this.timer = setTimeout(async () => {
      await this.step();
      this.play(this.playing);
    }, PAUSE);
  }

  /** A step that was taken. @param {number} at */
  show(at) {
    if (!this.steps.length) return;
    this.at = Math.max(0, Math.min(this.steps.length - 1, at));
    const step = this.steps[this.at];
    Object.assign(this.buttons.slider, { max: String(this.steps.length), value: String(this.at + 1) });
    this.#write(step);
    this.status.textContent = sentenceOf(step, this.way);
    this.tables.replaceChildren(candidatesOf(step, this.way), ...(this.way === "beam" ? [beamsOf(step)] : []));
  }

  /** Leave nothing behind. */
  end() {
    this.play(false);
    clearTimeout(this.waiting);
    this.unturned();
    this.run = 0;
    this.frame.remove();
  }

  /** The prompt, and what is written after it. @param {Step} [step] */
  #write(step) {
    const { value } = this.prompt, whole = step?.whole ?? "", text = this.own ? (step?.text.trim() ?? "") : whole;
    const space = whole.endsWith(text) && !/\s$/.test(whole.slice(0, whole.length - text.length)) ? "" : " "; // a token may go on with a word
    this.written.replaceChildren(...(this.own ? [element("span", "", value), space] : []), element("strong", "", text));
    for (const part of this.written.children) /** @type {HTMLElement} */ (part).dir = "auto";
  }

  /** Keys, except in a box that takes them itself. @param {KeyboardEvent} event */
  #key(event) {
    const at = /** @type {HTMLElement} */ (event.target), box = at.matches("input, select"), key = event.key;
    if (box || event.ctrlKey || event.metaKey || event.altKey || (key === " " && at.matches("button"))) return;
    /** @type {Record<string, () => unknown>} */
    const acts = { ArrowRight: () => this.step(), ArrowLeft: () => this.show(this.at - 1), " ": () => this.play(!this.playing), Home: () => this.begin(), End: () => this.finish() };
    if (!(key in acts)) return;
    event.preventDefault();
    acts[key]();
  }
}
