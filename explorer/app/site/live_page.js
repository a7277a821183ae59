// The page of a model: its weights are fetched once, then its board and its decoder run here.
import { fetched } from "./fetched.js";

/** The model as explorer/models/packing.py packed it, from the form in which it travels (explorer/app/site/live_pages.py): the low bytes
 * of all weights, then the high ones. @param {Uint8Array<ArrayBuffer>} sent */
function joined(sent) {
  const head = 4 + new DataView(sent.buffer).getUint32(0, true), half = (sent.length - head) / 2, pack = sent.slice();
  for (let n = 0; n < half; n++) [pack[head + 2 * n], pack[head + 2 * n + 1]] = [sent[head + n], sent[head + half + n]];
  return pack;
}

const place = /** @type {HTMLElement} */ (document.getElementById("figure"));
const { file, ...begin } = JSON.parse(document.getElementById("begin")?.textContent ?? "{}");
try {
  /** @type {typeof import("../../views/live/js/home.js")} board/module.py joined it, and what it needs, to one file */
  const { mountLive } = await import(new URL("live.js", import.meta.url).href);
  const sent = new Uint8Array(await (await fetched(file)).arrayBuffer());
  await mountLive(place, joined(sent), begin);
  if (location.hash === "#decoder") place.querySelector(".decoder")?.scrollIntoView();
  document.body.dataset.drawn = "yes";
} catch (error) {
  place.textContent = String(/** @type {any} */ (error).message ?? error);
}
