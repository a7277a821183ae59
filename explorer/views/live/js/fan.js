// Greedy and sampling as a figure: the tokens that could come next fan out below the text, and the one that is taken flies into it.
import { candidateSentence, fateOf, percent } from "./candidates.js";

/** @typedef {import("../../stage/js/moving.js").Thing} Thing */
/** @typedef {import("./decoding.js").Step} Step */
/** @typedef {import("./decoding.js").Candidate} Candidate */
/** What is drawn: the step `at`, before (`judged` is false) or after a token was taken there; `held` is the key of the object that a hand holds.
 * @typedef {{steps: Step[], at: number, judged: boolean, prompt: string, own: boolean, held: string, hold: (key: string) => void, size?: number, column?: number, rows?: number}} Scene */

/** The text of a step; that of an encoder–decoder with its sentinels. @param {Step} step @param {boolean} own */
export const textOf = (step, own) => (own ? step.text.trimStart() : (step.whole ?? ""));

/** What each step added to the text; null where a step changed what was before. @param {Step[]} steps @param {boolean} own @returns {string[] | null} */
function addedIn(steps, own) {
  const texts = steps.map((step) => textOf(step, own));
  return texts.every((text, n) => !n || text.startsWith(texts[n - 1])) ? texts.map((text, n) => text.slice(n ? texts[n - 1].length : 0)) : null;
}

/** The prompt, and what is written after it. @param {Scene} scene @param {Thing[]} tokens */
export function textThing({ steps, prompt, own }, tokens) {
  const { whole = "", text = "" } = steps[0] ?? {}, goes = own && whole.endsWith(text) && /\S$/.test(whole.slice(0, whole.length - text.length)) && /^\S/.test(text);
  const begin = { key: "prompt", tag: "span", name: "given", text: prompt + (goes ? "" : " "), is: { dir: "auto" } }; // a token may go on with a word
  return { key: "text", tag: "p", name: "written", inside: [...(own ? [begin] : []), { key: "strong", tag: "strong", is: { dir: "auto" }, inside: tokens }] };
}

/** The tokens that were written, each an object of its own; the last one flies in. @param {Scene} scene @returns {Thing[]} */
function tokensOf({ steps, at, judged, own }) {
  const shown = steps.slice(0, judged ? at + 1 : at), added = addedIn(shown, own);
  if (!added) return [{ key: "written all", tag: "span", text: textOf(shown[shown.length - 1], own) }];
  return added.map((text, n) => {
    const taken = takenIn(shown[n]), from = taken && n === at ? `chip ${taken.id}` : undefined;
    return { key: `written ${n} ${taken?.id}`, tag: "span", name: "token", text, from, flies: true, is: { "data-says": taken && candidateSentence(taken) } };
  });
}

/** The token that a step took. @param {Step} step */
export const takenIn = (step) => step.candidates.find((one) => one.fate === "kept" || one.fate === "finished");

/** A candidate in its row, which stays from step to step: its token, its bar, its probability, and what became of it. @param {Candidate} one @param {number} row
 * @param {Scene} scene @returns {Thing} */
function rowOf(one, row, { at, judged, held, hold }) {
  const key = `chip ${one.id}`, cut = one.fate.startsWith("cut") || one.fate === "forced-out", fate = judged || cut ? one.fate : "open", p = Math.exp(one.logp);
  const drawn = !cut && one.share !== undefined && Math.abs(one.share - p) > 1e-4, share = one.share ?? 0;
  const bars = [{ key: `p ${one.id}`, tag: "span", name: "fill", style: { width: `${100 * p}%` } },
    ...(drawn ? [{ key: `share ${one.id}`, tag: "span", name: "fill drawn", style: { width: `${100 * share}%` } }] : [])];
  return { key: `row ${row}`, tag: "li", name: "candidate", from: at ? undefined : "strong", is: { "data-fate": fate, "data-says": candidateSentence(one) }, inside: [
    { key, tag: "button", name: "token-text", text: one.text || "∅", is: { type: "button", dir: "auto", "data-held": held === key ? "" : undefined, "aria-pressed": String(held === key) }, press: () => hold(key) },
    { key: `track ${row}`, tag: "span", name: "track", inside: bars },
    { key: `number ${one.id}`, tag: "span", name: "number", text: percent(p) + (drawn ? ` → ${percent(share)}` : "") },
    { key: `fate ${one.id}`, tag: "span", name: "fate", text: fate === "open" ? "" : fateOf(one) }] };
}

/** The text, and below it the candidates of this step. @param {Scene} scene @returns {Thing[]} */
export function fanOf(scene) {
  const { steps, at } = scene, step = steps[at];
  if (!step) return [textThing(scene, [])];
  const tokens = tokensOf(scene), list = { key: "fan", tag: "ol", name: "fan", is: { "aria-label": "Candidates for this token" }, inside: step.candidates.map((one, row) => rowOf(one, row, scene)) };
  const drawn = step.candidates.some(({ share }) => share !== undefined);
  const caption = { key: "caption", tag: "p", name: "caption", text: `The most probable tokens here, with their probability${drawn ? " → the one that they are drawn with, after temperature and cuts" : ""}.` };
  return [textThing(scene, tokens), list, caption]; // below, where no token flies
}

/** The candidates of a step that can be held, and the tokens that lead to each. @param {Step[]} steps @param {number} at */
export const rowsOf = (steps, at) => (steps[at]?.candidates ?? []).map((one, row) => ({ key: `chip ${one.id}`, one, row, step: at, ids: [...steps[at].ids.slice(0, -1), one.id] }));
