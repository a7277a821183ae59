// Curves over the steps of a training, on a canvas: drawn several times a second, so without a library.
import { element } from "../../live/js/element.js";

/** @typedef {{name: string, colour: string, points: [step: number, value: number][], dots?: boolean, end?: string}} Series `colour` is a variable of the style; `end` is written where the line ends */
/** @typedef {{steps: number, own: number, at: number, level?: [value: number, name: string], least?: number, share?: boolean, last: string}} Around how far the axis goes and this run, the step that is shown, a level to compare
 * with, where the axis ends at least, whether its numbers are percentages, and the last value in words */

const LEFT = 44, BELOW = 20, ABOVE = 8, RIGHT = 8; // room for numbers around the curves
const MOST = 400; // points of a curve: more cannot be seen

/** A share of 1, in whole percent. @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

/** A round number at or above this one. @param {number} value */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 4, 6, 8, 10].map((by) => by * power).find((round) => round >= value * 0.999) ?? value;
}

/** One picture with a title and a legend. */
export class Curves {
  /** @param {HTMLElement} root @param {string} title @param {number} height */
  constructor(root, title, height) {
    const figure = root.appendChild(element("figure", "curves")), caption = figure.appendChild(element("figcaption", ""));
    caption.append(element("strong", "", title), (this.legend = element("span", "keys")), (this.last = element("span", "last")));
    this.title = title;
    this.canvas = figure.appendChild(document.createElement("canvas"));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", title);
    this.canvas.style.height = `${height}px`;
    this.height = height;
  }

  /** @param {Series[]} series @param {Around} around */
  draw(series, { steps, own, at, level, least = 0, share = false, last }) {
    const { canvas, height } = this, wide = canvas.clientWidth || 300, scale = devicePixelRatio || 1, style = getComputedStyle(canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    canvas.width = wide * scale;
    canvas.height = height * scale;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), most = ceiling(Math.max(level?.[0] ?? 0, ...series.flatMap(({ points }) => points.map(([, y]) => y)), least));
    pen.scale(scale, scale);
    pen.font = `13px ${style.fontFamily}`;
    const right = Math.max(20, steps), x = (/** @type {number} */ step) => LEFT + (step / right) * (wide - LEFT - RIGHT), y = (/** @type {number} */ value) => height - BELOW - (value / most) * (height - BELOW - ABOVE);
    this.#grid(pen, { colour, x, y, wide, right, most, share });
    if (level) this.#level(pen, { colour: colour("--dim"), paper: colour("--paper") }, y(level[0]), wide, level[1]);
    for (const { points, colour: name, dots, end } of series) {
      const places = points.map(([step, value]) => [x(step), y(value)]), last = places[places.length - 1];
      this.#line(pen, colour(name), places, Boolean(dots));
      if (end && last) pen.fillText(end, Math.min(last[0] + 8, wide - 6), last[1] + 4);
    }
    if (at < own) this.#mark(pen, colour("--ink"), x(at));
    this.legend.replaceChildren(...series.filter(({ name }) => name).map(({ name, colour: key }) => {
      const label = element("span", "key", name);
      label.style.setProperty("--key", `var(${key})`);
      return label;
    }));
    this.last.textContent = last;
    canvas.setAttribute("aria-label", `${this.title}: ${last || "nothing yet"}`);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{colour: (name: string) => string, x: (n: number) => number, y: (n: number) => number, wide: number, right: number, most: number, share: boolean}} around */
  #grid(pen, { colour, x, y, wide, right, most, share }) {
    pen.strokeStyle = colour("--line");
    pen.fillStyle = colour("--dim");
    pen.lineWidth = 1;
    for (const value of [0, most / 2, most]) {
      pen.beginPath();
      pen.moveTo(LEFT, y(value));
      pen.lineTo(wide - RIGHT, y(value));
      pen.stroke();
      pen.textAlign = "right";
      pen.fillText(share ? percent(value) : Number(value.toPrecision(2)).toLocaleString("en"), LEFT - 6, y(value) + 4);
    }
    pen.textAlign = "center";
    for (const step of [0, right / 2, right]) pen.fillText(String(Math.round(step)), Math.min(x(step), wide - 18), y(0) + 16);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{colour: string, paper: string}} colours @param {number} at @param {number} wide @param {string} name */
  #level(pen, { colour, paper }, at, wide, name) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.setLineDash([4, 4]);
    pen.beginPath();
    pen.moveTo(LEFT, at);
    pen.lineTo(wide - RIGHT, at);
    pen.stroke();
    pen.setLineDash([]);
    pen.textAlign = "right";
    pen.strokeStyle = paper; // over a line of the grid
    pen.lineWidth = 6;
    const place = /** @type {[string, number, number]} */ ([name, wide - RIGHT - 4, at > ABOVE + 8 ? at - 7 : at + 15]); // above, clear of a loss that falls
    pen.strokeText(...place);
    pen.fillText(...place);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} colour @param {number[][]} points @param {boolean} dots */
  #line(pen, colour, points, dots) {
    const every = Math.ceil(points.length / MOST), drawn = points.filter((_, n) => n % every === 0 || n === points.length - 1);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = dots ? 2 : 1.5;
    pen.beginPath();
    drawn.forEach(([px, py], n) => (n ? pen.lineTo(px, py) : pen.moveTo(px, py)));
    pen.stroke();
    if (!dots && drawn.length > 1) return; // of one point there is no line
    for (const [px, py] of drawn) {
      pen.beginPath();
      pen.arc(px, py, 3, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  /** The moment that is shown. @param {CanvasRenderingContext2D} pen @param {string} colour @param {number} at */
  #mark(pen, colour, at) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(at, ABOVE);
    pen.lineTo(at, this.height - BELOW);
    pen.stroke();
  }
}
