// Inside BERT, for the one row of the gap: scores, weights and values of one head, and its best guesses after each layer. A picture is a
// function of the time in the film.
import { eased, percent } from "./elements.js";

/** @typedef {{layer: number, head: number, heads: number, tokens: string[], row: number, scores: number[], weights: number[], values: number[][], mixed: number[][],
 * all: number[][][][], without: number}} Inside  `values` [token, dim] of one head, `mixed` [head, dim], `all` weights [layer, head, row, token] in percent,
 * `without`: the best guess's probability without this head */
/** @typedef {{text: string, share: number}[][]} Floors  the best guesses after so many layers */
/** @typedef {{x: number, y: number, size: number}} Spot  where a word ends, its middle and its letters, in the picture */
/** @typedef {{ink: string, dim: string, line: string, on: string, hold: string, follow: string, signed: string[]}} Paint */

/** When each beat of this part begins, in seconds. */
export const BEATS = { inside: 11, one: 13.4, compare: 16, weigh: 20, mix: 24.4, heads: 28.2, rise: 31.2, end: 44.3 };
/** When bars of scores become bars of weights. */
export const WEIGHED = /** @type {[number, number]} */ ([BEATS.weigh + 0.9, BEATS.weigh + 2]);

const SVG = "http://www.w3.org/2000/svg", FLOOR = 2.2; // seconds a floor
const LEFT = 0.25, AFTER = 0.03, TRAVELS = 0.8; // seconds: when the first word leaves its sentence, how long after it the next, and how long it goes
const EMPTIES = 0.8; // seconds into its beat until scores below zero are gone
const WORD = /^\p{L}{4,}$/u; // says something by itself
const LEAST = 0.01; // a weight below it has no ribbon
const WIDEST = 2.2; // times as wide as high, the picture of a head among the others

export class InsidePicture {
  /** @param {HTMLElement} root @param {Inside} inside @param {Floors} floors @param {string} title of the model */
  constructor(root, inside, floors, title) {
    this.title = title;
    this.follows = followed(inside);
    this.inside = inside;
    this.floors = floors;
    this.svg = root.appendChild(document.createElementNS(SVG, "svg"));
    this.svg.setAttribute("class", "inside");
    this.svg.setAttribute("role", "img");
    this.size = "";
    this.spots = /** @type {(Spot | null)[]} */ ([]); // the tokens in the sentence that they come from
    /** @type {((time: number) => void)[]} */
    this.parts = [];
  }

  /** The picture at a moment; nothing where it has no room. @param {number} time @param {Paint} paint */
  draw(time, paint) {
    const { clientWidth: width, clientHeight: height } = this.svg, size = `${width} ${height} ${paint.ink}`;
    if (!width || !height) return;
    if (size !== this.size) this.#build(width, height, paint);
    this.size = size;
    for (const part of this.parts) part(time);
  }

