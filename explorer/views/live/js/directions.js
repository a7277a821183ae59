// What an ELMo computes of a sentence: what each direction expects at a word, and how alike the words' vectors are in every layer.
import { barOf, percent, tableOf } from "./candidates.js";
import { element } from "./element.js";
import { modeOf, whenTurned } from "../../board/js/mode.js";

/** @typedef {import("./boarded.js").Sides} Sides */
/** @typedef {{mode?: "light" | "dark" | null, view?: {row?: number} | null, tell?: (view: any) => void}} Options */

const ABOUT = "The forward model has read only the words before this one, the backward model only those after it. ELMo never combines the two into one prediction.";
const LAYERS = "Layer 0 is computed from letters alone, so a word has the same vector in every sentence. Each layer above has both directions side by side. "
  + "A task learns weights s that mix the layers: γ Σ sⱼ hⱼ. Choose s yourself: it is divided by its sum, and γ changes no cosine.";

/** One sentence as an ELMo reads it, in one element: a word is chosen, and each direction says what it expected there. */
export class Directions {
  /** @param {HTMLElement} root @param {Sides} data @param {Options} [options] */
  constructor(root, data, { mode, view, tell } = {}) {
    this.data = data;
    this.tell = tell;
    this.row = view?.row ?? Math.floor(data.words.length / 2);
    this.frame = root.appendChild(element("section", "board decoder directions"));
    this.frame.setAttribute("aria-label", "Two directions");
    const turn = () => (this.frame.dataset.mode = modeOf(mode));
    turn();
    this.unturned = whenTurned(turn);
    this.frame.append(element("h3", "title", "What each direction expects"), element("p", "says", ABOUT));
    this.words = this.frame.appendChild(element("div", "bar words"));
    this.words.setAttribute("role", "group");
    this.words.setAttribute("aria-label", "Word");
    this.words.onkeydown = (event) => this.#key(event);
    this.line = this.frame.appendChild(element("p", "says"));
    this.line.setAttribute("aria-live", "polite");
    this.tables = this.frame.appendChild(element("div", "tables"));
    this.frame.append(element("h3", "title", "How similar the words are, layer by layer"), element("p", "says", LAYERS));
    this.shares = this.#shareBoxes();
    this.alike = this.frame.appendChild(element("div", "alike"));
    this.draw();
  }

  /** Another sentence; the same position stays chosen while there is one. @param {Sides} data */
  give(data) {
    this.data = data;
    this.draw();
  }

  /** A slider for the weight of each layer. */
  #shareBoxes() {
    const row = this.frame.appendChild(element("div", "bar settings"));
    return this.data.layers.map((_, layer) => {
      const label = row.appendChild(element("label", "setting", `s${"₀₁₂₃₄₅₆₇₈₉"[layer] ?? layer}`)), box = document.createElement("input");
      Object.assign(box, { type: "range", min: "0", max: "1", step: "0.05", value: "1", oninput: () => this.#drawAlike() });
      label.append(box, element("span", "number"));
      return box;
    });
  }

  /** Choose a word. @param {number} row */
  choose(row) {
    this.row = row;
    this.draw();
    this.tell?.({ row: this.row });
  }

  /** All that depends on the sentence and on the word. */
  draw() {
    const { words } = this.data, focused = this.words.contains(document.activeElement);
    this.row = Math.max(0, Math.min(words.length - 1, this.row));
    this.words.replaceChildren(...words.map((word, n) => {
      const button = element("button", "", word);
      Object.assign(button, { type: "button", dir: "auto", tabIndex: n === this.row ? 0 : -1, onclick: () => this.choose(n) });
      button.setAttribute("aria-pressed", String(n === this.row));
      return button;
    }));
    if (focused) /** @type {HTMLElement} */ (this.words.children[this.row]).focus();
    this.#drawSides();
    this.#drawAlike();
  }

  #drawSides() {
    const { sides, texts } = this.data, word = texts[this.row], sidesHere = [sides.forward[this.row], sides.backward[this.row]];
    const [left, right] = sidesHere.map((side) => (side ? percent(side.truth) : "nothing, because it has read nothing yet"));
    this.line.textContent = `P(${word}): ${left} from the left, ${right} from the right.`;
    const titles = ["From the left →", "← From the right"];
    this.tables.replaceChildren(...sidesHere.map((side, n) => {
      const rows = side ? side.texts.map((text, rank) => [element("span", "token-text", text), barOf(side.p[rank])]) : [["nothing read yet", ""]];
      return tableOf(titles[n], ["Word", "Probability"], rows, side ? side.texts.map((text) => (text === word ? "kept" : "")) : [""]);
    }));
  }

  #drawAlike() {
    const { layers, words, dim } = this.data, given = this.shares.map((box) => Number(box.value)), sum = given.reduce((a, b) => a + b, 0);
    const weights = given.map((share) => (sum ? share / sum : 1 / given.length)), every = [...layers, mixed(layers, weights)];
    this.shares.forEach((box, layer) => (/** @type {HTMLElement} */ (box.nextElementSibling).textContent = weights[layer].toFixed(2)));
    const cosines = (/** @type {number} */ n) => every.map((x) => cosine(x, this.row, n, dim).toFixed(2).replace("-", "−"));
    const others = words.map((word, n) => ({ word, n })).filter(({ n }) => n !== this.row);
    const names = ["Word", ...layers.map((_, layer) => `Layer ${layer}`), "Mix"];
    this.alike.replaceChildren(tableOf(`Cosine with “${words[this.row]}”`, names, others.map(({ word, n }) => [element("span", "token-text", word), ...cosines(n)]), others.map(() => "")));
  }

  /** The arrow keys walk along the sentence. @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.choose(this.row + step);
  }

  /** Leave nothing behind. */
  end() {
    this.unturned();
    this.frame.remove();
  }
}

/** Σ sⱼ hⱼ, which a task scales by its γ: a mix of the layers (ScalarMix in explorer/nn/elmo.py). @param {Float32Array[]} layers @param {number[]} shares */
const mixed = (layers, shares) => layers[0].map((_, i) => layers.reduce((sum, layer, n) => sum + shares[n] * layer[i], 0));

/** The cosine of two rows. @param {Float32Array} x @param {number} i @param {number} j @param {number} dim */
function cosine(x, i, j, dim) {
  const dot = (/** @type {number} */ a, /** @type {number} */ b) => x.subarray(a * dim, (a + 1) * dim).reduce((sum, value, c) => sum + value * x[b * dim + c], 0);
  return dot(i, j) / (Math.sqrt(dot(i, i) * dot(j, j)) || 1);
}
