// The settings of a training, as boxes to choose from and to type into.
import { element } from "../../live/js/element.js";

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {{title: string, group: string, options?: [any, string][], min?: number, max?: number, live?: boolean}} Dial `live`: it changes while a model trains */

const choices = (/** @type {(string | number)[]} */ ...values) => values.map((value) => /** @type {[any, string]} */ ([value, String(value)]));

/** @type {Record<string, Dial>} */
export const DIALS = {
  data: { title: "It reads", group: "What it learns", options: [["stories", "short stories (300 words)"], ["own", "your own text"], ["copy", "Copy"], ["reverse", "Reverse"], ["sort", "Sort"],
    ["addition", "Addition"], ["modular", "Addition modulo 23"], ["parity", "Parity"], ["dyck", "Brackets (Dyck)"], ["two-sum", "Two-sum"]] },
  unit: { title: "Tokens", group: "What it learns", options: [["words", "words"], ["letters", "letters"]] },
  family: { title: "Family", group: "What it is", options: [["decoder", "decoder"], ["encoder", "encoder"], ["encoder-decoder", "encoder–decoder"]] },
  layers: { title: "Layers", group: "What it is", options: choices(1, 2, 3, 4) },
  dim: { title: "Width", group: "What it is", options: choices(16, 32, 64, 96, 128) },
  heads: { title: "Heads", group: "What it is", options: choices(1, 2, 4, 8) },
  positions: { title: "Positions", group: "What it is", options: [["learned", "learned"], ["sinusoidal", "sinusoids"], ["rope", "RoPE"], ["alibi", "ALiBi"], ["t5", "T5's buckets"],
    ["disentangled", "DeBERTa's"], ["none", "none"]] },
  norm: { title: "Norm", group: "What it is", options: [["layer", "LayerNorm"], ["rms", "RMSNorm"], ["none", "none"]] },
  place: { title: "Norm is", group: "What it is", options: [["pre", "before (pre)"], ["post", "after (post)"], ["inside", "inside"]] },
  activation: { title: "Activation", group: "What it is", options: [["gelu", "GELU"], ["relu", "ReLU"], ["silu", "SiLU"], ["swiglu", "SwiGLU"], ["geglu", "GEGLU"]] },
  optimiser: { title: "Optimiser", group: "How it learns", options: [["adamw", "AdamW"], ["sgd", "SGD"]] },
  rate: { title: "Learning rate", group: "How it learns", min: 0, max: 1e6, live: true },
  batch: { title: "Texts a step", group: "How it learns", options: choices(1, 4, 8, 16, 32, 64), live: true },
  maskRate: { title: "Masked", group: "How it learns", options: [[0.05, "5 %"], [0.15, "15 %"], [0.3, "30 %"], [0.5, "50 %"], [0.8, "80 %"]], live: true },
  seed: { title: "Seed", group: "How it learns", min: 0, max: 9999 },
};

/** @type {Settings} */
export const USUAL = { family: "decoder", layers: 2, dim: 64, heads: 4, positions: "learned", norm: "layer", place: "pre", activation: "gelu", optimiser: "adamw", rate: 0.004,
  batch: 16, maskRate: 0.3, seed: 1, source: { data: "stories", unit: "words", text: "" } };

/** All dials in one element. */
export class Dials {
  /** @param {HTMLElement} root @param {Settings} settings @param {(name: string) => void} changed */
  constructor(root, settings, changed) {
    /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
    this.boxes = {};
    const groups = /** @type {Map<string, HTMLElement>} */ (new Map());
    for (const [name, dial] of Object.entries(DIALS)) {
      const group = groups.get(dial.group) ?? root.appendChild(element("fieldset", "dials"));
      if (!groups.has(dial.group)) group.append(element("legend", "", dial.group));
      groups.set(dial.group, group);
      this.#box(group, name, dial, changed);
    }
    this.text = /** @type {HTMLElement} */ (groups.get("What it learns")).appendChild(element("textarea", "own"));
    Object.assign(this.text, { rows: 4, placeholder: "Paste a text: at least two lines or sentences.", spellcheck: false, dir: "auto", onchange: () => changed("text") });
    this.text.setAttribute("aria-label", "Your own text");
    this.set(settings);
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