  /** @param {string} name @param {Record<string, string | number>} attributes @param {Element} [into] */
  #add(name, attributes, into = this.svg) {
    const created = into.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value));
    return created;
  }

  /** A text that appears between two moments, and goes with its part. @param {string} words @param {Record<string, string | number>} attributes @param {Element} into */
  #text(words, attributes, into) {
    const created = this.#add("text", { "dominant-baseline": "central", ...attributes }, into);
    created.textContent = words;
    return created;
  }

  /** @param {number} width @param {number} height @param {Paint} paint */
  #build(width, height, paint) {
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.parts = [];
    const head = this.#add("g", {}), tower = this.#add("g", {});
    this.parts.push((time) => {
      head.setAttribute("opacity", String(1 - eased(time, BEATS.rise - 0.6, BEATS.rise)));
      tower.setAttribute("opacity", String(eased(time, BEATS.rise, BEATS.rise + 0.6)));
    });
    this.#head(head, width, height, paint);
    this.#tower(tower, width, height, paint);
  }

  /** One head's row: a line for each token. @param {Element} into @param {number} width @param {number} height @param {Paint} paint */
  #head(into, width, height, paint) {
    const { tokens, row } = this.inside, wide = width >= 700, top = 22, high = (height - top) / tokens.length, letters = Math.min(wide ? Math.max(18, width / 70) : 13, high * 0.8);
    const at = { names: wide ? 0.115 * width : 76, bars: wide ? 0.13 * width : 86, across: width * (wide ? 0.29 : 0.22), cell: wide ? Math.min(7, width / 190) : Math.max(1.4, width / 240) };
    const values = at.bars + at.across + (wide ? 36 : 14), right = values + this.inside.values[0].length * at.cell + 4, strip = wide ? 22 : 9;
    const block = width - this.inside.heads * (strip + 3) - (wide ? 40 : 4);
    const middle = (/** @type {number} */ n) => top + (n + 0.5) * high;
    this.#titles(into, { bars: at.bars, values, block, end: width, letters: labels(width) }, paint);
    this.#heads(into, { x: at.bars, y: top, wide: width - at.bars - 4, high: height - top - 4, letters: labels(width) }, paint);
    tokens.forEach((token, n) => {
      const name = this.#text(token, { x: at.names, y: middle(n), "text-anchor": "end", fill: n === row ? paint.hold : paint.ink }, into), place = { x: at.names, y: middle(n), size: letters };
      this.parts.push((time) => this.#travel(name, time, n, place));
      if (n === this.follows) this.parts.push((time) => name.setAttribute("fill", time < BEATS.compare ? paint.ink : paint.follow));
      this.parts.push((time) => name.setAttribute("opacity", String((this.spots[n] ? 1 : eased(time, BEATS.inside + 0.7, BEATS.inside + 1.2)) * (n === row ? 1 : 1 - 0.55 * eased(time, BEATS.compare - 0.3, BEATS.compare) * (1 - lit(time, n))))));
      this.#bar(into, n, { x: at.bars, y: middle(n), across: at.across, alone: width - at.bars - 60, high: Math.max(3, high * 0.56), letters: labels(width) }, paint);
      this.#value(into, n, { x: values, y: middle(n), cell: at.cell, high: Math.max(3, high * 0.56) }, paint);
    });
    const span = Math.min(height - top - 24, high * tokens.length * 0.7), from = middle(row) - span / 2, low = Math.min(Math.max(top + 16, from), height - span - 4);
    this.#ribbons(into, { from: right, to: block, middle, high: high * 0.8, low, span }, paint);
    this.#mixed(into, { x: block, low, span, strip }, paint);
  }

  /** A token on its way from the sentence into the column. @param {Element} name @param {number} time @param {number} n @param {Spot} place */
  #travel(name, time, n, place) {
    const from = this.spots[n] ?? place, begin = BEATS.inside + LEFT + AFTER * n, gone = eased(time, begin, begin + TRAVELS);
    const between = (/** @type {"x" | "y" | "size"} */ key) => String(from[key] + (place[key] - from[key]) * gone);
    name.setAttribute("x", between("x"));
    name.setAttribute("y", between("y"));
    name.setAttribute("font-size", between("size"));
  }

  /** The weights of every head, a small picture each; the one of the film grows until its rows stand beside their tokens, and its row of the gap is framed.
   * @param {Element} into @param {{x: number, y: number, wide: number, high: number, letters: number}} at @param {Paint} paint */
  #heads(into, { x, y, wide, high, letters }, paint) {
    const { all, layer, head, row, tokens } = this.inside, side = letters * 5, gap = 6, left = x + side, upper = y + letters;
    const across = (x + wide - left) / all[0].length, down = (y + high - upper) / all.length, low = down - gap, broad = Math.min(across - gap, WIDEST * low);
    const names = this.#add("g", {}, into), style = { "font-size": letters, fill: paint.dim };
    all[0].forEach((_, n) => this.#text(`${n ? "" : "head "}${n}`, { x: left + n * (broad + gap) + broad / 2, y: y + letters / 2 - 4, "text-anchor": "middle", ...style }, names));
    all.forEach((_, n) => this.#text(`layer ${n}`, { x: left - 8, y: upper + n * down + low / 2, "text-anchor": "end", ...style }, names));
    this.parts.push((time) => names.setAttribute("opacity", String(eased(time, BEATS.inside + 0.5, BEATS.inside + 1.1) * (1 - eased(time, BEATS.one + 0.5, BEATS.one + 0.9)))));
    all.forEach((heads, l) => heads.forEach((weights, h) => {
      const chosen = l === layer && h === head, from = { x: left + h * (broad + gap), y: upper + l * down, width: broad, height: low }, to = { x, y, width: wide, height: high };
      const picture = this.#add("image", { href: shaded(weights, paint.on), preserveAspectRatio: "none", style: "image-rendering:pixelated" }, into);
      const frame = this.#add("rect", { fill: "none", stroke: chosen ? paint.hold : paint.line, "stroke-width": 1 }, into), begin = BEATS.inside + 0.5 + 0.06 * (l * heads.length + h);
      this.parts.push((time) => {
        const grown = chosen ? eased(time, BEATS.one + 0.5, BEATS.one + 1.3) : 0, gone = chosen ? eased(time, BEATS.compare - 0.5, BEATS.compare) : eased(time, BEATS.one + 0.5, BEATS.one + 0.9);
        for (const one of [picture, frame]) {
          for (const [key, value] of Object.entries(from)) one.setAttribute(key, String(value + (to[/** @type {keyof typeof to} */ (key)] - value) * grown));
          one.setAttribute("opacity", String(eased(time, begin, begin + 0.4) * (1 - gone)));
        }
        if (chosen) frame.setAttribute("stroke-width", String(1 + 3 * eased(time, BEATS.one - 0.2, BEATS.one + 0.2) * (1 - grown)));
      });
    }));
    const one = high / tokens.length, each = wide / tokens.length, framed = this.#add("g", {}, into);
    this.#add("rect", { x, y: y + row * one, width: wide, height: one, fill: "none", stroke: paint.hold, "stroke-width": 3, rx: 2 }, framed);
    if (each > 3.5 * letters) tokens.forEach((token, n) => this.#text(token, { x: x + (n + 0.5) * each, y: y - 12, "text-anchor": "middle", ...style, fill: n === row ? paint.hold : paint.dim }, framed));
    this.parts.push((time) => framed.setAttribute("opacity", String(eased(time, BEATS.one + 1.3, BEATS.one + 1.6) * (1 - eased(time, BEATS.compare - 0.3, BEATS.compare + 0.2)))));
  }

  /** What the columns are. @param {Element} into @param {{bars: number, values: number, block: number, end: number, letters: number}} at @param {Paint} paint */
  #titles(into, { bars, values, block, end, letters }, paint) {
    const style = { y: 9, "font-size": letters, fill: paint.dim };
    const first = this.#text("", { x: bars, ...style }, into), value = this.#text("values", { x: values, ...style }, into), result = this.#text("mix", { x: block, ...style }, into);
    const where = this.#text(`${this.title}: layer ${this.inside.layer}, head ${this.inside.head}`, { x: end - 4, "text-anchor": "end", ...style }, into);
    this.parts.push((time) => {
      where.setAttribute("opacity", String(eased(time, BEATS.compare, BEATS.compare + 0.5) * (1 - eased(time, BEATS.mix + 1, BEATS.mix + 1.5))));
      first.textContent = time < WEIGHED[0] ? "scores" : "weights";
      first.setAttribute("opacity", String(eased(time, BEATS.compare, BEATS.compare + 0.5)));
      value.setAttribute("opacity", String(eased(time, BEATS.mix, BEATS.mix + 0.5)));
      result.setAttribute("opacity", String(eased(time, BEATS.mix + 1.5, BEATS.mix + 2)));
    });
  }

  /** The score of a token, which the softmax turns into its weight: one below zero is gone first, and then each grows to the right.
   * As wide as the picture until the values come. @param {Element} into @param {number} n
   * @param {{x: number, y: number, across: number, alone: number, high: number, letters: number}} at @param {Paint} paint */
  #bar(into, n, { x, y, across, alone, high, letters }, paint) {
    const { scores, weights } = this.inside, low = Math.min(0, ...scores), range = Math.max(...scores) - low || 1;
    const score = scores[n] / range, zero = -low / range, follows = n === this.follows, mark = follows ? paint.follow : paint.on;
    const bar = this.#add("rect", { class: "score", y: y - high / 2, height: high, rx: 2 }, into);
    const told = follows || [Math.max(...scores), Math.min(...scores)].includes(scores[n]);
    const style = { class: "told", y, "font-size": letters, fill: follows ? paint.follow : paint.ink };
    const says = told ? [asScore(scores[n]), percent(weights[n])] : [], numbers = says.map((words) => this.#text(words, style, into));
    this.parts.push((time) => {
      const weighed = eased(time, ...WEIGHED), left = score < 0 ? 1 - eased(time, BEATS.weigh, BEATS.weigh + EMPTIES) : 1;
      const length = score * lit(time, n) * left * (1 - weighed) + weights[n] * weighed, base = zero * (1 - weighed);
      const wide = alone + (across - alone) * eased(time, BEATS.mix - 0.6, BEATS.mix);
      bar.setAttribute("x", String(x + wide * Math.min(base, base + length)));
      bar.setAttribute("width", String(wide * Math.abs(length)));
      bar.setAttribute("fill", length < 0 ? paint.signed[1] : mark);
      const ofScore = lit(time, n) * (1 - eased(time, BEATS.weigh - 0.3, BEATS.weigh));
      const ofWeight = eased(time, WEIGHED[1], WEIGHED[1] + 0.3) * (1 - eased(time, BEATS.mix - 0.6, BEATS.mix - 0.3));
      numbers.forEach((number, k) => {
        number.setAttribute("x", String(x + wide * Math.max(base, base + length) + 6));
        number.setAttribute("opacity", String(k ? ofWeight : ofScore));
      });
    });
  }

  /** The value of a token as a row of cells, in the colours of its signs. @param {Element} into @param {number} n
   * @param {{x: number, y: number, cell: number, high: number}} at @param {Paint} paint */
  #value(into, n, { x, y, cell, high }, paint) {
    const group = this.#add("g", {}, into), { values, weights } = this.inside;
    values[n].forEach((value, c) => this.#add("rect", { x: x + c * cell, y: y - high / 2, width: cell + 0.3, height: high, fill: this.colour(value, paint) }, group));
    const frame = { x, y: y - high / 2, width: values[n].length * cell, height: high, fill: "none", stroke: paint.follow, "stroke-width": 2 };
    if (n === this.follows) this.#add("rect", frame, group);
    this.parts.push((time) => {
      const faint = eased(time, BEATS.mix + 0.8, BEATS.mix + 1.8), shown = eased(time, BEATS.mix, BEATS.mix + 0.8);
      group.setAttribute("opacity", String(shown * (1 - 0.75 * faint * Number(weights[n] < LEAST))));
    });
  }

  /** A number in the colour of its sign and size. @param {number} value @param {Paint} paint */
  colour(value, { signed }) {
    return signed[Math.round((signed.length - 1) * (0.5 + 0.5 * Math.sign(value) * this.strength(value)))];
  }

  /** How large a number is beside the largest value, from 0 to 1. @param {number} value */
  strength(value) {
    return Math.min(1, (1.4 * Math.abs(value)) / Math.max(...this.inside.values.flat().map(Math.abs)));
  }

  /** Values on their way into the mix: each number of it is the sum of the tokens' numbers, each as thick as its weight. @param {Element} into
   * @param {{from: number, to: number, middle: (n: number) => number, high: number, low: number, span: number}} at @param {Paint} paint */
  #ribbons(into, { from, to, middle, high, low, span }, paint) {
    const { weights, values } = this.inside, clip = this.#add("clipPath", { id: "opening-mix" }, into), shown = this.#add("rect", { x: from, y: 0, height: low + span + 400, width: 0 }, clip);
    const group = this.#add("g", { "clip-path": "url(#opening-mix)" }, into), bend = (from + to) / 2, cell = span / values[0].length, end = to - 3;
    let before = 0;
    weights.forEach((weight, n) => {
      if (weight < LEAST) return;
      values[n].forEach((value, c) => {
        const thin = (weight * high) / values[n].length, y = middle(n) + (c - values[n].length / 2) * thin, top = low + (c + before) * cell, under = top + weight * cell;
        const d = `M${from} ${y}C${bend} ${y} ${bend} ${top} ${end} ${top}V${under}C${bend} ${under} ${bend} ${y + thin} ${from} ${y + thin}Z`;
        const path = this.#add("path", { d, fill: n === this.follows ? paint.follow : this.colour(value, paint) }, group);
        if (n === this.follows) path.setAttribute("fill-opacity", String(0.15 + 0.85 * this.strength(value)));
      });
      before += weight;
    });
    this.parts.push((time) => shown.setAttribute("width", String((to - from) * eased(time, BEATS.mix + 0.8, BEATS.mix + 2.6))));
  }

  /** The mixed vector of this head, and then those of the others. @param {Element} into @param {{x: number, low: number, span: number, strip: number}} at
   * @param {Paint} paint */
  #mixed(into, { x, low, span, strip }, paint) {
    const { mixed, head } = this.inside, order = [head, ...mixed.map((_, n) => n).filter((n) => n !== head)];
    order.forEach((number, place) => {
      const group = this.#add("g", {}, into), high = span / mixed[number].length;
      mixed[number].forEach((value, c) => this.#add("rect", { x: x + place * (strip + 3), y: low + c * high, width: strip, height: high + 0.3, fill: this.colour(value, paint) }, group));
      this.#text(String(number), { x: x + place * (strip + 3) + strip / 2, y: low - 8, "font-size": 13, "text-anchor": "middle", fill: paint.dim, opacity: place || mixed.length > 1 ? 1 : 0 }, group);
      const begin = place ? BEATS.heads + 0.5 * place : BEATS.mix + 2;
      this.parts.push((time) => group.setAttribute("opacity", String(eased(time, begin, begin + 0.7))));
    });
  }

  /** The position rises through the layers. @param {Element} into @param {number} width @param {number} height @param {Paint} paint */
  #tower(into, width, height, paint) {
    const { floors } = this, high = height / floors.length, wide = width >= 700, left = wide ? 190 : 84, y = (/** @type {number} */ n) => height - (n + 0.5) * high;
    const pole = wide ? 150 : 70, across = (width - left - 8) / 3;
    this.#add("line", { x1: pole, x2: pole, y1: y(0), y2: y(floors.length - 1), stroke: paint.line, "stroke-width": 3 }, into);
    floors.forEach((guesses, n) => {
      const group = this.#add("g", {}, into), last = n === floors.length - 1, letters = wide ? Math.max(18, width / 60) : 13;
      this.#add("circle", { cx: pole, cy: y(n), r: 5, fill: paint.line }, into);
      this.#text(n ? `${wide ? "after " : ""}${n} layer${n > 1 ? "s" : ""}` : "input", { x: pole - 14, y: y(n), "text-anchor": "end", "font-size": labels(width), fill: paint.dim }, into);
      guesses.forEach(({ text, share }, k) => this.#guess(group, { x: left + k * across, y: y(n), across: across - (wide ? 24 : 10), letters }, { text, share, best: last && !k }, paint));
      const begin = floorAt(n);
      this.parts.push((time) => group.setAttribute("opacity", String(eased(time, begin, begin + 0.8))));
    });
    const dot = this.#add("circle", { cx: pole, r: 9, fill: paint.hold }, into);
    this.parts.push((time) => dot.setAttribute("cy", String(y(climbed(time, floors.length - 1)))));
  }

  /** A guess with its bar; where there is little room, its probability is beside the bar. @param {Element} into
   * @param {{x: number, y: number, across: number, letters: number}} at @param {{text: string, share: number, best: boolean}} guess @param {Paint} paint */
  #guess(into, { x, y, across, letters }, { text, share, best }, paint) {
    const weight = best ? 700 : 400, fill = best ? paint.on : paint.ink, narrow = across < 120, long = narrow ? across - 42 : across;
    const up = y - letters * 0.55, down = y + letters * 0.35;
    this.#text(text, { x, y: up, "font-size": letters, "font-weight": weight, fill }, into);
    this.#text(percent(share), { x: x + across, y: narrow ? down + 3 : up, "font-size": letters, "font-weight": weight, "text-anchor": "end", fill }, into);
    this.#add("rect", { x, y: down, width: long, height: 6, rx: 2, fill: paint.line, opacity: 0.5 }, into);
    this.#add("rect", { x, y: down, width: long * share, height: 6, rx: 2, fill: paint.on }, into);
  }
}

