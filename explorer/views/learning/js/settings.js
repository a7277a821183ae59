// The settings of a training, and the values that each may have: what the dials of a page offer, and what a file may ask for.

/** @typedef {import("./training.js").Settings} Settings */
/** @typedef {{title: string, group: string, options?: [any, string][], min?: number, max?: number, live?: boolean, more?: boolean}} Dial `live`: it changes while a model
 * trains; `more`: it is folded, and an earlier file may lack it */

/** @type {Record<string, Dial>} */
export const DIALS = /*DIALS*/ {}; // ../dials.json, filled in by explorer/views/learning/module.py

/** @type {Settings} */
export const USUAL = { family: "decoder", layers: 2, dim: 64, heads: 4, positions: "learned", norm: "layer", place: "pre", activation: "gelu", optimiser: "adamw", rate: 0.004,
  batch: 16, maskRate: 0.3, seed: 1, schedule: "constant", clip: 1, start: "scaled", dropout: 0, smoothing: 0, source: { data: "stories", unit: "words", text: "" } };

/** The settings of a file or a link: each is one that a dial has, so that none asks for a model that no page trains. @param {any} given @param {string} [from] @param {string} [then] @returns {Settings} */
export function settingsIn(given, from = "file", then = "Save the model again.") {
  const source = { data: given?.source?.data, unit: given?.source?.unit, text: "" };
  const fits = (/** @type {Dial} */ { options, min = 0, max = 0 }, /** @type {any} */ value) => (options ? options.some(([known]) => known === value) : typeof value === "number" && value >= min && value <= max);
  const taken = Object.entries(DIALS).map(([name, dial]) => {
    const value = name in source ? /** @type {any} */ (source)[name] : (given?.[name] ?? (dial.more ? /** @type {any} */ (USUAL)[name] : undefined));
    if (!fits(dial, value)) throw new Error(`This ${from} has a setting that this page does not offer (${dial.title}: ${JSON.stringify(value)?.slice(0, 60) ?? "missing"}). ${then}`);
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
