// The snapshots of a training: a dot that goes down the curve of the loss, from one snapshot to the next, and a text as the model predicts it then.

/** A curve: its name, its colour and its points, from 0 to 1 of the picture, from the left and from the top. @typedef {{name: string, colour: string, points: [number, number][]}} Curve */
/** A token: itself, and at each snapshot what was the most probable one instead and how probable the right one was. @typedef {{text: string, best: string[], chances: number[]}} Word */
/** @typedef {{curves: Curve[], dots: [number, number][], ends: string[], words: Word[]}} Moments `ends` are the highest and the lowest loss, the first and the last step */

/** @param {Moments} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function momentsAt({ curves, dots, ends, words }, at) {
  const lines = curves.map(({ name, colour, points }) => ({ key: `line ${name}`, tag: "path", name: "line", turns: true, style: { stroke: colour }, is: { d: `M${points.map(([x, y]) => `${(100 * x).toFixed(2)} ${(100 * y).toFixed(2)}`).join("L")}`, "vector-effect": "non-scaling-stroke" } }));
  const [x, y] = dots[at], dot = { key: "dot", tag: "i", name: "dot", style: { left: `${100 * x}%`, top: `${100 * y}%` } };
  const stops = dots.map(([left, top], n) => ({ key: `stop ${n}`, tag: "i", name: "stop", style: { left: `${100 * left}%`, top: `${100 * top}%` } }));
  const marks = ends.map((text, n) => ({ key: `end ${n}`, tag: "span", name: `end end${n}`, text }));
  const legend = curves.map(({ name, colour }) => ({ key: `entry ${name}`, tag: "span", name: "entry", inside: [{ key: `mark ${name}`, tag: "i", style: { background: colour } }, { key: `says ${name}`, tag: "span", text: name }] }));
  const curve = { key: "curve", name: "curve", inside: [{ key: "lines", tag: "svg", name: "lines", turns: true, is: { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, inside: lines }, ...stops, dot, ...marks] };
  return [{ key: "words", name: "said", inside: words.map((word, n) => wordOf(word, n, at)) }, curve, { key: "legend", name: "entries", inside: legend }];
}

/** What is predicted at a token, how probable the right one is, and the right one. @param {Word} word @param {number} n @param {number} at */
function wordOf({ text, best, chances }, n, at) {
  const right = best[at] === text, says = `P(${text}) = ${chances[at].toFixed(3)}; most probable: ${best[at]}`;
  return { key: `word ${n}`, name: "guess", is: { "data-says": says, "data-right": right ? "" : undefined }, inside: [
    { key: `best ${n}`, tag: "b", text: best[at], is: { dir: "auto" } },
    { key: `bar ${n}`, name: "share", inside: [{ key: `fill ${n}`, name: "fill", turns: true, style: { width: `${100 * chances[at]}%` } }] },
    { key: `right ${n}`, tag: "span", text, is: { dir: "auto" } },
  ] };
}