/** The token that the film follows: the word, and not a small one, that the gap weighs most; where there is none, whatever it weighs most.
 * @param {Inside} inside */
export function followed({ tokens, weights, row }) {
  const said = (/** @type {number} */ n) => (n === row ? -1 : WORD.test(tokens[n]) ? 1 + weights[n] : weights[n]);
  return tokens.map((_, n) => n).reduce((best, n) => (said(n) > said(best) ? n : best));
}

/** A score as a reader sees it. @param {number} score */
export const asScore = (score) => score.toFixed(1).replace("-", "−");

/** The size of what names a column or a floor. @param {number} width of the picture */
const labels = (width) => (width >= 700 ? Math.max(15, width / 90) : 13);

/** How far a token is lit while scores are compared: one after the other. @param {number} time @param {number} n */
const lit = (time, n) => eased(time, BEATS.compare + 0.1 + 0.14 * n, BEATS.compare + 0.6 + 0.14 * n);

/** The weights of a head as the address of a small picture: a row of cells for each token, darker where the weight is larger. @param {number[][]} weights in percent
 * @param {string} colour */
function shaded(weights, colour) {
  const canvas = Object.assign(document.createElement("canvas"), { width: weights.length, height: weights.length }), pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = colour;
  weights.forEach((row, y) => row.forEach((weight, x) => {
    pen.globalAlpha = weight / 100;
    pen.fillRect(x, y, 1, 1);
  }));
  return canvas.toDataURL();
}

/** When a floor is reached. @param {number} n */
export const floorAt = (n) => BEATS.rise + 0.3 + FLOOR * n;

/** How many floors the position has climbed. @param {number} time @param {number} top */
function climbed(time, top) {
  let floor = 0;
  for (let n = 1; n <= top; n++) floor += eased(time, floorAt(n) - 0.6, floorAt(n) + 0.2);
  return floor;
}
