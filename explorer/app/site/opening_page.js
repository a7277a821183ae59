// The opening of the front page: it plays by itself; the models are fetched once somebody types.
import { unpacked } from "./fetched.js";

const { record, word, pages } = JSON.parse(document.getElementById("record")?.textContent ?? "{}"), dark = matchMedia("(prefers-color-scheme: dark)");
const told = () => ({ text: record.text, word, pages, film: true, mode: /** @type {"light" | "dark"} */ (dark.matches ? "dark" : "light"), known: { text: "", words: [] } });
const place = /** @type {HTMLElement} */ (document.getElementById("opening"));
try {
  /** @type {typeof import("../../views/opening/js/opening.js")} opening/module.py joined it, and what it needs, to one file */
  const { Opening } = await import(new URL("opening.js", import.meta.url).href);
  place.textContent = "";
  const opening = new Opening(place, record, told(), { arriving: unpacked });
  dark.onchange = () => opening.turn(told().mode);
  document.body.dataset.drawn = "yes";
} catch {
  place.textContent = "The script of this picture did not arrive. Load this page again.";
}
