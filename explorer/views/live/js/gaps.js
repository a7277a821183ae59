// What a model expects at a word that it cannot see, asked as it was trained: the twin of word_prediction in explorer/analysis/architectures.py.
import { sound } from "./faults.js";
import { softmax } from "./maths.js";

/** @typedef {{ids: number[], texts: string[], special: boolean[], words: number[], offsets: number[][], unseen: boolean[] | null, sources: string[]}} Tokens */
/** @typedef {{texts: string[], shares: number[], truth: number}} Side  of a gap: ELMo has two, the others one */
/** @typedef {{sides: Side[], right: string, row: number, unseen: number[][]}} Expected `right` is the hidden token (its first, where the word is several),
 * `row` where it is; `unseen` are the letters of the words that training never had */

/** @param {import("./live.js").LiveModel} model @param {{text: string, span: number[], top: number}} given `span` counts letters */
export function expectedInGap(model, { text, span, top }) {
  const tokens = /** @type {Tokens} */ (model.tokenizer.encode(text)), { config } = model;
  const here = tokens.offsets.flatMap(([from, to], n) => (from < span[1] && to > span[0] && !tokens.special[n] ? [n] : []));
  if (!here.length) throw new Error("This model's tokenizer keeps nothing of that word. Choose another.");
  if (tokens.ids.length > config.length) throw new Error(`The text has ${tokens.ids.length} tokens; this model reads ${config.length}. Shorten it.`);
  const rows = ASKED[config.family](model, tokens, here), right = tokens.ids[here[0]];
  return { sides: rows.map((scores) => sideOf(scores, right, top, model)), right: tokens.texts[here[0]], row: here[0], unseen: unseenOf(tokens) };
}

/** @param {Float32Array} scores @param {number} right @param {number} top @param {import("./live.js").LiveModel} model @returns {Side} */
function sideOf(scores, right, top, { tokenizer }) {
  const shares = softmax(scores, scores.length), best = Array.from(shares, (_, id) => id).sort((a, b) => shares[b] - shares[a] || a - b).slice(0, top);
  return { texts: best.map((id) => tokenizer.readable(id)), shares: best.map((id) => shares[id]), truth: shares[right] };
}

/** The letters of each word with a token that training never had. @param {Tokens} tokens */
function unseenOf({ unseen, words, offsets }) {
  /** @type {Map<number, number[]>} */
  const spans = new Map();
  unseen?.forEach((strange, n) => {
    const [from, to] = spans.get(words[n]) ?? offsets[n];
    if (strange) spans.set(words[n], [Math.min(from, offsets[n][0]), Math.max(to, offsets[n][1])]);
  });
  return [...spans.values()];
}

/** One row of scores. @param {Float32Array} scores @param {number} row @param {{vocab: number}} config */
const rowOf = (scores, row, { vocab }) => sound(scores.slice(row * vocab, (row + 1) * vocab));

/** @param {import("./live.js").LiveModel} model */
const network = (model) => {
  const found = /** @type {import("./transformer.js").Transformer} */ (model.network);
  found.edits = null;
  return found;
};

/** @param {import("./live.js").LiveModel} model */
const maskOf = ({ tokenizer, header }) => /** @type {number} */ (tokenizer.vocabulary.get(header.mask));

/** How each family is asked: rows of scores. @type {Record<string, (model: import("./live.js").LiveModel, tokens: Tokens, here: number[]) => Float32Array[]>} */
const ASKED = {
  /** The word under [MASK], everything else visible. */
  encoder(model, tokens, here) {
    const hidden = new Set(here.map((n) => tokens.words[n])), ids = tokens.ids.map((id, n) => (hidden.has(tokens.words[n]) ? maskOf(model) : id));
    return [rowOf(network(model).run(ids).outputs.lm, here[0], model.config)];
  },
  /** The text before the word, and nothing else. */
  decoder(model, tokens, [first]) {
    if (!first) throw new Error(`${model.header.name} cannot predict the first word: it has no begin token. Choose another word.`);
    return [rowOf(network(model).run(tokens.ids.slice(0, first)).outputs.lm, first - 1, model.config)];
  },
  /** The encoder reads one mask for the word, the decoder what it has written so far. */
  "encoder-decoder"(model, { ids }, here) {
    const damaged = [...ids.slice(0, here[0]), maskOf(model), ...ids.slice(here[here.length - 1] + 1)];
    return [rowOf(network(model).translate(damaged, [model.header.start, ...ids.slice(0, here[0])]).outputs.lm, here[0], model.config)];
  },
  /** The forward model by the words before, the backward model by the words after. */
  bilm(model, tokens, [at]) {
    const words = tokens.texts.map((piece, n) => (tokens.special[n] ? piece : tokens.sources[n]));
    const { lm, backward } = /** @type {import("./elmo.js").Elmo} */ (model.network).run(words).outputs;
    return [rowOf(lm, at - 1, model.config), rowOf(backward, at + 1, model.config)];
  },
};
