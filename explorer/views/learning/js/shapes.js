// Which weights a model has, by the names that PyTorch gives them, how many numbers that is, and the values that they begin with.
import { GATED } from "../../live/js/maths.js";
import { Tensor } from "./tape.js";

/** @typedef {import("../../live/js/transformer.js").Config} Config */
/** @typedef {[name: string, rows: number, wide: number]} Shape a vector has no rows: 0 */

const TABLE = 0.1; // how large embeddings are at first
/** @type {Record<string, number>} */
const ALIKE = { small: 0.02, large: 1, zero: 0 };

/** A layer with or without its bias. @param {string} name @param {number} out @param {number} wide @param {boolean} bias @returns {Shape[]} */
const layer = (name, out, wide, bias) => [[`${name}.weight`, out, wide], .../** @type {Shape[]} */ (bias ? [[`${name}.bias`, 0, out]] : [])];

/** γ, and β where this norm has one. @param {string} name @param {Config} config @returns {Shape[]} */
function normShapes(name, { norm, dim }) {
  if (norm === "none" || norm === "bare") return [];
  return [[`${name}.weight`, 0, dim], .../** @type {Shape[]} */ (norm === "layer" ? [[`${name}.bias`, 0, dim]] : [])];
}

/** The weights of one layer. @param {string} name @param {Config} config @param {boolean} crossing @returns {Shape[]} */
function layerShapes(name, config, crossing) {
  const { dim, hidden, bias, activation } = config, parts = crossing ? ["attention", "cross"] : ["attention"];
  const attention = parts.flatMap((part) => ["query", "key", "value", "output"].flatMap((which) => layer(`${name}.${part}.${which}`, dim, dim, bias)));
  const norms = [...parts.map((part) => `after_${part}`), "after_feed_forward"].flatMap((place) => normShapes(`${name}.${place}.norm`, config));
  const wide = [...(GATED[activation] ? ["gate"] : []), "widen"].flatMap((which) => layer(`${name}.feed_forward.${which}`, hidden, dim, bias));
  return [...attention, ...norms, ...wide, ...layer(`${name}.feed_forward.narrow`, dim, hidden, bias)];
}

/** The weights of one stack but its token embeddings. @param {string} prefix @param {Config} config @param {boolean} crossing @returns {Shape[]} */
function stackShapes(prefix, config, crossing) {
  const { positions, length, dim, heads, layers } = config, place = `${prefix}embeddings.position`;
  const rows = /** @type {Record<string, Shape[]>} */ ({
    learned: [[`${place}.table.weight`, length, dim]],
    t5: [[`${place}.table.weight`, 32, heads]],
    disentangled: [[`${place}.table.weight`, 2 * length, dim], ...normShapes(`${place}.norm`, { ...config, norm: "layer" })],
  });
  const every = Array.from({ length: layers }, (_, n) => layerShapes(`${prefix}layers.${n}`, config, crossing)).flat();
  return [...(rows[positions] ?? []), ...(config.embedding_norm ? normShapes(`${prefix}embeddings.norm`, config) : []), ...every,
    ...(config.final_norm ? normShapes(`${prefix}norm`, config) : [])];
}

/** Every weight of a model whose output layer is its token embeddings. @param {Config} config @returns {Shape[]} */
export function shapesOf(config) {
  const both = config.family === "encoder-decoder", encoder = both ? stackShapes("encoder.", config, false) : [];
  return [["embeddings.tokens.weight", config.vocab, config.dim], ...encoder, ...stackShapes("", config, both)];
}

/** How many numbers a model learns. @param {Config} config */
export const weightCount = (config) => shapesOf(config).reduce((sum, [, rows, wide]) => sum + (rows || 1) * wide, 0);

/** Random numbers from a normal distribution (Box and Muller). @param {() => number} random */
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Positions that begin with sines of falling frequency, alike where they are near. @param {number} rows @param {number} wide */
const sines = (rows, wide) => Float32Array.from({ length: rows * wide }, (_, n) => {
  const i = n % wide, angle = Math.floor(n / wide) / 10000 ** ((i - (i % 2)) / wide);
  return TABLE * (i % 2 ? Math.cos(angle) : Math.sin(angle));
});

/** New weights: matrices of a deviation of 1/√(their inputs), so that what they give is as large as what they read; those that write into
 * the residual stream smaller, the more of them there are (GPT-2); tables 0.1, learned positions as sines (explorer/nn/positions.py); norms 1, biases 0.
 * Another start has one deviation for all matrices and tables. @param {Config} config @param {() => number} random @param {string} [start]
 * @returns {Map<string, Tensor>} */
export function initialWeights(config, random, start = "scaled") {
  const deep = (2 * config.layers) ** -0.5, alike = ALIKE[start];
  const deviation = (/** @type {string} */ name, /** @type {number} */ wide) => alike ?? (/embeddings/.test(name) ? TABLE : wide ** -0.5 * (/output|narrow/.test(name) ? deep : 1));
  return new Map(shapesOf(config).map(([name, rows, wide]) => {
    const values = new Float32Array((rows || 1) * wide);
    if (/position/.test(name) && config.positions === "learned" && alike === undefined) values.set(sines(rows, wide));
    else if (rows) for (let i = 0, size = deviation(name, wide); i < values.length; i++) values[i] = size * normal(random);
    else if (/norm\.weight$/.test(name)) values.fill(1);
    return [name, new Tensor(values, wide)];
  }));
}
