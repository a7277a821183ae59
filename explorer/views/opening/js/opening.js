// The opening: one sentence with a gap in it, and what four models expect there. It plays once as a film, until a hand takes over.
import { element } from "../../live/js/element.js";
import { button, eased, merged, percent, wordsIn } from "./elements.js";
import { Film } from "./film.js";
import { GapSentence } from "./gap.js";
import { BEATS, InsidePicture } from "./inside.js";
import { Lanes } from "./lanes.js";
import { lineAt } from "./lines.js";
import { Models } from "./models.js";

/** @typedef {import("./lanes.js").Expected} Expected */
/** @typedef {{text: string, gap: number, mask: string, chips: string[], lanes: import("./lanes.js").LaneModel[], answers: Record<string, Expected[]>,
 * yours: Record<string, number[][]>, inside: import("./inside.js").Inside, floors: import("./inside.js").Floors, script: string,
 * palettes: Record<string, string[]>}} OpeningRecord  of the opening's own sentence: `answers` by model, for each of its words */
/** @typedef {{text: string, word: string, film: boolean, mode: "light" | "dark", tour?: string, door?: string, pages?: string[], known: {text: string, words: [string, string[]][]}}} Told what the page says now; to its `pages` the doors lead */
/** @typedef {{typed?: (now: {text: string, word: string}) => void, arriving?: (address: string) => Promise<Uint8Array>}} Heard */

const LETTERS = 400, TYPED = 700; // letters of a sentence, at most; milliseconds without a letter before the page follows
const INKED = 1, EACH = 0.25, GROWS = [2.8, 3.8]; // seconds: the words of the lanes become dark, one after the other, and then the bars grow
const NAMED = 9.5; // until then bars stand beside question marks, unless a hand was there: a guess is worth making
const FIRST = BEATS.inside - 0.1; // here the film waits for a hand: a word is chosen, or one looks inside
const READ = 6; // seconds after the words have their names until it goes on by itself, where no hand was there
const STILLS = /** @type {[string, number][]} */ ([["Four answers", FIRST], ["One head", BEATS.rise - 0.7], ["Layer by layer", BEATS.end - 0.8], ["Your turn", BEATS.end]]);
const BLANK = /^_+$/, HIDDEN = "it"; // a word of strokes is a gap; some word has to be hidden there, and no model reads it

export class Opening {
  /** @param {HTMLElement} root @param {OpeningRecord} record @param {Told} told @param {Heard} [heard] */
  constructor(root, record, told, heard = {}) {
    this.record = record;
    this.heard = heard;
    this.told = told;
    this.text = record.text;
    this.gap = record.gap;
    this.guess = "";
    this.own = false; // a hand has taken over
    this.asked = 0; // questions so far
    this.strange = /** @type {Set<string>} */ (new Set());
    this.busy = record.lanes.map(() => /** @type {Promise<any>} */ (Promise.resolve())); // with the question before
    this.paint = /** @type {import("./inside.js").Paint | null} */ (null);
    this.lineShown = /** @type {import("./lines.js").Line | null} */ (null);
    this.sent = { text: told.text, word: told.word }; // what the page knows
    this.resting = /** @type {any} */ (0);
    this.words = wordsIn(this.text);
    this.models = new Models(record.lanes, record.script, heard.arriving);
    this.root = root.appendChild(element("section", "opening"));
    this.root.setAttribute("aria-label", "One word is missing");
    const head = this.root.appendChild(element("div", "head"));
    this.sentence = new GapSentence(head, (gap) => this.move(gap));
    this.line = head.appendChild(element("p", "line"));
    head.appendChild(element("p", "key", "✓ the real word"));
    this.chips = head.appendChild(element("div", "chips"));
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Your guess");
    this.stage = this.root.appendChild(element("div", "stage"));
    this.lanes = new Lanes(this.stage, record.lanes);
    this.picture = new InsidePicture(this.stage, record.inside, record.floors, record.lanes.find(({ name }) => name === "bert")?.title ?? "");
    this.spoken = this.root.appendChild(element("p", "unheard"));
    this.spoken.setAttribute("role", "status");
    const tells = { draw: this.draw.bind(this), ended: this.ended.bind(this), waited: this.waited.bind(this) };
    this.film = new Film(this.root, BEATS.end, tells);
    const foot = this.#foot();
    this.play = foot.play;
    this.stills = foot.stills;
    this.box = foot.box;
    this.doors = foot.doors;
    this.why = "";
    this.tour = foot.tour;
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(document.documentElement);
    this.sized.observe(this.stage);
    this.begin();
  }

