// Four lanes with the sentence: what each model may read of it, and what it expects in the gap.
import { element } from "../../live/js/element.js";
import { percent, wordOf } from "./elements.js";

/** @typedef {import("./elements.js").Word} Word */
/** @typedef {{texts: string[], shares: number[], truth: number}} Side */
/** @typedef {{sides: Side[], right: string, row: number, unseen: number[][]}} Expected */
/** @typedef {{name: string, title: string, family: string, reads: string, spaced: boolean, address: string}} LaneModel */

const SHOWN = 3; // bars of a side
const LETTER = 0.48; // of the size of the type: how wide a letter is, about
const ARROWS = ["→", "←"]; // the two readers of ELMo
const READS = [" reading on", " reading back"]; // the same in words

/** One model's lane. */
class Lane {
  /** @param {HTMLElement} root @param {LaneModel} model */
  constructor(root, model) {
    this.model = model;
    this.root = root.appendChild(element("section", "lane"));
    this.root.setAttribute("aria-label", `${model.title} ${model.reads}`);
    const head = this.root.appendChild(element("p", "who"));
    head.append(element("b", "", model.title), " ", element("span", "reads", model.reads));
    this.line = this.root.appendChild(element("p", "words"));
    this.line.dir = "auto";
    this.fills = element("b", "fills", ""); // in the gap, once the bars have grown
    this.fills.setAttribute("aria-hidden", "true"); // the bars say it
    this.fills.dir = "auto"; // the line goes as its words go
    this.says = this.root.appendChild(element("p", "says"));
    this.bars = this.root.appendChild(element("div", "sides"));
    this.spaced = model.spaced;
    /** @type {{spans: HTMLElement[], reads: boolean}[]} */
    this.words = [];
    this.inked = 0;
    this.best = ""; // what it expects most
  }

  /** The words around the gap, and which of them this model may read. @param {string} text @param {Word[]} words @param {number} gap */
  give(text, words, gap) {
    const letters = Array.from(text), { first, last } = around(letters, words, gap, this.#room()), left = this.model.family === "decoder";
    this.spaced = this.model.spaced && gap > 0; // the first token of a text has no space before it
    const parts = /** @type {(string | HTMLElement)[]} */ ([first ? "… " : ""]);
    this.words = [];
    let before = /** @type {HTMLElement[]} */ ([]); // what stands between the gap and the next word
    for (let n = first; n <= last; n++) {
      const end = n === last && last < words.length - 1 ? words[n].to : (words[n + 1]?.from ?? letters.length);
      const span = n === gap ? element("span", "blank", "") : element("span", "word", words[n].text);
      if (n === gap) span.append(Object.assign(element("span", "unheard", " gap "), { dir: "ltr" }), this.fills);
      const marks = element("span", "marks", letters.slice(words[n].to, end).join(""));
      if (n !== gap) this.words.push({ spans: [...before, span, marks], reads: n < gap || !left });
      before = n === gap ? [marks] : [];
      parts.push(span, marks);
    }
    this.line.replaceChildren(...parts, last < words.length - 1 ? " …" : "");
    this.ink(this.inked);
  }

  /** How many letters a line holds. */
  #room() {
    return Math.max(24, Math.floor((this.line.clientWidth || this.root.clientWidth) / (LETTER * Number.parseFloat(getComputedStyle(this.line).fontSize)) - 4));
  }

  /** The words that it may read become dark, the first of them at 0. @param {number} many */
  ink(many) {
    this.inked = many;
    this.words.forEach(({ spans, reads }, n) => spans.forEach((span) => span.classList.toggle("read", reads && n < many)));
  }

  /** What it expects; a sentence where it cannot say. @param {Expected | string | null} found @param {string} guess @param {number[]} yours its probabilities */
  show(found, guess, yours) {
    const spoken = typeof found === "string" ? found : "";
    this.says.textContent = spoken;
    if (found === null) return;
    const sides = typeof found === "string" ? [] : found.sides;
    this.best = sides.map(({ texts }) => wordOf(texts[0], this.spaced)).join(" / ");
    this.fill("");
    while (this.bars.children.length > sides.length) this.bars.lastElementChild?.remove();
    sides.forEach((side, n) => this.#side(n, side, /** @type {Expected} */ (found).right, { guess, share: yours[n] }));
  }

  /** The gap holds what it expects, or a word that a pointer chose among its bars. @param {string} word */
  fill(word) {
    this.fills.textContent = word || this.best;
  }

  /** One side's bars: the most probable words, and in the place of the last ones the hidden word and the guess, where they are not among these.
   * @param {number} at @param {Side} side @param {string} right @param {{guess: string, share: number | undefined}} yours */
  #side(at, side, right, { guess, share: guessed }) {
    const list = this.bars.children[at] ?? this.bars.appendChild(element("ol", "bars")), several = this.model.family === "bilm";
    list.setAttribute("aria-label", `${this.model.title}${several ? READS[at] : ""} expects`);
    const rows = side.texts.slice(0, SHOWN).map((text, n) => ({ word: wordOf(text, this.spaced), right: text === right, share: side.shares[n] }));
    const isGuess = (/** @type {{word: string}} */ { word }) => Boolean(guess) && word.toLowerCase() === guess.toLowerCase();
    if (right && !rows.some((row) => row.right)) rows[rows.length - 1] = { word: wordOf(right, this.spaced), right: true, share: side.truth };
    if (guessed !== undefined && !rows.some(isGuess)) rows[rows.findLastIndex((row) => !row.right)] = { word: guess, right: false, share: guessed };
    rows.sort((one, other) => other.share - one.share).forEach((said, n) => {
      const row = /** @type {HTMLElement} */ (list.children[n] ?? list.appendChild(barRow())), [word, track, number] = row.children;
      word.textContent = (several && !n ? `${ARROWS[at]} ` : "") + said.word;
      word.classList.toggle("right", said.right);
      row.classList.toggle("guessed", isGuess(said));
      /** @type {HTMLElement} */ (track).style.setProperty("--share", String(said.share));
      number.textContent = percent(said.share);
    });
  }

