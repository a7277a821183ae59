// Curves with a dot that goes along the first one, frame by frame, and the names of them all.

/** A curve: its name, its colour and its points, from 0 to 1 of the picture, from the left and from the top. @typedef {{name: string, colour: string, points: [number, number][]}} Curve */
/** @typedef {{curves: Curve[], dots: [number, number][], ends: string[]}} Curves `ends` are the highest and the lowest value, the first and the last frame */

const APART = 20; // stops that can be told apart

/** @param {Curves} told @param {number} at @returns {import("./moving.js").Thing} */
export function curveOf({ curves, dots, ends }, at) {
  const lines = curves.map(({ name, colour, points }) => ({ key: `line ${name}`, tag: "path", name: "line", turns: true, style: { stroke: colour }, is: { d: `M${points.map(([x, y]) => `${(100 * x).toFixed(2)} ${(100 * y).toFixed(2)}`).join("L")}`, "vector-effect": "non-scaling-stroke" } }));
  const [x, y] = dots[at], dot = { key: "dot", tag: "i", name: "dot", style: { left: `${100 * x}%`, top: `${100 * y}%` } };
  const stops = (dots.length > APART ? [] : dots).map(([left, top], n) => ({ key: `stop ${n}`, tag: "i", name: "stop", style: { left: `${100 * left}%`, top: `${100 * top}%` } }));
  const marks = ends.map((text, n) => ({ key: `end ${n}`, tag: "span", name: `end end${n}`, text }));
  const legend = curves.map(({ name, colour }) => ({ key: `entry ${name}`, tag: "span", name: "entry", inside: [{ key: `mark ${name}`, tag: "i", style: { background: colour } }, { key: `says ${name}`, tag: "span", text: name }] }));
  const curve = { key: "curve", name: "curve", inside: [{ key: "lines", tag: "svg", name: "lines", turns: true, is: { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, inside: lines }, ...stops, dot, ...marks] };
  return { key: "plot", name: "plot", inside: [curve, { key: "legend", name: "entries", inside: legend }] };
}
