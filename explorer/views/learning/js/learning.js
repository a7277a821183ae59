// A model that is trained in the page: start, pause, one step, back to any moment that was kept, and on from there; save it and open it again.
// A worker beside the page computes. The page asks it for a quarter of a second of training at a time.
import { modeOf, whenTurned } from "../../board/js/mode.js";
import { Engine } from "../../live/js/engine.js";
import { Curves, percent } from "./curves.js";
import { element } from "../../live/js/element.js";
import { Dials } from "./dials.js";
import { examplesOf, writtenList } from "./guesses.js";
import { drawMap } from "./moments.js";
import { MomentBoard } from "./opened.js";
import { copied, hasEnded, runIn, writtenRun } from "./links.js";
import { alike, drawRuns, RUNS } from "./runs.js";
import { DIALS, USUAL } from "./settings.js";

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {import("./training.js").Step} Step */
/** @typedef {import("./training.js").Shown} Shown */
/** @typedef {{settings?: Partial<Settings>, mode?: "light" | "dark" | null, title?: string, address?: string, send?: ((run: string) => void) | null, linked?: import("./links.js").Ended | null,
 * note?: string}} Begin `address`: of this page, before a run; `send`: gives a run to the class; `linked`: the run of the link by which the page was opened */

const TURN = 250, LOOK = 800; // milliseconds of training that are asked for at once, and between two looks at held-out texts
const ELSEWHERE = "training?part=in-the-page&run="; // in a file or a notebook, which have no address for others
const KEPT = 40; // texts that were written
const FAR = 4; // a loss so many times that of uniform guessing has diverged
const MAP = "A column for each token to predict, a row for each check. Darker: more probable. ●: the first check at which it is the most probable token. Press a step to go back to the nearest moment that was kept, or a cell to open the board there. Below, the output layer reads the states inside the model; ●: from here on the prediction stays the same.";
const rounded = (/** @type {number} */ loss) => (loss < 1000 ? loss.toFixed(2) : loss.toPrecision(3));
const count = (/** @type {number} */ number) => number.toLocaleString("en");