  /** The player, the box of one's own sentence, and the doors. */
  #foot() {
    const foot = this.root.appendChild(element("div", "foot")), player = foot.appendChild(element("div", "player"));
    const play = player.appendChild(button("play", "", () => this.#pressed()));
    const stills = STILLS.map(([name, time]) => {
      const still = player.appendChild(button("still", "", () => this.show(time)));
      still.setAttribute("aria-label", name);
      still.title = name;
      return still;
    });
    const form = foot.appendChild(element("form", "own")), label = form.appendChild(element("label", "", ""));
    label.append(element("span", "", "Your own sentence"));
    const box = label.appendChild(Object.assign(element("input", ""), { type: "text", placeholder: "Type your own", maxLength: LETTERS, autocomplete: "off", spellcheck: false, dir: "auto" }));
    form.onsubmit = (event) => {
      event.preventDefault();
      box.scrollLeft = 0; // the sentence from its start
      this.#rested();
    };
    box.onfocus = () => void this.models.open();
    box.oninput = () => this.type(box.value);
    const doors = foot.appendChild(element("nav", "doors"));
    doors.setAttribute("aria-label", "Go on");
    const ways = ["", "How was it learned?", "Let it write"].map((name) => doors.appendChild(element("a", "door", name)));
    const tour = element("a", "door", this.told.door ?? "Guided tour");
    tour.hidden = !this.told.tour;
    ways[0].classList.add("why");
    ways[0].before(tour);
    return { play, stills, box, doors: ways, tour };
  }

  /** The film, a still where motion is not wanted, or the sentence that the page has already. */
  begin() {
    this.turn(this.told.mode);
    this.#sentence();
    const own = this.told.text !== this.text || this.told.word !== this.words[this.gap].text, calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.fit();
    if (own) return this.give(this.told.text, this.told.word);
    if (!this.told.film || seenBefore()) return this.show(BEATS.end);
    if (calm) return this.show(STILLS[0][1]);
    this.draw(0);
    this.film.play(FIRST);
    this.#buttons();
  }

  /** What the page says now. @param {Told} told */
  hear(told) {
    const { sent } = this, types = this.box.matches(":focus");
    this.told = told;
    if (!told.film) this.film.hand(); // the guided tour has begun: it says when to go on
    Object.assign(this.tour, { textContent: told.door, hidden: !told.tour });
    if (this.words[this.gap]) this.#ways();
    this.turn(told.mode);
    if (!types && (told.text !== sent.text || told.word !== sent.word) && (told.text !== this.text || told.word !== this.words[this.gap]?.text)) this.give(told.text, told.word);
    this.sent = { text: told.text, word: told.word };
    if (this.own) this.#says();
  }

  /** A sentence of the page, with the gap on a word of it. @param {string} text @param {string} word */
  give(text, word) {
    this.box.value = text === this.record.text ? "" : text;
    this.gap = Math.max(0, wordsIn(text).findIndex((one) => one.text === word));
    this.#hold();
    this.read(text);
  }

  /** Light or dark. @param {"light" | "dark"} mode */
  turn(mode) {
    this.root.dataset.mode = mode;
    const style = getComputedStyle(this.root), of = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const [ink, dim, line, on, hold, follow] = ["ink", "dim", "line", "on", "hold", "follow"].map(of);
    this.paint = { ink, dim, line, on, hold, follow, signed: this.record.palettes[mode] };
    if (!this.own) this.draw(this.film.time);
  }

  /** As high as what is left of the window below the page's own bar. */
  fit() {
    const main = this.root.closest("[data-testid=stMain]") ?? hostOf(this.root)?.closest("[data-testid=stMain]"), scrolled = main?.scrollTop ?? scrollY;
    this.root.style.setProperty("--above", `${Math.max(0, Math.round(this.root.getBoundingClientRect().top + scrolled))}px`);
    this.root.style.setProperty("--chips", `${this.chips.offsetHeight}px`);
    this.sentence.place();
    if (!this.own) this.draw(this.film.time);
  }

  /** The film at a moment: a picture is a function of the time. @param {number} time */
  draw(time) {
    const inside = time >= BEATS.inside && time < BEATS.end;
    this.root.dataset.view = inside ? "inside" : "lanes";
    this.root.toggleAttribute("data-own", this.own);
    if (inside && time < BEATS.compare) this.picture.spots = this.lanes.spots("bert", this.record.inside, this.picture.svg);
    if (inside && this.paint) this.picture.draw(time, this.paint);
    this.lanes.fade(inside ? "bert" : "", eased(time, BEATS.inside, BEATS.inside + 0.4) * (1 - eased(time, BEATS.end - 0.4, BEATS.end)));
    this.picture.svg.style.opacity = String(1 - eased(time, BEATS.end - 0.8, BEATS.end - 0.4));
    const named = this.root.hasAttribute("data-named");
    if (named !== this.root.toggleAttribute("data-named", this.own || time >= NAMED)) this.#written();
    this.chips.style.setProperty("--passed", String(Math.min(1, Math.max(0, (time - GROWS[1]) / (NAMED - GROWS[1])))));
    this.lanes.draw(Math.floor((time - INKED) / EACH), Math.min(1, Math.max(0, (time - GROWS[0]) / (GROWS[1] - GROWS[0]))) ** 0.6);
    this.#asked();
    if (this.own) return;
    const line = lineAt(time, this.record);
    if (line !== this.lineShown) this.#write(line);
    this.lineShown = line;
    this.picture.svg.setAttribute("aria-label", line.map((part) => (typeof part === "string" ? part : part.textContent)).join(""));
    this.stills.forEach((still, n) => still.setAttribute("aria-pressed", String(STILLS.findIndex(([, end]) => time <= end) === n)));
  }

  /** A still of the film, for as long as wanted. @param {number} time */
  show(time) {
    this.film.stop(true);
    this.film.time = time;
    this.own = false;
    if (time >= BEATS.end) return this.#mine();
    if (!this.#first()) this.#back();
    this.draw(time);
    this.spoken.textContent = this.line.textContent; // a hand went there: it is said
    this.#buttons();
  }

  /** The opening's own sentence and gap again. */
  #back() {
    [this.text, this.gap] = [this.record.text, this.record.gap];
    this.box.value = "";
    this.#sentence();
  }

  /** The film stopped: at its end, or by a hand, which finds the four answers where it has seen no more. @param {boolean} touched */
  ended(touched) {
    if (touched ? this.film.time < FIRST : this.film.time >= BEATS.end) return this.#mine();
    this.#buttons();
    if (!touched && this.told.film && this.film.alone) this.film.wait(READ - (FIRST - NAMED));
  }

  /** So much of the wait is over, which the button shows; after it the film goes on. @param {number} part */
  waited(part) {
    this.play.style.setProperty("--waited", String(part));
    if (part === 1) this.#pressed();
  }

  /** The button: on with the film, which after the four answers is the part inside. */
  #pressed() {
    if (this.film.touching) return;
    if (this.own) this.#back();
    this.own = false;
    if (this.film.time >= BEATS.end) this.film.time = BEATS.inside;
    this.film.play();
    this.#buttons();
  }

