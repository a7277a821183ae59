// The page of a model: its weights are fetched once, then its board and its decoder run here.
import { unpacked } from "./fetched.js";

const place = /** @type {HTMLElement} */ (document.getElementById("figure"));
const { file, ...begin } = JSON.parse(document.getElementById("begin")?.textContent ?? "{}");
const query = new URLSearchParams(location.search), begins = query.get("beginning"), given = begins ?? query.get("text");

/** What the address of this page asks for, as that of the app does. */
function asked() {
  const [stream, ...rest] = (query.get("board") ?? "").split("."), [layer, head, station, row, col] = rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { ...(given && { text: given }), ...(rest.length > 4 && { view: { stream, layer, head, station, row, col } }) };
}

try {
  /** @type {typeof import("../../views/live/js/home.js")} board/module.py joined it, and what it needs, to one file */
  const { mountLive } = await import(new URL("live.js", import.meta.url).href);
  await mountLive(place, await unpacked(file), { ...begin, ...asked() });
  if (location.hash === "#decoder" || begins) place.querySelector(".decoder")?.scrollIntoView();
  document.body.dataset.drawn = "yes";
} catch (error) {
  place.textContent = String(/** @type {any} */ (error).message ?? error);
}
