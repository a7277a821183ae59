// Batches: what a model reads, and what it should predict where. The three objectives of pre-training, for texts and for tasks: an encoder fills in
// masks, a decoder predicts each next token, an encoder–decoder writes for what it read.
import { below } from "./tasks.js";

/** @typedef {import("./tasks.js").Random} Random */
/** @typedef {import("./reading.js").Example} Example */
/** @typedef {{read: number[], target?: number[], at: number[], labels: number[]}} Row tokens, and the positions at which labels are to be predicted */
/** @typedef {{vocabulary: Map<string, number>, length: number, rate: number}} Settings `rate`: the share of tokens that is masked */

/** Several texts side by side, as many as a row holds, between these tokens. @param {() => number[]} text @param {number} begin @param {number} between @param {number} length */
function packedRow(text, begin, between, length) {
  const row = [begin];
  while (row.length < length) row.push(...text(), between);
  return row.slice(0, length);
}

/** As much of a text as a row holds, from anywhere in it. @param {number[]} text @param {number} length @param {Random} random */
function windowOf(text, length, random) {
  const from = text.length > length ? below(random, text.length - length + 1) : 0;
  return text.slice(from, from + length);
}

/** The positions of a row that are masked: a share of the words, at least one where there is one. @param {number[]} row @param {number} rate @param {Random} random @param {(id: number) => boolean} word */
function maskedPlaces(row, rate, random, word) {
  const words = row.flatMap((id, at) => (word(id) ? [at] : [])), count = Math.min(words.length, Math.max(1, Math.round(rate * words.length)));
  for (let n = 0; n < count; n++) {
    const other = n + below(random, words.length - n);
    [words[n], words[other]] = [words[other], words[n]];
  }
  return words.slice(0, count).sort((a, b) => a - b);
}

/** An encoder predicts what was masked: some words of texts, or the answer of a task. @param {() => Example} draw @param {Settings} settings @param {Random} random @returns {Row} */
function maskedRow(draw, { vocabulary, length, rate }, random) {
  const [cls, sep, mask] = ["[CLS]", "[SEP]", "[MASK]"].map((piece) => /** @type {number} */ (vocabulary.get(piece)));
  const first = draw();
  if (first.target.length) {
    const read = [cls, ...first.source, sep, ...first.target.map(() => mask), sep];
    return { read, at: first.target.map((_, n) => first.source.length + 2 + n), labels: first.target };
  }
  const text = windowOf(first.source, length - 2, random), row = [cls, ...text, sep], at = maskedPlaces(row, rate, random, (id) => id > mask);
  return { read: row.map((id, n) => (at.includes(n) ? mask : id)), at, labels: at.map((n) => row[n]) };
}

/** A decoder predicts each next token: of texts, or of the answer to a question. @param {() => Example} draw @param {Settings} settings @returns {Row} */
function causalRow(draw, { vocabulary, length }) {
  const end = /** @type {number} */ (vocabulary.get("<|endoftext|>")), { source, target } = draw();
  if (!target.length) {
    const row = packedRow(() => draw().source, end, end, length + 1);
    return { read: row.slice(0, -1), at: row.slice(1).map((_, n) => n), labels: row.slice(1) };
  }
  const row = [end, ...source, /** @type {number} */ (vocabulary.get("=")), ...target, end], from = source.length + 1;
  return { read: row.slice(0, -1), at: row.slice(from + 1).map((_, n) => from + n), labels: row.slice(from + 1) };
}

/** An encoder–decoder writes the text without its masks, or the answer. @param {() => Example} draw @param {Settings} settings @param {Random} random @returns {Row} */
function translatedRow(draw, { vocabulary, length, rate }, random) {
  const [start, end, mask] = ["<pad>", "</s>", "<mask>"].map((piece) => /** @type {number} */ (vocabulary.get(piece)));
  const { source, target } = draw(), text = windowOf(source, length - 1, random), masked = target.length ? [] : maskedPlaces(text, rate, random, () => true);
  const written = target.length ? target : text;
  return { read: [...text.map((id, n) => (masked.includes(n) ? mask : id)), end], target: [start, ...written], at: [...written, end].map((_, n) => n), labels: [...written, end] };
}

/** @type {Record<string, (draw: () => Example, settings: Settings, random: Random) => Row>} */
export const ROWS = { encoder: maskedRow, decoder: causalRow, "encoder-decoder": translatedRow };

/** Rows as one batch, filled up to the longest. @param {Row[]} rows @returns {import("./network.js").Batch} */
export function batchOf(rows) {
  const source = filled(rows.map(({ read }) => read)), target = rows[0].target && filled(rows.map((row) => /** @type {number[]} */ (row.target)));
  const wide = (target ?? source).length;
  return { source, target, at: rows.flatMap(({ at }, n) => at.map((place) => n * wide + place)), labels: rows.flatMap(({ labels }) => labels) };
}

/** @param {number[][]} rows @returns {import("./network.js").Texts} */
function filled(rows) {
  const length = Math.max(...rows.map((row) => row.length)), ids = new Int32Array(rows.length * length), present = new Uint8Array(ids.length);
  rows.forEach((row, n) => {
    ids.set(row, n * length);
    present.fill(1, n * length, n * length + row.length);
  });
  return { ids, length, present };
}
