// The runs of this page, one below the other: what each changes, and where it ended.
import { element } from "../../live/js/element.js";
import { percent } from "./curves.js";
import { changesFrom } from "./settings.js";

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {{settings: Settings, steps: number, held: [step: number, loss: number][], right: number}} Run `right`: of the held-out tokens, or whole answers, at its last check */

export const RUNS = 5; // in one table

/** What a run reads and predicts: the data, and how much of a text is masked. @param {Settings} settings */
const task = ({ family, maskRate, source: { data, unit, text } }) => JSON.stringify([family, data, unit, text, family !== "decoder" && (data === "own" || data === "stories") ? maskRate : 0]);

/** Whether the losses of two runs can be compared: they read and predict the same. @param {Settings} a @param {Settings} b */
export const alike = (a, b) => task(a) === task(b);

/** @param {HTMLElement} root @param {Run[]} runs the last one is the one that trains */
export function drawRuns(root, runs) {
  root.hidden = runs.length < 2;
  if (root.hidden) return;
  const table = element("table", "runs"), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(...["run", "differs from the run above", "steps", "held-out loss", "right"].map((name) => element("th", "", name)));
  runs.forEach(({ settings, steps, held, right }, n) => {
    const changed = n ? changesFrom(settings, runs[n - 1].settings).join("; ") || "nothing" : "–", loss = held[held.length - 1]?.[1];
    const cells = [String(n + 1), changed, steps.toLocaleString("en"), Number.isFinite(loss) ? loss.toPrecision(3) : "–", Number.isFinite(right) ? percent(right) : "–"];
    body.insertRow().append(...cells.map((text) => element("td", "", text)));
  });
  root.replaceChildren(element("p", "heading", "Runs of this page"), table);
}
