// A decoder: a prompt, a strategy, and a text that grows token by token, with what could have been written instead.
import { branchesOf, columnOf, lightText, sizeOf, treeOf } from "./branches.js";
import { askedIn, candidateSentence, finishedOf, sentenceOf } from "./candidates.js";
import { element } from "./element.js";
import { fanOf, rowsOf } from "./fan.js";
import { modeOf, whenTurned } from "../../board/js/mode.js";
import { calm, Moving } from "../../stage/js/moving.js";
import { Player, signed } from "../../stage/js/player.js";
import { tipsOf } from "../../stage/js/tip.js";

/** @typedef {import("./decoding.js").Step} Step */
/** @typedef {"greedy" | "sample" | "beam"} Way */
/** @typedef {{title: string, value: number, min: number, max: number, step: number}} Setting */
/** `ways` are offered, `fixed` are settings that the page chose, `force` the tokens that the text begins with, `boxes` is whether there is one for the prompt, and
 * `waits` whether the page answers what a hand chose. `show` puts a text on a board; `forced` and `chosen` are told what a hand forced and chose.
 * @typedef {{text: string, mode?: "light" | "dark" | null, ways?: Way[], way?: Way, fixed?: Record<string, number>, settings?: Record<string, number>, force?: number[], boxes?: boolean, waits?: boolean, large?: boolean,
 *   show?: (prompt: string, step: Step) => void, forced?: (ids: number[]) => void, chosen?: (way: Way, settings: Record<string, any>) => void}} Writing */

const LARGE = 2, WIDE = 1.25, NARROW = 700, TALL = 0.6; // a tree: times its usual size on a wall and on a page, the pixels of a narrow one, its share of the height of a wall until what stands around it is measured
const SETTLED = 150; // milliseconds after a key before the prompt is read