  #buttons() {
    const { playing } = this.film;
    this.play.style.removeProperty("--waited");
    const waits = !playing && !this.own && this.film.time === FIRST;
    this.play.replaceChildren(playing ? "❚❚" : "▶", ...(waits ? [element("span", "", " Look inside")] : []));
    this.play.setAttribute("aria-label", playing ? "Stop the film" : waits ? "Play the film: look inside" : "Play the film");
  }

  /** From now on the hand's: the lanes with all that they expect. */
  #hold() {
    this.film.stop(true);
    this.film.time = BEATS.end;
    this.own = true;
    this.draw(BEATS.end);
    this.stills.forEach((still, n) => still.setAttribute("aria-pressed", String(n === STILLS.length - 1)));
    this.#buttons();
  }

  #mine() {
    this.#hold();
    this.#answer();
  }

  /** The sentence, its gap and its lanes. */
  #sentence() {
    this.words = wordsIn(this.text);
    this.sentence.give(this.text, this.words, this.#marked());
    this.#opened();
  }

  /** The letters of the words that a model never read. */
  #marked() {
    return merged([...this.strange].map((span) => span.split(" ").map(Number)), this.text);
  }

  #opened() {
    const word = this.words[this.gap], first = this.#first();
    this.root.toggleAttribute("data-empty", !word);
    this.#written();
    this.chips.replaceChildren(...(first ? this.record.chips.map((chip, n) => this.#chip(chip, n)) : []));
    if (!word) return;
    this.lanes.give(this.text, this.words, this.gap);
    if (this.text === this.record.text) this.#recorded();
    this.#ways();
  }

  /** What stands in the gap: the guess, or the real word where the answer came without one. */
  #written() {
    const first = this.#first(), real = first && !this.guess && this.root.hasAttribute("data-named");
    this.sentence.open(this.gap, real ? this.words[this.gap].text : first ? this.guess : "", real);
  }

  /** Whether this is the opening's own sentence, with the gap where it was. */
  #first() {
    return this.text === this.record.text && this.gap === this.record.gap;
  }

  /** @param {string} word @param {number} n */
  #chip(word, n) {
    const chip = button("chip", word, () => this.choose(word));
    chip.style.setProperty("--n", String(n));
    chip.setAttribute("aria-pressed", String(word === this.guess));
    chip.onpointerenter = () => this.lanes.light(word);
    chip.onpointerleave = () => this.lanes.light("");
    return chip;
  }

  /** A guess, which stays as a mark. @param {string} word */
  choose(word) {
    this.guess = word;
    this.#hold();
    this.#opened();
    this.#answer();
  }

  /** The gap on another word. @param {number} gap */
  move(gap) {
    this.gap = gap;
    this.#hold();
    this.#opened();
    this.#answer();
    this.#soon();
  }

  /** What is typed, letter by letter. @param {string} text */
  type(text) {
    const before = this.words.length;
    this.#hold();
    this.read(text, before);
    this.#soon();
  }

  /** Another sentence, the opening's own where there is none; a word of strokes in it is the gap. @param {string} given @param {number} [before] how many words it had */
  read(given, before = 0) {
    const text = given.trim() ? given : this.record.text;
    this.text = text;
    this.strange.clear();
    const words = wordsIn(text), blank = words.findIndex(({ text: word }) => BLANK.test(word));
    this.gap = blank >= 0 ? blank : Math.max(0, Math.min(this.gap, words.length - 1));
    if (before === 1 && words.length > 1 && blank < 0) this.gap = words.length - 1;
    if (text !== given) this.gap = this.record.gap;
    this.#sentence();
    this.#answer();
  }

  /** What the record says of the opening's own sentence. */
  #recorded() {
    const { lanes, answers, yours, chips, gap } = this.record, chip = this.gap === gap ? chips.indexOf(this.guess) : -1;
    lanes.forEach(({ name }, n) => this.lanes.show(n, answers[name][this.gap], chip < 0 ? "" : this.guess, chip < 0 ? [] : yours[name][chip]));
  }

  /** Let the models answer; of several questions the newest wins. */
  async #answer() {
    const asked = ++this.asked, { text, words, gap } = this;
    this.#says();
    if (words.length && text !== this.record.text) await this.#ask(asked, text, words[gap]);
    if (asked !== this.asked) return;
    delete this.root.dataset.waiting;
    this.spoken.textContent = words.length ? this.lanes.spoken() : "";
  }

  /** @param {number} asked @param {string} text @param {import("./elements.js").Word} word */
  async #ask(asked, text, { text: hidden, from, to }) {
    const blank = BLANK.test(hidden), letters = Array.from(text), read = blank ? [...letters.slice(0, from), HIDDEN, ...letters.slice(to)].join("") : text;
    const span = [from, blank ? from + HIDDEN.length : to];
    this.root.dataset.waiting = "yes";
    await Promise.all(this.record.lanes.map(async (_, n) => {
      await this.busy[n]; // who types faster than a model reads has it answer the last letter, not each
      if (asked !== this.asked) return;
      const found = await (this.busy[n] = this.models.expected(n, read, span).catch((error) => String(error.message ?? error)));
      if (asked !== this.asked) return;
      this.lanes.show(n, typeof found === "string" ? found : blank ? withoutTruth(found) : found, "", []);
      if (typeof found === "string" || blank) return;
      const before = this.strange.size;
      found.unseen.forEach((letters) => this.strange.add(letters.join(" ")));
      if (this.strange.size > before) this.#dagger();
    }));
  }

  /** The daggers have arrived. */
  #dagger() {
    this.sentence.give(this.text, this.words, this.#marked());
    this.sentence.open(this.gap, "");
    this.#says();
  }

  /** The line under the sentence while it is the hand's. */
  #says() {
    const { known } = this.told;
    if (!this.words.length) return this.#write(["There is no word in this sentence. Write one."]);
    const letters = Array.from(this.text), names = [...new Set(this.#marked().map(([from, to]) => letters.slice(from, to).join("")))];
    if (!names.length && this.#first() && this.record.chips.includes(this.guess)) return this.#write([this.#judged()]);
    if (!names.length) return this.#write([this.words.length > 1 ? element("span", "hint", "Drag the gap, or type your own.") : "Your only word is the gap: no model has another to read. Type more."]);
    const offers = known.text === this.text ? known.words.flatMap(([word, others]) => others.map((other) => this.#offer(word, other))) : [];
    this.#write([`† ${shortened(names)}: never in the training texts. What a model does with ${names.length > 1 ? "them" : "it"} says nothing about language.`, ...(offers.length ? [" Known words: ", ...offers] : [])]);
  }

  /** What each model gives the word that was guessed, in each direction that it reads. */
  #judged() {
    const { lanes, yours, chips } = this.record, chip = chips.indexOf(this.guess);
    return `“${this.guess}”: ${lanes.map(({ name, title }) => `${title} ${yours[name][chip].map(percent).join(" / ")}`).join(", ")}.`;
  }

  /** A known word instead of a strange one. @param {string} word @param {string} other */
  #offer(word, other) {
    return button("chip", other, () => {
      this.box.value = this.text.replace(word, other);
      this.type(this.box.value);
    });
  }

  /** @param {(string | HTMLElement)[]} parts */
  #write(parts) {
    this.lineShown = null;
    this.line.replaceChildren(...parts);
  }

  /** Where the three doors lead. */
  #ways() {
    const { layer, head } = this.record.inside, letters = Array.from(this.text), { from, to } = this.words[this.gap], own = this.record.answers.bert?.[this.gap];
    const masked = letters.slice(0, from).join("") + this.record.mask + letters.slice(to).join(""), row = this.text === this.record.text && own ? own.row : this.gap + 1, { weights } = this.record.inside;
    const read = this.#first() ? weights.indexOf(Math.max(...weights)) : row; // of the film's row its largest weight
    const pages = this.told.pages ?? ["attention", "training", "decoding"];
    /** @type {Record<string, string>[]} */
    const queries = [
      { part: "walk", model: "bert", text: masked, board: `encoder.${layer}.${head}.softmax.${row}.${read}` },
      { part: "snapshots", text: masked },
      { part: "greedy", writer: "gpt2", beginning: letters.slice(0, from).join("").trim() || this.words[0].text },
    ];
    const hidden = letters.slice(from, to).join("");
    this.why = BLANK.test(hidden) || hidden.length > 12 ? "Why this word?" : `Why “${hidden}”?`;
    this.#asked();
    this.doors.forEach((door, n) => (door.href = `${pages[n]}?${new URLSearchParams(queries[n])}`));
    if (this.told.tour) this.tour.href = this.told.tour + (this.#first() ? "" : `&${new URLSearchParams({ text: this.text, chosen: this.words[this.gap].text })}`);
  }

  /** The first door names the word once the models have. */
  #asked() {
    const says = this.root.hasAttribute("data-named") ? this.why : "Why?";
    if (this.doors[0].textContent !== says) this.doors[0].textContent = says;
  }

  /** The page follows when the hand rests. */
  #soon() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.#rested(), TYPED);
  }

  #rested() {
    clearTimeout(this.resting);
    const word = this.words[this.gap];
    if (!word) return;
    this.sent = { text: this.text, word: word.text };
    this.heard.typed?.(this.sent);
  }

  /** Leave nothing behind. */
  end() {
    this.film.end();
    clearTimeout(this.resting);
    this.sized.disconnect();
    this.sentence.end();
    this.root.remove();
  }
}

