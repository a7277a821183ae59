// Beam search as a figure: a tree that grows by a column at each step, with the branches that were pruned. Placed as in explorer/views/tree.py.
import { candidateSentence, percent } from "./candidates.js";
import { textOf, textThing } from "./fan.js";

/** @typedef {import("../../stage/js/moving.js").Thing} Thing */
/** @typedef {import("./decoding.js").Step} Step */
/** @typedef {import("./decoding.js").Candidate} Candidate */
/** @typedef {import("./fan.js").Scene} Scene */
/** @typedef {{one: Candidate, step: number, row: number, from: number, ids: number[], key: string, parent: string}} Branch a candidate: its row and that of its parent */

const COLUMN = 136, NARROWEST = 64, NUMBERED = 104, LINE = 30, ABOVE = 20, BAND = 1.5, PRUNED = 1; // pixels of a step, at least, and where there is room for a number; of a row, above the first; rows of a beam, and those of its pruned branches

const keyOf = (/** @type {number[]} */ ids) => `node ${ids.join(".")}`;

/** A key that no other object has: in groups of beams one text may be kept twice. @param {string} key @param {Set<string>} taken @returns {string} */
function alone(key, taken) {
  if (taken.has(key)) return alone(`${key}'`, taken);
  taken.add(key);
  return key;
}

/** Every branch that is shown. A beam has a band of rows: itself on top, below it what its parent of that band did not keep. @param {Step[]} steps @returns {Branch[]} */
export function branchesOf(steps) {
  let texts = /** @type {number[][]} */ ([[]]);
  const taken = /** @type {Set<string>} */ (new Set());
  return steps.flatMap((step) => {
    const used = /** @type {Map<number, number>} */ (new Map()), grown = /** @type {number[][]} */ ([]), high = BAND + PRUNED;
    const ranked = step.candidates.slice().sort((a, b) => Number(b.fate === "finished") - Number(a.fate === "finished") || b.total - a.total);
    const branches = ranked.flatMap((one) => {
      const before = texts[one.parent] ?? [], ids = [...before, one.id], beam = one.beam ?? -1, nth = (used.get(one.parent) ?? 0) + 1;
      if (beam >= 0) grown[beam] = ids;
      else used.set(one.parent, nth);
      if (beam < 0 && nth > PRUNED && one.fate !== "finished") return [];
      const row = beam >= 0 ? beam * high : one.parent * high + Math.min(nth, PRUNED + 0.6);
      return [{ one, step: step.step, row, from: one.parent * high, ids, key: alone(keyOf(ids), taken), parent: before.length ? keyOf(before) : "root" }];
    });
    texts = grown;
    return branches;
  });
}

/** Whether a branch goes on: it was kept, or ended a text. @param {Candidate} one */
const lives = (one) => (one.beam ?? -1) >= 0 || one.fate === "finished" || one.fate === "kept";

/** The keys of the texts that are still followed or have ended, and of all that leads to them. @param {Branch[]} branches @param {number} at @param {boolean} judged */
function followed(branches, at, judged) {
  const tips = branches.filter(({ one, step }) => one.fate === "finished" || (step === at && (!judged || lives(one))));
  return new Set(tips.flatMap(({ ids }) => ids.map((_, n) => keyOf(ids.slice(0, n + 1)))));
}

const spotOf = (/** @type {number} */ step, /** @type {number} */ row, size = 1, column = COLUMN) => ({ x: (step + 1) * column, y: size * (ABOVE + row * LINE) });

/** How wide a step is drawn: narrower where root and tip would not be seen together. @param {number} columns @param {number} wide @param {number} size */
export const columnOf = (columns, wide, size) => Math.floor(Math.max(NARROWEST, Math.min(size * COLUMN, wide / (columns + 1))));

/** How much larger than usual a tree is drawn, as long as its columns leave room. @param {number} columns @param {number} rows @param {number} wide @param {number} high of the room @param {number} most */
export const sizeOf = (columns, rows, wide, high, most) => Math.max(1, Math.min(most, wide / ((columns + 1) * COLUMN), high / (2 * ABOVE + rows * LINE)));

