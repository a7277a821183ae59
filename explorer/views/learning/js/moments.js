// The map step × token: one held-out example over the training, a row for each look at it. The colour of a cell is the probability of the right
// token, a dot marks where that was the most probable one for the first time. A press on a row goes back to the nearest moment that was kept.
import { element } from "../../live/js/element.js";
import { shownAs } from "./guesses.js";

/** @typedef {import("./training.js").Guess} Guess */
/** @typedef {{step: number, guesses: Guess[]}} Look */

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

/** @param {HTMLElement} root @param {Look[]} every @param {(step: number) => void} press */
export function drawMap(root, every, press) {
  const looks = thinned(every), first = firstRight(looks), table = element("table", "stepmap"), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(element("th", "", "step"), ...(looks[0]?.guesses ?? []).map(({ text }) => {
    const column = element("th", "");
    column.append(element("span", "named", shownAs(text)));
    return column;
  }));
  looks.forEach(({ step, guesses }, n) => {
    const row = body.insertRow(), button = element("button", "", step.toLocaleString("en"));
    Object.assign(button, { type: "button", onclick: () => press(step) });
    button.setAttribute("aria-label", `Step ${step}: ${guesses.filter(({ right }) => right).length} of ${guesses.length} tokens right. Go back to it`);
    row.appendChild(element("th", "")).append(button);
    guesses.forEach(({ text, chance, first: most }, column) => {
      const cell = row.insertCell();
      const share = Math.round(DARKEST * Math.sqrt(chance)); // by its root, as the examples are
      cell.style.setProperty("--chance", `${share}%`);
      cell.className = share > 50 ? "deep" : "";
      cell.textContent = first[column] === n ? "●" : "";
      cell.title = `step ${step}, ${text}: ${Math.round(100 * chance)} %; most probable: ${most}`;
    });
  });
  root.replaceChildren(table);
}