/** Nobody wrote a word into the gap. @param {Expected} found */
const withoutTruth = (found) => ({ ...found, right: "" });

/** @param {string[]} names */
const shortened = (names) => names.slice(0, 3).map((name) => (name.length > 14 ? `${name.slice(0, 13)}…` : name)).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");

/** What an element in a shadow belongs to. @param {HTMLElement} inside */
const hostOf = (inside) => /** @type {any} */ (inside.getRootNode()).host ?? null;

/** Whether this page has played its film already. */
function seenBefore() {
  const page = /** @type {any} */ (globalThis), before = page.explorerOpened;
  page.explorerOpened = true;
  return Boolean(before);
}

/** The opening before its page is there, which takes it over. @param {HTMLElement} root @param {OpeningRecord} record @param {Told} told */
export function early(root, record, told) {
  const page = /** @type {any} */ (globalThis), { pathname } = location, ends = Date.now() + 60_000;
  const theme = Object.entries(localStorage).find(([name]) => name.startsWith("stActiveTheme"))?.[1] ?? "";
  const dark = /dark/i.test(theme) || (!/light/i.test(theme) && matchMedia("(prefers-color-scheme: dark)").matches);
  told.mode = root.dataset.mode = dark ? "dark" : "light";
  page.explorerEarly = { typed: null, leave };
  page.explorerOpening = page.explorerEarly.opening = new Opening(/** @type {HTMLElement} */ (root.querySelector("[data-opening]")), record, told, { typed: (now) => (page.explorerEarly.typed = now) });
  const watch = setInterval(() => (location.pathname !== pathname || document.querySelector("[data-testid=stException]") || Date.now() > ends) && leave(), 200);
  function leave() {
    clearInterval(watch);
    page.explorerEarly = null;
    root.remove();
  }
}