export class Learning {
  /** @param {HTMLElement} root @param {Begin} [begin] */
  constructor(root, { settings = {}, mode, title = "", address = ELSEWHERE, send = null, linked = null, note = "" } = {}) {
    this.frame = root.appendChild(element("section", "board learning"));
    this.frame.setAttribute("aria-label", "Train a model in this page");
    const turn = () => (this.frame.dataset.mode = modeOf(this.mode)), seen = () => this.#seen();
    this.mode = mode;
    this.turn = turn;
    turn();
    this.unturned = whenTurned(() => this.#turned());
    document.addEventListener("visibilitychange", seen);
    this.unseen = () => document.removeEventListener("visibilitychange", seen);
    if (title) this.frame.append(element("h1", "title", title));
    this.running = false;
    this.away = document.hidden;
    this.moments = [0];
    this.at = 0;
    this.looked = 0;
    /** @type {Step[]} */
    this.steps = [];
    /** @type {[number, any][]} */
    this.measured = [];
    /** @type {[number, number][]} */
    this.speeds = [];
    /** @type {{step: number, text: string}[]} */
    this.written = [];
    /** @type {import("./runs.js").Run[]} */
    this.runs = []; // those before this one
    this.address = address;
    this.send = send;
    this.note = note;
    this.until = linked?.steps ?? 0;
    this.turned = false; // whether settings changed while it trained
    if (linked) this.#linked(linked);
    const begin = linked?.settings ?? settings, first = /** @type {Settings} */ ({ ...USUAL, ...begin, source: { ...USUAL.source, ...begin.source } });
    this.trained = first;
    this.dials = new Dials(this.frame.appendChild(element("div", "settings")), first, (name) => this.#changed(name));
    this.counted = this.frame.appendChild(element("p", "counted"));
    this.counted.setAttribute("role", "status");
    this.buttons = this.#player();
    this.status = this.frame.appendChild(element("p", "says"));
    this.status.setAttribute("role", "status");
    const halves = this.frame.appendChild(element("div", "halves")), left = halves.appendChild(element("div", "")), right = halves.appendChild(element("div", ""));
    this.curves = { loss: new Curves(left, "Loss", 220), right: new Curves(left, "Right on held-out texts", 110), norm: new Curves(left, "Gradient norm", 96), speed: new Curves(left, "Tokens a second", 96) };
    this.wrote = right.appendChild(element("div", "wrote"));
    this.shown = right.appendChild(element("div", "shown"));
    this.list = this.frame.appendChild(element("div", "listed"));
    this.frame.append(element("p", "heading", "The first of these tokens during training"), element("p", "note", MAP));
    this.map = this.frame.appendChild(element("div", "map"));
    this.board = new MomentBoard(root, (what, given) => this.#ask(() => this.engine.ask(what, given)), mode);
    this.engine = new Engine(/** @type {any} */ (first));
    this.queue = this.ready = this.engine.header.then((state) => this.#begun(state), (error) => this.#refused(error));
  }

  /** Buttons and the slider. */
  #player() {
    const bar = this.frame.appendChild(element("div", "bar player"));
    const button = (/** @type {string} */ text, /** @type {() => void} */ press, name = "") => {
      const created = bar.appendChild(element("button", name, text));
      Object.assign(created, { type: "button", onclick: press });
      return created;
    };
    const start = button("Start", () => (this.running ? this.pause() : this.start()), "play");
    button("One step", () => this.one());
    const again = button("New model", () => this.again());
    const label = bar.appendChild(element("label", "moment", "Moment")), slider = label.appendChild(element("input", ""));
    Object.assign(slider, { type: "range", min: "0", max: "0", value: "0", oninput: () => this.back(this.moments[Number(slider.value)]) });
    const step = label.appendChild(element("output", "", "step 0"));
    button("Copy this run's link", () => this.link());
    if (this.send) button("Send this run to the class", () => this.#sent());
    button("Save the model", () => this.save());
    const open = bar.appendChild(element("label", "open", "Open a model")), file = open.appendChild(element("input", ""));
    Object.assign(file, { type: "file", accept: ".zip", onchange: () => file.files?.[0] && this.open(file.files[0]) });
    return { start, again, slider, step };
  }

  /** One question after the other. @param {() => Promise<any>} question */
  #ask(question) {
    const asked = this.queue.then(question);
    this.queue = asked.catch(() => {});
    return asked;
  }

  /** A model that has not learned yet, or one from a file. @param {any} state */
  #begun(state) {
    if (this.steps.length) this.runs = [...this.runs, this.#run()].slice(1 - RUNS);
    Object.assign(this, { steps: [], measured: [], speeds: [], written: [] });
    this.trained = state.settings;
    this.turned = state.step > 0; // it came from a file
    this.begun = state.step;
    this.#state(state);
    this.board.begin(state.measured.shown[0]);
    this.#count(state);
    this.say([state.note, this.note].filter(Boolean).join(" "));
    this.note = "";
  }

  /** The run that trains, or that ends here. @returns {import("./runs.js").Run} */
  #run() {
    const { steps, measured, described: { task, settings } } = this, last = measured[measured.length - 1]?.[1];
    return { settings, steps: steps[steps.length - 1]?.step ?? this.at, held: measured.map(([step, { loss }]) => [step, loss]), right: task ? last?.exact : last?.right };
  }

  /** @param {any} error */
  #refused(error) {
    this.running = false;
    this.#buttons();
    this.say([error.message ?? error, this.described ? "" : this.note].filter(Boolean).join(" "));
  }

  /** Show what the worker found of a moment. @param {any} state */
  #state(state) {
    this.at = state.step;
    this.moments = state.moments;
    this.described = state;
    this.measured = [...this.measured.filter(([step]) => step !== state.step), /** @type {[number, any]} */ ([state.step, state.measured])].sort((a, b) => a[0] - b[0]);
    if (state.written || state.step) this.written = [...this.written.filter(({ step }) => step !== state.step), ...(state.written ? [{ step: state.step, text: state.written }] : [])].sort((a, b) => a.step - b.step).slice(-KEPT);
    this.#examples(state);
    const followed = state.layers[0].guesses.length, back = (/** @type {number} */ step) => this.back(this.#nearest(step));
    const looks = this.measured.map(([step, { shown }]) => ({ step, guesses: shown.flatMap((/** @type {Shown} */ { guesses }) => guesses).slice(0, followed) }));
    drawMap(this.map, looks, state.layers, state.step, { step: back, cell: (step, column) => back(step).then(() => this.#opened(column)) });
    this.board.at(state.step, this.running);
    this.draw();
  }

  /** The board at a token of the map. @param {number} column */
  #opened(column) {
    const { shown } = this.described.measured, from = (/** @type {number} */ n) => shown.slice(0, n).reduce((/** @type {number} */ sum, /** @type {Shown} */ { guesses }) => sum + guesses.length, 0);
    const example = shown.findIndex((/** @type {Shown} */ { guesses }, /** @type {number} */ n) => column < from(n) + guesses.length);
    return this.board.open(shown[example], column - from(example));
  }

  /** @param {any} state */
  #examples({ task, measured, settings, step }) {
    const heading = task ? `Questions that it was not trained on, at step ${step}` : `Held-out texts, at step ${step}`;
    const says = task ? `${task} ` : settings.family === "encoder" ? "Masked tokens. " : settings.family === "decoder" ? "Each token, predicted from those before it. " : "Masked text → the whole text, each token predicted after the right ones before it. ";
    const right = "Darker: more probable. Underlined: the right token is the most probable; otherwise the most probable one is below it.";
    this.shown.replaceChildren(element("p", "heading", heading), element("p", "note", says + right), examplesOf(measured.shown, Boolean(task)));
    this.wrote.replaceChildren(...(this.written.length ? [element("p", "heading", "What it writes (sampled, temperature 0.6)"), writtenList(this.written)] : []));
  }

  /** The number of weights, at once for what the dials say. @param {any} described */
  #count({ weights, vocabulary, uniform }) {
    const other = this.differs() ? " Press New model to begin with these settings." : "";
    this.counted.textContent = `${count(weights)} weights; a vocabulary of ${count(vocabulary)}; uniform guessing costs ln ${count(vocabulary)} = ${uniform.toFixed(2)}.${other}`;
    this.buttons.again.setAttribute("aria-pressed", String(Boolean(other)));
  }

  /** Whether the dials say something that only a new model can have. */
  differs() {
    const fixed = (/** @type {Settings} */ settings) => JSON.stringify(Object.entries(settings).filter(([name]) => !this.at || !DIALS[name]?.live).sort());
    return fixed(this.dials.get()) !== fixed(this.trained);
  }

  /** A dial was turned. @param {string} name */
  async #changed(name) {
    const settings = this.dials.get();
    if (DIALS[name]?.live && this.at) {
      this.turned = true;
      return void this.#ask(() => this.engine.ask("change", { [name]: /** @type {any} */ (settings)[name] })).catch((error) => this.#refused(error));
    }
    this.#reading(settings);
    try {
      this.#count(await this.#ask(() => this.engine.ask("count", settings)));
      this.say("");
    } catch (error) {
      this.say(String(/** @type {any} */ (error).message ?? error));
    }
  }

