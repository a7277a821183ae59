// The link of a run: its settings and where it ended, in letters that an address takes as they are. Anybody may have written one.
import { DIALS, settingsIn } from "./settings.js";

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {{settings: Settings, steps: number, loss: number, right: number, text: string, turned: boolean}} Ended `right`: of the held-out tokens, or whole answers; `text`: the
 * mark of an own text; `turned`: settings changed while it trained, or its weights came from a file, so that these settings alone do not give it */

const LETTERS = 1000, STEPS = 1e7, LOSS = 1000; // at most
const AGAIN = "Copy the link again.";

/** Eight letters that tell one text from another (FNV-1a). @param {string} text */
export function markOf(text) {
  let mark = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) mark = Math.imul(mark ^ text.charCodeAt(n), 0x01000193);
  return text ? (mark >>> 0).toString(16).padStart(8, "0") : "none";
}

/** Whether a run ended at a loss that a link may hold. @param {number} steps @param {number} loss */
export const hasEnded = (steps, loss) => steps >= 1 && steps <= STEPS && loss >= 0 && loss <= LOSS;

/** @param {Omit<Ended, "text">} run */
export function writtenRun({ settings, steps, loss, right, turned }) {
  const { source, ...dials } = settings, short = (/** @type {number} */ value) => Number(value.toPrecision(6));
  const values = { ...dials, ...source, steps, loss: short(loss), right: short(right), text: markOf(source.text), turned: turned ? "yes" : "no" };
  return Object.entries(values).map(([name, value]) => `${name}:${value}`).join(",");
}

/** @param {string} written @returns {Ended} */
export function runIn(written) {
  if (written.length > LETTERS) throw new Error(`The link of this run is longer than ${LETTERS} letters. ${AGAIN}`);
  const given = new Map(written.split(",").map((part) => /** @type {[string, string]} */ (part.split(":", 2)))), typed = (/** @type {string} */ name) => {
    const value = given.get(name) ?? "", { options } = DIALS[name];
    return options ? options.find(([known]) => String(known) === value)?.[0] : value ? Number(value) : undefined;
  };
  const { data, unit, ...dials } = Object.fromEntries(Object.keys(DIALS).map((name) => [name, typed(name)]));
  const settings = settingsIn({ ...dials, source: { data, unit } }, "link", AGAIN);
  const [steps, loss, right] = ["steps", "loss", "right"].map((name) => Number(given.get(name) || NaN)), text = given.get("text") ?? "";
  const known = Number.isInteger(steps) && hasEnded(steps, loss) && right >= 0 && right <= 1 && /^(none|[0-9a-f]{8})$/.test(text);
  if (!known) throw new Error(`The link of this run does not say where it ended. ${AGAIN}`);
  return { settings, steps, loss, right, text, turned: given.get("turned") === "yes" };
}

/** Put a text on the clipboard, where the page may. @param {string} text */
export const copied = (text) => (navigator.clipboard ? navigator.clipboard.writeText(text).then(() => true, () => false) : Promise.resolve(false));