/** @typedef {{ask: (what: string, given: any) => Promise<any>}} Asked a model, here or in a worker */
/** @typedef {{name: string, config: any}} Header */
/** @type {Record<Way, {title: string, settings: string[]}>} */
const STRATEGIES = {
  greedy: { title: "Greedy: the most probable token", settings: [] },
  sample: { title: "Sampling: a token drawn at random", settings: ["temperature", "top_k", "top_p", "seed"] },
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

const FILLS = 4, ROOMY = 1.35, CLEAR = 12; // tokens that a tree begins with, how much wider its columns are on a wall, pixels below all of it there
const AHEAD = 1500; // milliseconds in which a search is run to its end, so that its tree has one scale from its beginning
let count = 0; // of decodings that were begun on this page

/** A model that writes, in one element. */
export class LiveDecoder {
  /** @param {HTMLElement} root @param {Asked} engine @param {Header} header @param {Writing} writing */
  constructor(root, engine, { name, config }, writing) {
    this.engine = this.writer = engine;
    this.writing = writing;
    this.own = config.family === "decoder"; // it goes on with a text of its own
    this.run = 0;
    this.queue = Promise.resolve();
    this.steps = /** @type {Step[]} */ ([]);
    this.coming = /** @type {Step[]} */ ([]); // steps of a search that are computed, and not taken yet
    this.high = 0; // pixels that a wall has for a tree; 0 until it is measured
    this.at = -1;
    this.over = false; // whether nothing comes after the steps so far
    this.wide = 0; // pixels of the room of a tree, as it was drawn
    this.drawn = ""; // its size
    this.held = "";
    this.force = writing.force ?? [];
    this.gliding = /** @type {(() => void) | null} */ (null); // ends the first half of a motion
    this.frame = root.appendChild(element("section", `board decoder${writing.boxes === false ? " bare" : ""}`));
    this.frame.setAttribute("aria-label", `${name} writes, token by token`);
    const turn = () => (this.frame.dataset.mode = modeOf(this.writing.mode));
    turn();
    this.unturned = whenTurned(turn);
    const boxes = writing.boxes ?? true;
    if (boxes) this.frame.append(element("h3", "title", this.own ? "Let it continue a text" : "Let it write for a text"));
    this.prompt = boxes ? this.#promptBox(writing.text) : { value: writing.text };
    this.choice = this.#choices();
    this.player = new Player(this.frame, this, "token");
    if (!boxes) this.player.everywhere();
    signed(this.player.bar, "Again", "Begin again (Home)", () => this.begin());
    const { show } = writing;
    if (show) signed(this.player.bar, "Show on the board", "Let the board read this text", () => this.at >= 0 && show(this.prompt.value, this.steps[this.at]));
    const line = this.frame.appendChild(element("div", "bar line"));
    this.status = line.appendChild(element("p", "says"));
    this.status.setAttribute("aria-live", "polite");
    this.instead = signed(line, "Write it here", "Force this token and continue from it", () => this.#forceHeld());
    this.released = signed(line, "Without forced tokens", "Let the strategy choose every token", () => this.forceTokens([]));
    this.stage = new Moving(this.frame.appendChild(element("div", "moving")));
    tipsOf(this.frame, this.stage.root);
    this.stage.root.onpointerover = ({ target }) => lightText(this.stage.known, target);
    this.stage.root.onpointerleave = () => lightText(this.stage.known, null);
    this.instead.hidden = this.released.hidden = true;
    this.tables = this.frame.appendChild(element("div", "tables"));
    this.watch = new ResizeObserver(() => this.#fits());
    this.watch.observe(this.stage.root);
    this.#opens();
  }

  /** @param {string} text */
  #promptBox(text) {
    const label = this.frame.appendChild(element("label", "prompt", this.own ? "Prompt" : "Text for the encoder")), box = document.createElement("input");
    label.append(box);
    Object.assign(box, { value: text, type: "text", autocomplete: "off", spellcheck: false, maxLength: 2000, dir: "auto" });
    box.oninput = () => this.type(box.value);
    return box;
  }

  /** The strategy and its numbers, but for what the page chose. */
  #choices() {
    const { ways = /** @type {Way[]} */ (Object.keys(STRATEGIES)), way = ways[0], fixed = {}, settings = {} } = this.writing;
    const row = this.frame.appendChild(element("div", "bar settings")), select = row.appendChild(document.createElement("select"));
    select.setAttribute("aria-label", "Strategy");
    for (const name of ways) select.append(new Option(STRATEGIES[name].title, name, name === way, name === way));
    select.hidden = ways.length < 2;
    const boxes = Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, this.#number(row, { ...setting, value: fixed[name] ?? settings[name] ?? setting.value })]));
    select.onchange = () => this.#chosen();
    return { row, select, boxes };
  }

  /** @param {HTMLElement} row @param {Setting} setting */
  #number(row, { title, ...setting }) {
    const label = row.appendChild(element("label", "setting", title)), box = document.createElement("input");
    Object.assign(box, { type: "number", inputMode: "decimal", ...Object.fromEntries(Object.entries(setting).map(([name, value]) => [name, String(value)])) });
    label.append(box);
    box.oninput = () => this.#soon(() => this.#chosen());
    return box;
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

  /** A hand chose another strategy or another number. */
  #chosen() {
    this.#offer();
    if (!this.writing.waits) this.begin();
    this.writing.chosen?.(this.way, this.settings());
  }

  /** Another prompt. @param {string} text */
  type(text) {
    this.prompt.value = text;
    this.force = [];
    this.#soon(() => this.begin());
  }

  /** When typing rests. @param {() => void} act */
  #soon(act) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = 0;
      act();
    }, SETTLED);
  }

  /** The numbers of the chosen strategy. */
  #offer() {
    const { fixed = {} } = this.writing, { select, boxes, row } = this.choice, wanted = STRATEGIES[this.way].settings;
    for (const [name, box] of Object.entries(boxes)) /** @type {HTMLElement} */ (box.parentElement).hidden = name in fixed || (name !== "max_tokens" && !wanted.includes(name));
    row.hidden = select.hidden && [...row.querySelectorAll("label")].every(({ hidden }) => hidden);
  }

  /** What is written, by whom and how. */
  #task() {
    const { fixed = {}, settings = {} } = this.writing;
    return { text: this.prompt.value, way: this.way, settings: { ...settings, ...this.settings(), ...fixed, force: this.force } };
  }

  /** What the page says now: anew from the first token where it is something else, and played where only its settings are. @param {Asked} engine @param {Writing} writing */
  give(engine, writing) {
    const before = JSON.stringify(this.#task()), { select, boxes } = this.choice, anew = writing.waits && engine !== this.engine;
    Object.assign(this, { engine, writing });
    this.frame.dataset.mode = modeOf(writing.mode);
    if (this.waiting) return; // a hand has typed since: that is what begins when it rests
    this.force = writing.force ?? [];
    this.prompt.value = writing.text;
    if (writing.way) select.value = writing.way;
    for (const [name, value] of Object.entries({ ...writing.settings, ...writing.fixed })) if (boxes[name]) boxes[name].value = String(value);
    const other = JSON.stringify(this.#task()) !== before, grows = other && !anew && before.startsWith(`{"text":${JSON.stringify(writing.text)},`);
    if (grows) {
      this.begin();
      this.queue = this.queue.then(() => this.player.play(true));
    } else if (anew || other) this.#opens();
  }

  /** From the first token; a tree with a few, as one alone shows no choice between texts, and on a wall with all of its tokens. */
  #opens() {
    this.begin(this.way !== "beam" ? 0 : this.writing.large ? Infinity : FILLS - 1);
  }

  /** From the first token again, or so many later. */
  begin(later = 0) {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.player.play(false);
    this.#offer();
    this.frame.dataset.way = this.way;
    const run = (this.run = ++count), given = { run, ...this.#task() };
    Object.assign(this, { steps: [], coming: [], high: 0, at: -1, over: false });
    this.writer = this.engine; // another one answers from the next beginning on
    this.queue = this.writer.ask("begin", given).then(() => this.#foresee(run)).then(() => this.#next(run, false, later));
  }

  /** Run a search to its end, as long as that is quick: a tree is drawn for all of its columns. What goes wrong is said when the step is taken. @param {number} run */
  async #foresee(run) {
    const until = performance.now() + AHEAD;
    while (this.way === "beam" && run === this.run && !this.coming.at(-1)?.stopped && performance.now() < until) {
      const { value } = await this.writer.ask("step", run).catch(() => ({}));
      if (!value || run !== this.run) return;
      this.coming.push(value);
    }
  }

  /** Every step that is known: those that were taken, and those to come. */
  get known() {
    return [...this.steps, ...this.coming];
  }

  /** One token on: a step that was taken before, or the next one. @param {boolean} [glides] whether its motion is shown */
  step(glides = true) {
    this.gliding?.();
    if (this.at + 1 < this.steps.length) return this.show(this.at + 1, glides);
    const { run } = this;
    this.queue = this.queue.then(() => this.#next(run, glides));
    return this.queue;
  }

  /** The next step of a decoding, or so many later, unless another was begun meanwhile. What the model cannot do is said in a sentence.
   * @param {number} run @param {boolean} glides @returns {Promise<void>} */
  async #next(run, glides, later = 0) {
    if (run !== this.run || this.over) return;
    try {
      const value = this.coming.shift() ?? (await this.writer.ask("step", run)).value;
      if (run !== this.run) return;
      this.over = Boolean(!value || value.stopped);
      if (!value) return;
      this.steps.push(value);
      if (later && !value.stopped) return this.#next(run, glides, later - 1);
      await this.show(this.steps.length - 1, glides);
    } catch (error) {
      if (run !== this.run) return;
      this.over = true;
      this.#draw(true);
      this.status.textContent = String(/** @type {any} */ (error).message ?? error);
    }
  }

  /** How many steps there are so far. */
  get count() {
    return this.steps.length;
  }

  /** How many steps there are at most. */
  get planned() {
    const { max_tokens: most = 0 } = /** @type {Record<string, any>} */ (this.#task().settings);
    return this.known.at(-1)?.stopped ? this.known.length : Number(most);
  }

  /** Whether there is a step after the one that is shown, or may be: the first is waited for, too. */
  get open() {
    return this.at + 1 < this.steps.length || !this.over;
  }

  /** Every step that is left. */
  async finish() {
    const { run } = this;
    if (this.steps.length) this.show(this.steps.length - 1);
    while (run === this.run && this.open) await this.step(false);
  }

  /** A step that was taken: its candidates first, where its motion is shown, and then what is taken of them. @param {number} at @param {boolean} [glides] */
  async show(at, glides = false) {
    if (!this.steps.length) return;
    this.gliding?.();
    this.at = Math.max(0, Math.min(this.steps.length - 1, at));
    this.player.mark();
    if (glides && !calm()) {
      const { run, at: begun } = this;
      this.#draw(false);
      await new Promise((resolve) => {
        this.gliding = () => resolve(null);
        setTimeout(resolve, this.stage.long);
      });
      this.gliding = null;
      if (run !== this.run || begun !== this.at) return;
    }
    this.#draw(true);
  }

  /** What is to be drawn of this step, before or after a token is taken. @param {boolean} judged */
  #scene(judged) {
    const { steps, at, own, held } = this, prompt = this.prompt.value, rows = this.#rows(), size = this.#size(rows), roomy = this.frame.classList.contains("large") ? ROOMY : 1, column = columnOf(this.#columns(), this.stage.root.clientWidth, roomy * size);
    return { steps, at, judged, own, held, prompt, size, column, rows, hold: (/** @type {string} */ key) => this.hold(key === held ? "" : key) };
  }

  /** A tree is drawn for the width that it has: a wall gives it another one once it is there. */
  #fits() {
    const wide = this.stage.root.clientWidth;
    if (wide !== this.wide) this.high = 0;
    if (wide !== this.wide && this.way === "beam" && this.at >= 0 && !this.gliding) this.#draw(true);
    this.wide = wide;
  }

  /** How many columns a tree has room for: all that may come, so that it is drawn in one size. */
  #columns() {
    return Math.max(this.planned, this.at + 1);
  }

  /** The lowest row of a tree, of all steps that are known. */
  #rows() {
    return this.way === "beam" ? Math.max(0, ...branchesOf(this.known).map(({ row }) => row)) : 0;
  }

  /** How large a tree of so many rows is drawn: on a wall it fills the room while it is small. @param {number} rows */
  #size(rows) {
    const wide = this.stage.root.clientWidth, room = this.frame.classList.contains("large"), most = room ? LARGE : wide < NARROW ? 1 : WIDE;
    return this.way === "beam" ? sizeOf(this.#columns(), rows, wide, room ? this.high || TALL * innerHeight : Infinity, most) : 1;
  }

  /** Draw a tree on a wall once more, for the height that what stands around it leaves. @param {boolean} judged */
  #fills(judged) {
    const tree = this.stage.at("scroller");
    if (!tree || this.high || !this.frame.classList.contains("large")) return;
    this.high = Math.max(1, innerHeight - CLEAR - Math.max(0, this.frame.getBoundingClientRect().top) - this.frame.offsetHeight + tree.offsetHeight);
    this.#draw(judged);
  }

  /** @param {boolean} judged */
  #draw(judged) {
    const scene = this.#scene(judged), beams = this.way === "beam", step = this.steps[this.at], drawn = `${scene.size} ${scene.column}`;
    const settle = () => {
      const list = this.stage.at("scroller");
      if (list) list.scrollLeft = list.scrollWidth;
    };
    this.stage.speed = this.player.speed;
    this.stage.show(beams ? treeOf(scene) : fanOf(scene), settle, beams && drawn !== this.drawn);
    this.drawn = drawn;
    const held = this.#held(), says = judged ? sentenceOf : askedIn;
    this.status.textContent = held ? candidateSentence(held.one, beams ? "kept here" : "") : step ? says(step, this.way) : "";
    this.instead.hidden = !held;
    this.released.hidden = !this.force.length;
    const ended = (judged ? step : this.steps[this.at - 1])?.finished ?? [], all = this.known.at(-1)?.finished ?? []; // while a step comes, what had ended before it stays
    this.tables.replaceChildren(...(beams && (ended.length || all.length) ? [finishedOf(ended, all)] : []));
    this.#fills(judged);
  }

  /** Every object that can be held. */
  #holdable() {
    return this.way === "beam" ? branchesOf(this.steps.slice(0, this.at + 1)) : rowsOf(this.steps, this.at);
  }

  /** The candidate that a hand holds, if this step has it. */
  #held() {
    return this.held ? this.#holdable().find(({ key }) => key === this.held) : undefined;
  }

  /** This step in a few words. */
  says() {
    return `token ${this.at + 1}: ${this.steps[this.at]?.text.trim() ?? ""}`;
  }

  /** Hold an object, which stays marked in every step that has it. @param {string} key */
  hold(key) {
    this.held = key;
    if (this.at >= 0) this.#draw(true);
  }

  free() {
    this.hold("");
  }

  /** Hold the candidate of this step above or below the one that is held. @param {number} by */
  pick(by) {
    const keys = this.#holdable().filter(({ step }) => step === this.at).sort((a, b) => a.row - b.row).map(({ key }) => key), here = keys.indexOf(this.held);
    if (!keys.length) return;
    const next = keys[here < 0 ? 0 : Math.max(0, Math.min(keys.length - 1, here + by))], object = this.stage.at(next);
    this.hold(next);
    (object?.querySelector("button") ?? object)?.focus({ preventScroll: true });
  }

  #forceHeld() {
    const held = this.#held();
    if (held) this.forceTokens(held.ids);
  }

  /** Begin the text with these tokens. @param {number[]} ids */
  forceTokens(ids) {
    this.force = ids;
    this.held = "";
    this.writing.forced?.(ids);
    if (this.writing.waits) return;
    this.begin();
    this.queue = this.queue.then(() => this.#until(ids.length - 1, this.run));
  }

  /** The steps up to this one. @param {number} at @param {number} run */
  async #until(at, run) {
    while (run === this.run && this.at < at && this.open) await this.#next(run, false);
  }

  /** Leave nothing behind. */
  end() {
    this.player.end();
    this.watch.disconnect();
    clearTimeout(this.waiting);
    this.unturned();
    this.run = 0;
    this.frame.remove();
  }
}