/** Move the opening that came before its page into it; null where none did. @param {HTMLElement} place @param {Heard} heard */
function takenOver(place, heard) {
  const { explorerEarly: before } = /** @type {any} */ (globalThis);
  if (!before) return null;
  const { opening, typed, leave } = before, { box } = opening, types = box.matches(":focus"), [from, to] = [box.selectionStart, box.selectionEnd];
  place.append(opening.root);
  leave();
  opening.heard = heard;
  opening.fit();
  if (types) {
    box.focus();
    box.setSelectionRange(from, to);
  }
  if (typed) heard.typed?.(typed);
  return opening;
}

/** In Streamlit: called again at every rerun, with the same element. @param {any} host */
export function opening(host) {
  const place = host.parentElement.querySelector("[data-opening]") ?? host.parentElement, { record, told } = host.data;
  if (place.heldOpening) place.heldOpening.hear(told);
  else {
    const heard = { typed: (/** @type {any} */ now) => host.setTriggerValue("typed", now) };
    place.textContent = "";
    place.heldOpening = takenOver(place, heard);
    if (place.heldOpening) place.heldOpening.hear(told);
    else place.heldOpening = /** @type {any} */ (globalThis).explorerOpening = new Opening(place, record, told, heard);
  }
  return () => {
    place.heldOpening?.end();
    place.heldOpening = null;
  };
}
