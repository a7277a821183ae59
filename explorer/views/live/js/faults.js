// What is wrong with a model that a page was given, in a sentence. A file may have been cut, or edited by hand: its settings are held against
// its weights before anything is computed, so that no number of it keeps a page busy for ever, and its scores before they are shown.

/** The sizes that a configuration has, and the most that each can be. @type {Record<string, number>} */
const SIZES = { vocab: 1_000_000, dim: 65_536, hidden: 1_000_000, layers: 256, length: 1_000_000, heads: 4096 };
const AGAIN = "Save or export the model again.";

/** Refuse sizes that are none, or that do not fit the weights. @param {any} config @param {(name: string) => Float32Array | null} weight */
export function checkSizes(config, weight) {
  const both = config?.family === "bilm"; // an ELMo has no heads
  for (const [name, most] of Object.entries(SIZES)) {
    const size = config?.[name];
    if (!(both && name === "heads") && !(Number.isInteger(size) && size > 0 && size <= most)) throw misfit(name, size);
  }
  const wide = both ? config.dim : config.embedding || config.dim, table = weight(both ? "head.weight" : "embeddings.tokens.weight");
  if (table && table.length !== config.vocab * wide) throw misfit("vocab", config.vocab);
  if (both) return checkFilters(config, weight);
  const groups = config.kv_heads || config.heads;
  if (config.dim % config.heads) throw misfit("heads", config.heads);
  if (config.heads % groups || groups < 0) throw misfit("kv_heads", groups);
}

/** The filters of an ELMo: letters wide, and how many of them its weights have. @param {any} config @param {(name: string) => Float32Array | null} weight */
function checkFilters({ filters, letters }, weight) {
  const fits = (/** @type {any} */ [wide, count], /** @type {number} */ n) => weight(`characters.filters.${n}.bias`)?.length === count && weight(`characters.filters.${n}.weight`)?.length === count * letters * wide;
  if (!Array.isArray(filters) || !filters.every((pair, n) => Array.isArray(pair) && fits(pair, n))) throw misfit("filters", filters);
}

/** @param {string} name @param {any} value */
const misfit = (name, value) => new Error(`The settings of this model do not fit its weights: ${name} is ${JSON.stringify(value)?.slice(0, 60) ?? "missing"}. ${AGAIN}`);

/** The same scores, none of which may be infinite or no number. @param {Float32Array} scores */
export function sound(scores) {
  if (!scores.every(Number.isFinite)) throw new Error(`The scores of this model are not finite numbers: its file is damaged, or an edit is too large. ${AGAIN}`);
  return scores;
}

/** What an error says to a reader: our own sentences as they are, and what JavaScript says itself inside one. @param {any} error */
export function sentenceOf(error) {
  const says = String(error?.message ?? error);
  if (error instanceof SyntaxError) return `The file of this model is damaged. ${AGAIN}`; // what stands in it is no JSON
  return error?.constructor === Error ? says : `This could not be computed: the file of this model is damaged, or this page has an error (${says}). ${AGAIN}`;
}
