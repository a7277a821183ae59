// What a training reads: short stories, a visitor's own text in words or letters, or a task with known answers; and the tokenizer that belongs
// to it, as a tokenizer.json that every home opens.
import { Tokenizer } from "../../live/js/tokenizer.js";
import { below, TASKS } from "./tasks.js";

/** @typedef {import("./tasks.js").Random} Random */
/** @typedef {{data: string, unit: "words" | "letters", text: string}} Source `data` is "stories", "own" or the name of a task */
/** What is read and what is to be written; of a text the second is empty. @typedef {{source: number[], target: number[]}} Example */

const STORIES = /*STORIES*/ { train: "", held: "" }; // filled in by explorer/views/learning/module.py
const LONGEST = 200_000, MOST = 1000; // letters of an own text, and words of its vocabulary
const HELD = 10; // of an own text and of a task, one in so many is held out
export const SPECIALS = /** @type {Record<string, string[]>} */ ({
  encoder: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], decoder: ["<|endoftext|>", "<unk>"], "encoder-decoder": ["<pad>", "</s>", "<unk>", "<mask>"],
});
/** @type {Record<string, any>} */
const FRAMES = { encoder: ["[CLS]", null, "[SEP]"], decoder: ["<|endoftext|>", null], "encoder-decoder": [null, "</s>"] };

const WORDS = {
  normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" }, decoder: { type: "WordPiece", prefix: "##", cleanup: true },
};
const BLANK = "▁", MARKED = { type: "Metaspace", replacement: BLANK, prepend_scheme: "first", split: false };
const SINGLE = {
  normalizer: { type: "Replace", pattern: { Regex: "\\s+" }, content: " " },
  pre_tokenizer: { type: "Sequence", pretokenizers: [MARKED, { type: "Split", pattern: { Regex: "." }, behavior: "Isolated", invert: false }] },
  decoder: MARKED,
};

/** The tokenizer.json of these words or letters for a family. @param {string} family @param {string[]} pieces @param {"words" | "letters"} unit */
export function tokenizerFile(family, pieces, unit) {
  const specials = SPECIALS[family], vocab = Object.fromEntries([...specials, ...pieces].map((piece, id) => [piece, id]));
  const template = FRAMES[family].map((/** @type {string | null} */ id) => (id === null ? { Sequence: { id: "A", type_id: 0 } } : { SpecialToken: { id, type_id: 0 } }));
  const used = FRAMES[family].filter(Boolean).map((/** @type {string} */ id) => [id, { id, ids: [vocab[id]], tokens: [id] }]);
  return {
    version: "1.0", truncation: null, padding: null,
    added_tokens: specials.map((content, id) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true })),
    ...(unit === "words" ? WORDS : SINGLE),
    post_processor: { type: "TemplateProcessing", single: template, pair: [...template, { Sequence: { id: "B", type_id: 0 } }], special_tokens: Object.fromEntries(used) },
    model: { type: "WordLevel", vocab, unk_token: /** @type {string} */ (specials.find((piece) => /unk/i.test(piece))) },
  };
}

/** The words or letters of texts, the most frequent first, without what these special tokens are. @param {string[][]} texts @param {string[]} specials */
function vocabularyOf(texts, specials) {
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const text of texts) for (const piece of text) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  for (const piece of specials) counts.delete(piece);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MOST).map(([piece]) => piece);
}

/** Texts or a task, in tokens. */
export class Corpus {
  /** @param {Source} from @param {string} family */
  constructor(from, family) {
    const task = TASKS[from.data];
    this.task = task ?? null;
    this.unit = from.data === "own" ? from.unit : "words";
    this.note = "";
    const [train, held] = task ? [[], []] : this.#texts(from);
    const bare = new Tokenizer(tokenizerFile(family, [], this.unit)), own = from.data === "own";
    const cut = (/** @type {string} */ text) => (own ? bare.pieces_of(text).map(({ letters }) => letters ?? "") : text.split(" ")); // stories are words and blanks
    const [learned, measured] = [train, held].map((texts) => texts.map(cut));
    this.file = tokenizerFile(family, task ? taskWords(task) : vocabularyOf(learned, SPECIALS[family]), this.unit);
    this.tokenizer = new Tokenizer(this.file);
    const { vocabulary } = this.tokenizer, unknown = /** @type {number} */ (vocabulary.get(this.file.model.unk_token));
    const ids = (/** @type {string[]} */ pieces) => pieces.map((piece) => vocabulary.get(piece) ?? unknown);
    const words = (/** @type {number[]} */ text) => text.some((id) => id >= SPECIALS[family].length);
    this.train = learned.map(ids).filter(words); // a line of invisible signs has none
    this.held = measured.map(ids);
    if (own && !this.train.length) throw new Error(`There are no ${this.unit} in the lines to learn from. Give a text with some.`);
    if (own && !this.held.some(words)) this.note += ` No ${this.unit.slice(0, -1)} of the held-out lines occurs in the others: give more lines, so that what it learns can be measured.`;
  }

  /** Texts to learn from, and others to measure on. @param {Source} from @returns {[string[], string[]]} */
  #texts({ data, text }) {
    if (data !== "own") return [STORIES.train.split("\n"), STORIES.held.split("\n")];
    if (text.length > LONGEST) this.note = `The text has ${text.length.toLocaleString("en")} letters; the first ${LONGEST.toLocaleString("en")} are read.`;
    const lines = text.slice(0, LONGEST).split(/\n+|(?<=[.!?])\s+/).map((line) => line.trim()).filter(Boolean);
    if (lines.length < 2) throw new Error("Give at least two lines or sentences: one to learn from and one to measure on.");
    const held = lines.filter((_, n) => n % HELD === HELD - 1 || (lines.length < HELD && n === lines.length - 1));
    const known = new Set(held);
    const train = lines.filter((line) => !known.has(line));
    if (!train.length) throw new Error("All lines are the same. Give at least two different lines.");
    return [train, held];
  }

  /** An example: a text, or a question of a task and its answer. What is held out is never drawn to learn from. @param {Random} random @param {boolean} held @returns {Example} */
  draw(random, held) {
    const { task, tokenizer } = this;
    if (!task) {
      const texts = held ? this.held : this.train;
      return { source: texts[below(random, texts.length)], target: [] };
    }
    for (;;) {
      const [source, target] = task.draw(random);
      if ((hashed(source.join(" ")) % HELD === 0) !== held) continue;
      const ids = (/** @type {string[]} */ words) => words.map((word) => /** @type {number} */ (tokenizer.vocabulary.get(word)));
      return { source: ids(source), target: ids(target) };
    }
  }
}

/** All words of a task, in order. @param {import("./tasks.js").Task} task */
function taskWords(task) {
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647, words = /** @type {Set<string>} */ (new Set());
  for (let n = 0; n < 2000; n++) for (const row of task.draw(random)) for (const word of row) words.add(word);
  return ["=", ...[...words].filter((word) => word !== "=").sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1))];
}

/** A whole number from a text (FNV-1a): which questions are held out does not depend on the seed. @param {string} text */
function hashed(text) {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return (hash ^ (hash >>> 15)) >>> 0;
}