/** @param {Branch} branch @param {string} state @param {Scene} scene @param {string} stop the key of the node that the tab key comes to @returns {Thing} */
function nodeOf({ one, step, row, key, parent }, state, { held, hold, size, column }, stop) {
  const { x, y } = spotOf(step, row, size, column), share = Math.exp(one.logp), small = share < 0.005 ? "<1%" : `${Math.round(100 * share)}%`, words = `${one.text || "∅"}, ${percent(share)}, ${state}`;
  return { key, tag: "button", name: "node", from: parent, style: { left: `${x}px`, top: `${y}px`, "--share": `${100 * share}%` }, press: () => hold(key),
    is: { type: "button", "data-state": state, "data-held": held === key ? "" : undefined, "aria-pressed": String(held === key), "aria-label": words, "data-says": candidateSentence(one, state === "pruned" ? "kept here, dropped later" : "kept"), tabindex: stop === key ? "0" : "-1" },
    inside: [{ key: `${key} text`, tag: "b", text: one.fate === "finished" && /^<.+>$/.test(one.text) ? "end" : one.text || "∅", is: { dir: "auto" } }, { key: `${key} p`, tag: "small", text: small }] };
}

/** The line from a text to the token that goes on with it. @param {Branch} branch @param {string} state @param {number} size @param {number} column @returns {Thing} */
function edgeOf({ step, row, from, key }, state, size, column) {
  const a = spotOf(step - 1, from, size, column), b = spotOf(step, row, size, column), bend = b.x - 0.19 * column;
  return { key: `edge ${key}`, tag: "path", name: "edge", is: { d: `M${a.x + 8 * size} ${a.y}H${bend - 0.15 * column}C${bend} ${a.y} ${bend} ${b.y} ${b.x} ${b.y}`, "data-state": state } };
}

/** The leading text, and below it the tree up to this step. @param {Scene} scene @returns {Thing[]} */
export function treeOf(scene) {
  const { steps, at, judged, own, held, size: large = 1, column = large * COLUMN, rows = 0 } = scene, step = steps[at];
  if (!step) return [textThing(scene, [])];
  const leading = judged ? step : steps[at - 1], text = textThing(scene, leading ? [{ key: "written all", tag: "span", text: textOf(leading, own) }] : []);
  const branches = branchesOf(steps.slice(0, at + 1)), alive = followed(branches, at, judged), best = new Set(leading ? leading.ids.map((_, n) => keyOf(leading.ids.slice(0, n + 1))) : []);
  const stateOf = (/** @type {Branch} */ { one, step, key }) =>
    step === at && !judged ? "open" : best.has(key) ? "best" : one.fate === "finished" ? "finished" : !lives(one) || !alive.has(key) ? "pruned" : "kept";
  const high = Math.max(rows, ...branches.map(({ row }) => row)), size = { width: `${(at + 2) * column}px`, height: `${large * (2 * ABOVE + high * LINE)}px`, "--size": String(large), "--column": `${column}px` };
  const first = (branches.find(({ key }) => key === held) ?? branches.find((branch) => branch.step === at))?.key ?? "";
  const nodes = branches.map((branch) => nodeOf(branch, stateOf(branch), scene, first));
  const root = { key: "root", tag: "span", name: "node root", text: own ? "prompt" : "start", style: { left: "0px", top: `${large * ABOVE}px` } };
  const tree = { key: "tree", name: "tree", style: size, is: { "data-narrow": column < NUMBERED * large ? "" : undefined }, inside: [{ key: "edges", tag: "svg", name: "edges", is: { "aria-hidden": "true" }, style: size, inside: branches.map((branch) => edgeOf(branch, stateOf(branch), large, column)) }, root, ...nodes] };
  return [text, { key: "scroller", name: "scroller", is: { role: "group", "aria-label": "The tree of the search" }, inside: [tree] }];
}

/** Light a text of the tree, from its first token on, while a pointer is over its last one. @param {Map<string, Element>} known the elements by their keys
 * @param {EventTarget | null} target */
export function lightText(known, target) {
  const key = /** @type {Element | null} */ (target)?.closest?.("button.node")?.getAttribute("data-key") ?? "";
  for (const [name, at] of known) {
    const node = name.replace(/^edge /, "");
    if (node.startsWith("node ")) at.toggleAttribute("data-lit", key === node || key.startsWith(`${node}.`));
  }
}