  /** A long text takes some seconds to cut into tokens. @param {Settings} settings */
  #reading({ source }) {
    if (source.data === "own") this.say("Reading your text …");
  }

  /** Begin again with new weights. */
  again() {
    this.pause();
    this.#reading(this.dials.get());
    return this.#ask(() => this.engine.ask("again", this.dials.get())).then((state) => this.#begun(state), (error) => this.#refused(error));
  }

  /** Whether there is a model to train; before its first step it is what the dials say. */
  async #ready() {
    if (this.described && (this.at || !this.differs())) return true;
    await this.again();
    return Boolean(this.described) && !this.differs();
  }

  /** Train until somebody pauses. */
  async start() {
    if (this.running || !(await this.#ready()) || this.running) return;
    this.running = true;
    this.#buttons();
    this.say("");
    while (this.running) {
      const left = this.until - this.at;
      await this.#train({ ms: TURN, steps: left > 0 ? left : Infinity });
      if (this.running && left > 0 && this.at >= this.until) this.#arrived();
      if (this.running && performance.now() - this.looked > LOOK) await this.#look();
      if (this.away) await this.#return();
    }
  }

  /** One update, and what it changed. */
  async one() {
    this.pause();
    if (!(await this.#ready())) return;
    await this.#train({ ms: 0, steps: 1 });
    await this.#look();
  }

  pause() {
    if (!this.running) return;
    this.running = false;
    this.#buttons();
    void this.#look();
  }

  /** @param {{ms: number, steps: number}} given */
  async #train(given) {
    try {
      const { done, seconds, moments } = await this.#ask(() => this.engine.ask("train", given)), first = done[0].step;
      for (const name of /** @type {const} */ (["measured", "speeds"])) this[name] = /** @type {any} */ (this[name].filter(([step]) => step < first));
      this.steps = [...this.steps.filter(({ step }) => step < first), ...done];
      this.written = this.written.filter(({ step }) => step < first);
      this.at = done[done.length - 1].step;
      this.moments = moments;
      this.speeds.push([this.at, done.reduce((/** @type {number} */ sum, /** @type {Step} */ { tokens }) => sum + tokens, 0) / seconds]);
      if (!this.#good(this.at)) this.#diverged();
      this.draw();
    } catch (error) {
      this.#refused(error);
    }
  }

  /** Whether the loss of a step is a number that training can go on from. @param {number} at */
  #good(at) {
    const found = this.steps.find(({ step }) => step === at);
    return !found || (Number.isFinite(found.loss) && found.loss < FAR * this.described.uniform);
  }

  /** Say that it has diverged, and offer the last moment whose next loss was good. */
  #diverged() {
    this.running = false;
    this.#buttons();
    const bad = /** @type {Step} */ (this.steps.find(({ step }) => !this.#good(step))), good = Math.max(0, ...this.moments.filter((step) => step + 1 < bad.step)), { loss } = bad;
    const what = Number.isFinite(loss) ? `The loss rose to ${rounded(loss)}, far above uniform guessing` : "The loss is no longer a number";
    this.say(`${what}, at step ${bad.step}: the updates are too large. Choose a lower learning rate.`);
    const back = this.status.appendChild(element("button", "", `Back to step ${good}`));
    Object.assign(back, { type: "button", onclick: () => this.back(good) });
  }

  /** Measure on held-out texts, and let it write. */
  async #look() {
    try {
      const state = await this.#ask(() => this.engine.ask("look", null));
      this.looked = performance.now();
      this.#state(state);
    } catch (error) {
      this.#refused(error);
    }
  }

  /** The moment that was kept nearest to a step. @param {number} step */
  #nearest(step) {
    return this.moments.reduce((best, moment) => (Math.abs(moment - step) < Math.abs(best - step) ? moment : best));
  }

  /** To a moment that was kept; training goes on from there. @param {number} step */
  back(step) {
    this.running = false;
    this.#buttons();
    this.say("");
    return this.#ask(() => this.engine.ask("back", step)).then((state) => this.#state(state), (error) => this.#refused(error));
  }

  /** As many steps as the run of the link: there it pauses, so that the two can be compared. */
  #arrived() {
    this.pause();
    this.say("Paused after as many steps as the run in the link.");
  }

  /** The page was opened by the link of a run: it is the first in the list. @param {import("./links.js").Ended} run */
  #linked({ settings, steps, loss, right, turned }) {
    this.runs = [{ settings, steps, held: [[steps, loss]], right }];
    const text = settings.source.data === "own" ? " The link does not hold its text: paste it below, then press New model." : "";
    const other = turned ? " Settings were changed during that training, so yours will end elsewhere." : "";
    this.note = `Settings from a link: that run ended after ${count(steps)} steps with a held-out loss of ${rounded(loss)}. Start pauses after as many.${other}${text}`;
  }

  /** This run as a link has it, up to its last check; nothing where it has not learned, or where its loss is none. */
  #written() {
    const [steps, found] = this.measured[this.measured.length - 1] ?? [0, null], right = this.described?.task ? found?.exact : found?.right;
    if (found && hasEnded(steps, found.loss)) return writtenRun({ settings: this.trained, steps, loss: found.loss, right, turned: this.turned });
    this.say(steps ? "The loss of this run is no number that can be compared." : "This model has not learned yet. Press Start first.");
    return "";
  }

  /** The link of this run, on the clipboard and to be copied by hand. */
  async link() {
    const written = this.#written();
    if (!written) return;
    const address = this.address === ELSEWHERE ? `${ELSEWHERE}${written}` : new URL(`${this.address}${written}`, location.href).href, done = await copied(address);
    this.say(done ? "Copied: the settings, the seed and the held-out loss of this run." : "Copy this link: the settings, the seed and the held-out loss of this run.");
    const field = /** @type {HTMLInputElement} */ (this.status.appendChild(element("input", "link")));
    Object.assign(field, { type: "text", readOnly: true, value: address, onfocus: () => field.select() });
    field.setAttribute("aria-label", "Link of this run");
    field.focus();
  }

  /** Give this run to the class: its settings and its result, nothing else. */
  #sent() {
    const written = this.#written();
    if (written) this.send?.(written);
  }

  /** Take the model away as a file. */
  async save() {
    const bytes = await this.#ask(() => this.engine.ask("save", null)).catch((error) => this.#refused(error)), link = document.createElement("a");
    if (!bytes) return;
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/zip" }));
    link.download = `${this.trained.family}-step-${this.at}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    this.say(`Saved as ${link.download}. In Python: ex.load("./${link.download}").`);
  }

  /** Go on with a model from a file. @param {File} file */
  async open(file) {
    this.pause();
    const bytes = new Uint8Array(await file.arrayBuffer()), settings = this.dials.get();
    return this.#ask(() => this.engine.ask("restore", { bytes, settings })).then((state) => {
      this.dials.set(state.settings);
      this.#begun(state);
      this.say(`${file.name} is open at step ${state.step}.`);
    }, (error) => this.#refused(error));
  }

  #buttons() {
    this.buttons.start.textContent = this.running ? "Pause" : this.at ? "Go on" : "Start";
  }

  /** The tab was hidden, or is seen again. */
  #seen() {
    this.away = document.hidden;
    if (!document.hidden) this.returned?.();
  }

  /** Wait until the tab is seen. */
  async #return() {
    this.say("Paused while this tab was hidden.");
    await new Promise((resolve) => (this.returned = () => resolve(null)));
  }

  /** What the page has to say. @param {string} text */
  say(text) {
    this.status.textContent = text;
  }

  #turned() {
    this.turn();
    this.board.dress(this.mode);
    if (this.described) this.draw();
  }

  /** Be light or dark as a page says. @param {"light" | "dark" | null} mode */
  dress(mode) {
    this.mode = mode;
    this.#turned();
  }

  /** Everything that follows the steps. */
  draw() {
    const { steps, at, moments, buttons } = this, last = Math.max(at, steps[steps.length - 1]?.step ?? 0), now = this.measured.filter(([step]) => step <= at).pop()?.[1];
    const around = { steps: Math.max(last, ...this.runs.map(({ steps }) => steps)), own: last, at }, { uniform, task } = this.described, spent = steps.find(({ step }) => step === at);
    const near = (/** @type {number} */ value) => Number.isFinite(value) && value < FAR * FAR * uniform; // else a run that diverged leaves a flat line of all that came before
    const series = (/** @type {"loss" | "norm"} */ what) => steps.filter((step) => near(step[what])).map((step) => /** @type {[number, number]} */ ([step.step, step[what]]));
    const held = (/** @type {string} */ what) => this.measured.filter(([, found]) => near(found[what])).map(([step, found]) => /** @type {[number, number]} */ ([step, found[what]]));
    const { loss, right, norm, speed } = this.curves;
    const run = this.#run(), former = this.runs.map(({ held: points, settings }, n) => ({ name: "", colour: "--dim", points: alike(settings, run.settings) ? points : [], end: String(n + 1) }));
    drawRuns(this.list, [...this.runs, run]);
    loss.draw([...former, { name: "each step", colour: "--on", points: series("loss") }, { name: "held-out", colour: "--hold", points: held("loss"), dots: true }],
      { ...around, level: [uniform, "uniform guessing"], last: Number.isFinite(now?.loss) ? `held-out ${rounded(now.loss)}` : "" });
    right.draw([{ name: "tokens", colour: "--hold", points: held("right") }, ...(task ? [{ name: "whole answers (exact match)", colour: "--on", points: held("exact"), dots: true }] : [])],
      { ...around, least: 0.1, share: true, last: Number.isFinite(now?.right) ? percent(task ? now.exact : now.right) : "" });
    norm.draw([{ name: run.settings.clip ? `before clipping to ${run.settings.clip}` : "", colour: "--on", points: series("norm") }], { ...around, last: spent ? spent.norm.toPrecision(2) : "" });
    speed.draw([{ name: "", colour: "--on", points: this.speeds }], { ...around, last: this.speeds.length ? count(Math.round(this.speeds[this.speeds.length - 1][1])) : "" });
    const place = moments.filter((step) => step <= at).length - 1;
    Object.assign(buttons.slider, { max: String(moments.length - 1), value: String(place) });
    buttons.slider.setAttribute("aria-valuetext", `step ${at}`);
    buttons.step.textContent = `step ${count(at)}`;
    this.#buttons();
  }

  /** Leave nothing behind. */
  end() {
    this.running = false;
    this.unseen();
    this.unturned();
    this.board.end();
    this.engine.end();
    this.frame.remove();
    this.board.frame.remove();
  }
}

/** Every training of the page, for its scripts and for tests. @returns {Learning[]} */
const trainings = () => ((/** @type {any} */ (globalThis)).explorerTrainings ??= []);

/** The run of the link by which this page was opened, or why it is none. */
function linked() {
  const written = new URLSearchParams(location.search).get("run");
  try {
    return written ? { linked: runIn(written) } : {};
  } catch (error) {
    return { note: String(/** @type {any} */ (error).message) };
  }
}

/** A training in an element. @param {HTMLElement} root @param {unknown} _data @param {any} [begin] */
export async function mountLearning(root, _data, begin) {
  root.replaceChildren();
  const learning = new Learning(root, { ...begin, ...linked() });
  trainings().push(learning);
  await learning.ready;
  return learning;
}

/** One function for both hosts: Streamlit hands over a component, and calls again at every rerun; anywidget nothing. @param {any} [host] */
export function learningHome(host) {
  if (!host?.parentElement) return { render: widget };
  const place = host.parentElement.querySelector?.("[data-board]") ?? host.parentElement, mode = host.data?.mode ?? null;
  place.send = (/** @type {string} */ run) => host.setTriggerValue("run", run);
  place.heldTraining ??= mountLearning(place, null, { mode, address: "?part=in-the-page&run=", send: host.data?.room ? (/** @type {string} */ run) => place.send(run) : null });
  const [mark, sentence] = host.data?.sent ?? ["", ""], heard = place.heard ?? mark;
  place.heard = mark;
  void place.heldTraining.then((/** @type {Learning} */ learning) => {
    learning.dress(mode);
    if (mark !== heard) learning.say(sentence);
  });
  return () => {
    void place.heldTraining?.then((/** @type {Learning} */ learning) => leave(learning));
    place.heldTraining = null;
  };
}

/** In JupyterLab. @param {any} context */
function widget({ model, el }) {
  const shown = mountLearning(el, null, model.get("begin"));
  return () => void shown.then(leave);
}

/** @param {Learning} learning */
function leave(learning) {
  learning.end();
  const at = trainings().indexOf(learning);
  if (at >= 0) trainings().splice(at, 1);
}
