// The sentence in large letters, and the gap in it: it is dragged, moved by the arrow keys, or put on a word that is clicked.
import { element } from "../../live/js/element.js";

/** @typedef {import("./elements.js").Word} Word */

const SIZES = /** @type {[number, string][]} */ ([[70, "large"], [160, "medium"], [Infinity, "small"]]); // up to so many letters

/** A sentence with one gap. */
export class GapSentence {
  /** @param {HTMLElement} root @param {(gap: number) => void} moved */
  constructor(root, moved) {
    this.moved = moved;
    this.root = root.appendChild(element("div", "sentence"));
    this.line = this.root.appendChild(element("p", "words"));
    this.line.dir = "auto";
    this.handle = this.root.appendChild(element("span", "gap"));
    this.handle.tabIndex = 0;
    this.handle.setAttribute("role", "slider");
    this.handle.setAttribute("aria-label", "The gap: move it with the arrow keys");
    this.handle.onkeydown = (event) => this.#key(event);
    this.handle.onpointerdown = (event) => this.#grip(event);
    this.handle.onpointermove = (event) => this.handle.hasPointerCapture(event.pointerId) && this.#follow(event);
    /** @type {Word[]} */
    this.words = [];
    /** @type {HTMLElement[]} */
    this.spans = [];
    this.gap = 0;
    this.fresh = true; // the gap has not been in this sentence yet: it is there at once, and slides only from word to word
    this.watch = new ResizeObserver(() => this.place());
    this.watch.observe(this.root);
  }

  /** Another sentence. @param {string} text @param {Word[]} words @param {number[][]} strange the letters of words that training never had */
  give(text, words, strange) {
    const letters = Array.from(text);
    this.words = words;
    this.fresh = true;
    this.root.dataset.size = SIZES.find(([most]) => letters.length <= most)?.[1];
    this.spans = words.map((word, n) => Object.assign(element("span", "word", word.text), { onclick: () => this.moved(n) }));
    const parts = words.flatMap((word, n) => {
      const after = letters.slice(word.to, words[n + 1]?.from).join(""), spaces = after.search(/\s|$/), tied = element("span", "tied", "");
      if (strange.some(([from, to]) => from < word.to && to > word.from)) this.spans[n].append(element("sup", "dagger", "†"));
      tied.append(this.spans[n], after.slice(0, spaces)); // no line ends between a gap and its comma
      return [tied, after.slice(spaces)];
    });
    this.line.replaceChildren(letters.slice(0, words[0]?.from).join(""), ...parts);
    this.handle.hidden = !words.length;
    this.handle.setAttribute("aria-valuemin", "1");
    this.handle.setAttribute("aria-valuemax", String(words.length));
  }

  /** Put the gap on a word; it is as wide as that, and as what is written into it. @param {number} gap @param {string} guess
   * @param {boolean} [real] whether that is the word itself */
  open(gap, guess, real = false) {
    this.gap = gap;
    this.handle.classList.toggle("real", real);
    this.handle.classList.toggle("slides", !this.fresh);
    this.fresh = false;
    this.spans.forEach((span, n) => {
      span.classList.toggle("hidden", n === gap);
      span.dataset.guess = n === gap ? guess : "";
    });
    this.handle.textContent = guess;
    this.handle.setAttribute("aria-valuenow", String(gap + 1));
    this.handle.setAttribute("aria-valuetext", `word ${gap + 1} of ${this.words.length}${gap ? `, after “${this.words[gap - 1].text}”` : ""}`);
    this.place();
  }

  /** The gap lies over its word. */
  place() {
    const span = this.spans[this.gap];
    if (!span) return;
    const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = span;
    Object.assign(this.handle.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  }

  /** @param {PointerEvent} event */
  #grip(event) {
    if (event.button) return;
    event.preventDefault();
    this.handle.focus({ preventScroll: true });
    this.handle.setPointerCapture(event.pointerId);
  }

  /** To the word that is nearest to the hand; another line is further away than another word. @param {PointerEvent} event */
  #follow({ clientX, clientY }) {
    const far = this.spans.map((span) => {
      const { left, right, top, bottom } = span.getBoundingClientRect();
      return Math.max(left - clientX, clientX - right, 0) + 4 * Math.max(top - clientY, clientY - bottom, 0);
    });
    const nearest = far.indexOf(Math.min(...far));
    if (nearest !== this.gap) this.moved(nearest);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const on = getComputedStyle(this.line).direction === "rtl" ? -1 : 1, last = this.words.length - 1;
    /** @type {Record<string, number>} */
    const to = { ArrowRight: this.gap + on, ArrowLeft: this.gap - on, ArrowDown: this.gap + 1, ArrowUp: this.gap - 1, Home: 0, End: last };
    if (!(event.key in to) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.moved(Math.min(last, Math.max(0, to[event.key])));
  }

  end() {
    this.watch.disconnect();
  }
}