  /** Its best guesses in words. */
  spoken() {
    const best = [...this.bars.children].map((list) => list.firstElementChild?.textContent ?? "");
    return `${this.model.title}: ${best.join(", ") || this.says.textContent}`;
  }
}

/** A row of bars: a word, its bar and its probability. */
function barRow() {
  const row = element("li", "bar");
  row.append(element("span", "token", ""), element("span", "track", ""), element("span", "share", ""));
  return row;
}

/** The words around the gap that a lane has room for. @param {string[]} letters @param {Word[]} words @param {number} gap @param {number} most letters */
function around(letters, words, gap, most) {
  let first = gap, last = gap;
  const room = () => words[last].to - words[first].from < most - 8;
  if (letters.length <= most) return { first: 0, last: words.length - 1 };
  while (room() && (first || last < words.length - 1)) {
    if (first) first--;
    if (room() && last < words.length - 1) last++;
  }
  return { first, last };
}

/** The letters of tokens in a line, one token after the other. @param {HTMLElement} line @param {string[]} tokens @param {number} row the gap */
function placesIn(line, tokens, row) {
  const outside = (/** @type {Node} */ node) => (node.parentElement?.closest(".blank") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT, outside), nodes = /** @type {Text[]} */ ([]);
  while (walk.nextNode()) nodes.push(/** @type {Text} */ (walk.currentNode));
  let node = 0, from = 0;
  return tokens.map((token, n) => {
    const letters = token.replace(/^##/u, "");
    for (let at = node, start = from; n !== row && at < nodes.length; at++, start = 0) {
      const place = nodes[at].data.toLowerCase().indexOf(letters, start), range = document.createRange();
      if (place < 0) continue;
      [node, from] = [at, place + letters.length];
      range.setStart(nodes[at], place);
      range.setEnd(nodes[at], from);
      return range;
    }
    return null;
  });
}

/** The word of a bar. @param {string} text */
const plain = (text) => text.replace(/^[←→] /u, "");

/** All lanes. */
export class Lanes {
  /** @param {HTMLElement} root @param {LaneModel[]} models */
  constructor(root, models) {
    this.root = root.appendChild(element("div", "lanes"));
    this.lanes = models.map((model) => new Lane(this.root, model));
    this.root.onpointerover = ({ target }) => this.#point(/** @type {Element} */ (target).closest(".bar"));
    this.root.onpointerleave = () => this.#point(null);
  }

  /** The word of a bar that is pointed at goes into the gap of its lane. @param {Element | null} bar */
  #point(bar) {
    const word = plain(bar?.children[0].textContent ?? "");
    this.light(word);
    for (const lane of this.lanes) lane.fill(bar && lane.bars.contains(bar) ? word : "");
  }

  /** Every bar of a word stands out: how probable each model finds it. @param {string} word */
  light(word) {
    for (const bar of this.root.querySelectorAll(".bar")) bar.classList.toggle("lit", Boolean(word) && plain(bar.children[0].textContent ?? "").toLowerCase() === word.toLowerCase());
  }

  /** @param {string} text @param {Word[]} words @param {number} gap */
  give(text, words, gap) {
    for (const lane of this.lanes) lane.give(text, words, gap);
  }

  /** @param {number} n @param {Expected | string | null} found @param {string} guess @param {number[]} yours */
  show(n, found, guess, yours) {
    this.lanes[n].show(found, guess, yours);
  }

  /** How many words are inked, and how far the bars have grown, from 0 to 1. @param {number} many @param {number} grown */
  draw(many, grown) {
    for (const lane of this.lanes) lane.ink(many);
    this.root.style.setProperty("--grown", String(grown));
  }

  /** They give way to a picture of one model, which has the words of its lane. @param {string} name @param {number} gone from 0 to 1 */
  fade(name, gone) {
    for (const lane of this.lanes) {
      lane.root.style.opacity = String(1 - gone);
      lane.line.style.visibility = lane.model.name === name && gone < 1 ? "hidden" : "";
    }
  }

  /** Where the tokens of a picture stand in a model's lane; null where one does not. @param {string} name @param {{tokens: string[], row: number}} read @param {Element} picture
   * @returns {(import("./inside.js").Spot | null)[]} */
  spots(name, { tokens, row }, picture) {
    const line = this.lanes.find(({ model }) => model.name === name)?.line, { left, top } = picture.getBoundingClientRect();
    if (!line?.clientWidth) return [];
    const size = Number.parseFloat(getComputedStyle(line).fontSize), blank = line.querySelector(".blank"), places = placesIn(line, tokens, row);
    return tokens.map((_, n) => {
      const box = (n === row ? blank : places[n])?.getBoundingClientRect();
      return box ? { x: box.right - left, y: box.top + box.height / 2 - top, size } : null;
    });
  }

  spoken() {
    return this.lanes.map((lane) => lane.spoken()).join(". ");
  }
}
