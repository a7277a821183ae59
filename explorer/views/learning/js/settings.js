// The settings of a training, and the values that each may have: what the dials of a page offer, and what a file may ask for.

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

/** The settings of a file: each is one that a dial has, so that no file asks for a model that no page trains. @param {any} given @returns {Settings} */
export function settingsIn(given) {
  const source = { data: given?.source?.data, unit: given?.source?.unit, text: "" };
  const fits = (/** @type {Dial} */ { options, min = 0, max = 0 }, /** @type {any} */ value) => (options ? options.some(([known]) => known === value) : typeof value === "number" && value >= min && value <= max);
  const taken = Object.entries(DIALS).map(([name, dial]) => {
    const value = name in source ? /** @type {any} */ (source)[name] : given?.[name];
    if (!fits(dial, value)) throw new Error(`This file has a setting that this page does not offer (${dial.title}: ${JSON.stringify(value)?.slice(0, 60) ?? "missing"}). Save the model again.`);
    return [name, value];
  });
  const { data, unit, ...dials } = Object.fromEntries(taken);
  return /** @type {any} */ ({ ...dials, source });
}
