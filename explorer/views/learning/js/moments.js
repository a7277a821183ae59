// The map: the first tokens to predict, a column each. Above, a row for each look at them during the training: the colour of a cell is the probability of
// the right token, a dot marks where that was the most probable one for the first time. Below, at the moment that is shown, a row for each place in the
// layers: a dot marks from where on the prediction stays as it is.
import { element } from "../../live/js/element.js";
import { percent } from "./curves.js";
import { shownAs } from "./guesses.js";

/** @typedef {import("./training.js").Guess} Guess */
/** @typedef {{step: number, guesses: Guess[]}} Look */
/** @typedef {import("./training.js").Place} Place */
/** @typedef {{step: (step: number) => void, cell: (step: number, column: number) => void}} Presses */

const MOST_LOOKS = 24; // rows: of more every second one goes
const DARKEST = 85; // percent of the colour, so that the dot on it can be seen

/** Of so many looks those that are shown: the first, the last, and evenly many between them. @param {Look[]} looks @returns {Look[]} */
export function thinned(looks) {
  const every = Math.ceil(looks.length / MOST_LOOKS);
  return looks.filter((_, n) => n % every === 0 || n === looks.length - 1);
}

/** The number of the look at which each token was the most probable one for the first time; −1 where it never was. @param {Look[]} looks */
export function firstRight(looks) {
  return (looks[0]?.guesses ?? []).map((_, column) => looks.findIndex(({ guesses }) => guesses[column]?.right));
}

/** The number of the place from which on each prediction is that of the last one. @param {Place[]} places */
export function settledAt(places) {
  const last = places[places.length - 1]?.guesses ?? [];
  return last.map(({ first }, column) => places.length - [...places].reverse().findIndex(({ guesses }) => guesses[column].first !== first)).map((n) => (n > places.length ? 0 : n));
}

/** A row of cells. @param {HTMLTableSectionElement} body @param {string | HTMLElement} name @param {Guess[]} guesses @param {(column: number) => boolean} marked @param {string} where */
function rowOf(body, name, guesses, marked, where) {
  const row = body.insertRow();
  row.appendChild(element("th", "")).append(name);
  guesses.forEach(({ text, chance, first }, column) => {
    const cell = row.insertCell(), share = Math.round(DARKEST * Math.sqrt(chance)); // by its root, as the examples are
    cell.style.setProperty("--chance", `${share}%`);
    cell.className = share > 50 ? "deep" : "";
    cell.textContent = marked(column) ? "●" : "";
    cell.title = `${where}, ${text}: ${percent(chance)}; most probable: ${first}`;
  });
  return row;
}

/** @param {HTMLElement} root @param {Look[]} every @param {Place[]} places of the moment that is shown @param {number} at its step @param {Presses} press */
export function drawMap(root, every, places, at, press) {
  const looks = thinned(every), first = firstRight(looks), settled = settledAt(places), table = element("table", "stepmap"), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(element("th", "", "step"), ...(looks[0]?.guesses ?? []).map(({ text }) => {
    const column = element("th", "");
    column.append(element("span", "named", shownAs(text)));
    return column;
  }));
  looks.forEach(({ step, guesses }, n) => {
    const button = element("button", "", step.toLocaleString("en"));
    Object.assign(button, { type: "button", onclick: () => press.step(step) });
    button.setAttribute("aria-label", `Step ${step}: ${guesses.filter(({ right }) => right).length} of ${guesses.length} tokens right. Go back to it`);
    const row = rowOf(body, button, guesses, (column) => first[column] === n, `step ${step}`);
    row.className = "look";
    [...row.cells].slice(1).forEach((cell, column) => (cell.onclick = () => press.cell(step, column)));
  });
  const inside = table.createTBody(), heading = inside.insertRow().appendChild(element("th", "inside", `layers at step ${at.toLocaleString("en")}`));
  heading.colSpan = settled.length + 1;
  places.forEach(({ name, guesses }, n) => rowOf(inside, name, guesses, (column) => settled[column] === n, `${name}, step ${at}`));
  root.replaceChildren(table);
}
