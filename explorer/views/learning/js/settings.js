// The settings of a training, and the values that each may have: what the dials of a page offer, and what a file may ask for.

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {{title: string, group: string, options?: [any, string][], min?: number, max?: number, live?: boolean, more?: boolean}} Dial `live`: it changes while a model
 * trains; `more`: it is folded, and an earlier file may lack it */

const MORE = "Schedule, clipping, first weights, dropout, smoothing";
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
  schedule: { title: "Schedule", group: MORE, live: true, more: true, options: [["constant", "constant"], ["noam", "1/√step"], ["linear", "linear, to 0 at step 1,000"], ["cosine", "cosine, to 0 at step 1,000"]] },
  clip: { title: "Gradient clipped to", group: MORE, live: true, more: true, options: [[0.1, "0.1"], [1, "1"], [0, "not clipped"]] },
  start: { title: "First weights", group: MORE, more: true, options: [["scaled", "1/√inputs"], ["small", "0.02, as BERT"], ["large", "1"], ["zero", "0"]] },
  dropout: { title: "Dropout", group: MORE, live: true, more: true, options: [[0, "none"], [0.1, "10 %"], [0.3, "30 %"], [0.5, "50 %"]] },
  smoothing: { title: "Label smoothing", group: MORE, live: true, more: true, options: [[0, "none"], [0.1, "0.1"], [0.3, "0.3"]] },
};

/** @type {Settings} */
export const USUAL = { family: "decoder", layers: 2, dim: 64, heads: 4, positions: "learned", norm: "layer", place: "pre", activation: "gelu", optimiser: "adamw", rate: 0.004,
  batch: 16, maskRate: 0.3, seed: 1, schedule: "constant", clip: 1, start: "scaled", dropout: 0, smoothing: 0, source: { data: "stories", unit: "words", text: "" } };

/** The settings of a file: each is one that a dial has, so that no file asks for a model that no page trains. @param {any} given @returns {Settings} */
export function settingsIn(given) {
  const source = { data: given?.source?.data, unit: given?.source?.unit, text: "" };
  const fits = (/** @type {Dial} */ { options, min = 0, max = 0 }, /** @type {any} */ value) => (options ? options.some(([known]) => known === value) : typeof value === "number" && value >= min && value <= max);
  const taken = Object.entries(DIALS).map(([name, dial]) => {
    const value = name in source ? /** @type {any} */ (source)[name] : (given?.[name] ?? (dial.more ? /** @type {any} */ (USUAL)[name] : undefined));
    if (!fits(dial, value)) throw new Error(`This file has a setting that this page does not offer (${dial.title}: ${JSON.stringify(value)?.slice(0, 60) ?? "missing"}). Save the model again.`);
    return [name, value];
  });
  const { data, unit, ...dials } = Object.fromEntries(taken);
  return /** @type {any} */ ({ ...dials, source });
}

/** What a setting is called, and its value in words, for all that are not those of another training. @param {Settings} settings @param {Settings} other @returns {string[]} */
export function changesFrom(settings, other) {
  const value = (/** @type {any} */ of, /** @type {string} */ name) => of[name] ?? of.source[name], said = (/** @type {Dial} */ { options }, /** @type {any} */ chosen) => options?.find(([known]) => known === chosen)?.[1] ?? String(chosen);
  const changed = Object.entries(DIALS).filter(([name]) => value(settings, name) !== value(other, name)).map(([name, dial]) => `${dial.title}: ${said(dial, value(other, name))} → ${said(dial, value(settings, name))}`);
  return settings.source.text === other.source.text ? changed : [...changed, "another text"];
}
