// The line under the sentence at each moment of the film: at most twelve words and one number.
import { element } from "../../live/js/element.js";
import { percent } from "./elements.js";
import { asScore, BEATS, floorAt, followed, WEIGHED } from "./inside.js";

/** @typedef {(string | HTMLElement)[]} Line */

const number = (/** @type {string} */ text) => element("b", "number", text);

/** The lines, each from its moment on. @param {import("./opening.js").OpeningRecord} record @returns {[number, Line][]} */
function linesOf({ inside, floors, lanes }) {
  const { scores, weights, tokens, heads, mixed, head } = inside, one = followed(inside);
  const compares = "Compare: a score says how well each token answers the gap.", weighs = "Weigh: scores become weights that sum to one.";
  const follow = (/** @type {string} */ text) => element("b", "follow", text);
  const title = lanes.find(({ name }) => name === "bert")?.title ?? "", top = floors[floors.length - 1][0], layers = floors.length - 1;
  return [
    [0, ["Language models learn by guessing a missing word. What is your guess?"]],
    [9.5, [`Look inside ${title}: how does it find “${top.text}”?`]],
    [BEATS.inside, [`Inside ${title}: `, number(String(heads * layers)), " heads. In each, every row weighs the tokens it reads."]],
    [BEATS.one, [`One head: without it, “${top.text}” falls to `, number(percent(inside.without)), "."]],
    [BEATS.compare, [`${compares} “`, follow(tokens[one]), "”: ", number(asScore(scores[one])), "."]],
    [WEIGHED[0], [weighs]],
    [WEIGHED[1], [`${weighs} “`, follow(tokens[one]), "” gets ", number(percent(weights[one])), "."]],
    [BEATS.mix, ["Mix: values, as thick as their weights, become ", number(String(mixed[head].length)), " numbers."]],
    [BEATS.heads, ["All ", number(String(heads)), " heads of a layer do this at once."]],
    [BEATS.rise, ["After each layer: its best guesses so far."]],
    [floorAt(layers) + 0.3, [`After the last layer: “${top.text}”, `, number(percent(top.share)), "."]],
  ];
}

/** @type {WeakMap<object, [number, Line][]>} */
const LINES = new WeakMap();

/** @param {number} time @param {import("./opening.js").OpeningRecord} record @returns {Line} */
export function lineAt(time, record) {
  const lines = LINES.get(record) ?? linesOf(record);
  LINES.set(record, lines);
  return (lines.findLast(([from]) => from <= time) ?? lines[0])[1];
}
