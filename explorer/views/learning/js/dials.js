// The settings of a training, as boxes to choose from and to type into.
import { element } from "../../live/js/element.js";
import { DIALS } from "./settings.js";

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {import("./settings.js").Dial} Dial */

/** All dials in one element. */
export class Dials {
  /** @param {HTMLElement} root @param {Settings} settings @param {(name: string) => void} changed */
  constructor(root, settings, changed) {
    /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
    this.boxes = {};
    const groups = /** @type {Map<string, HTMLElement>} */ (new Map());
    for (const [name, dial] of Object.entries(DIALS)) {
      const group = groups.get(dial.group) ?? this.#group(root, dial);
      groups.set(dial.group, group);
      this.#box(group, name, dial, changed);
    }
    this.text = /** @type {HTMLElement} */ (groups.get("What it learns")).appendChild(element("textarea", "own"));
    Object.assign(this.text, { rows: 4, placeholder: "Paste a text: at least two lines or sentences.", spellcheck: false, dir: "auto", onchange: () => changed("text") });
    this.text.setAttribute("aria-label", "Your own text");
    this.set(settings);
  }

  /** A frame around dials, or what they are folded under. @param {HTMLElement} root @param {Dial} dial */
  #group(root, { group, more }) {
    const folded = more ? root.appendChild(element("details", "more")) : null, frame = (folded ?? root).appendChild(element(more ? "div" : "fieldset", "dials"));
    if (folded) folded.prepend(element("summary", "", group));
    else frame.append(element("legend", "", group));
    return frame;
  }

  /** @param {HTMLElement} group @param {string} name @param {Dial} dial @param {(name: string) => void} changed */
  #box(group, name, { title, options, min, max }, changed) {
    const label = group.appendChild(element("label", "setting", title)), box = options ? element("select", "") : element("input", "");
    for (const [value, text] of options ?? []) /** @type {HTMLSelectElement} */ (box).append(new Option(text, String(value)));
    if (!options) Object.assign(box, { type: "number", min: String(min), max: String(max), step: "any", inputMode: "decimal" });
    box.onchange = () => {
      this.show();
      changed(name);
    };
    label.append(box);
    this.boxes[name] = box;
  }

  /** Write these settings into the boxes. @param {Settings} settings */
  set(settings) {
    const values = /** @type {any} */ ({ ...settings, data: settings.source.data, unit: settings.source.unit });
    for (const [name, box] of Object.entries(this.boxes)) box.value = String(values[name]);
    if (settings.source.text) this.text.value = settings.source.text;
    this.show();
  }

  /** Only the dials that matter for what is chosen. */
  show() {
    const { data, unit, family, maskRate, norm, place } = this.boxes, own = data.value === "own", text = own || data.value === "stories";
    const hidden = [[unit, !own], [maskRate, !text || family.value === "decoder"], [place, norm.value === "none"]];
    for (const [box, gone] of hidden) /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (box).parentElement).hidden = Boolean(gone);
    this.text.hidden = !own;
  }

  /** The settings as they are in the boxes. @returns {Settings} */
  get() {
    const value = (/** @type {string} */ name) => {
      const { options, min = 0, max = 0 } = DIALS[name], written = this.boxes[name].value, number = Number(written);
      if (options) return options.find(([known]) => String(known) === written)?.[0] ?? options[0][0];
      return Number.isFinite(number) ? Math.min(max, Math.max(min, name === "seed" ? Math.round(number) : number)) : min;
    };
    const { data, unit, ...rest } = Object.fromEntries(Object.keys(DIALS).map((name) => [name, value(name)]));
    return /** @type {any} */ ({ ...rest, source: { data, unit, text: data === "own" ? this.text.value : "" } });
  }
}
