// A text as the tokens that a model reads, by its own tokenizer.json: the same as the tokenizers library makes in Python
// (explorer/text/tokenizers.py). A text is a list of letters, each with the place in the original that it comes from.

/** @typedef {{letter: string, from: number, to: number}} Letter */
/** @typedef {{piece: string, id: number, from: number, to: number, word: number, letters?: string}} Token `letters`: what it stands for in the text */

const SPACE = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BYTES = new RegExp(`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, "gu");
const ONE_SPACE = new RegExp(`^[${SPACE}]$`, "u");
const PUNCTUATION = /^[!-/:-@[-`{-~\p{P}]$/u;

/** @param {string} text @returns {Letter[]} */
function lettersOf(text) {
  let at = 0;
  return Array.from(text, (letter, n) => ({ letter, from: n, to: n + 1, at: (at += letter.length) }));
}

const joined = (/** @type {Letter[]} */ letters) => letters.map((l) => l.letter).join("");

// --- normalizers: from letters to letters

/** One letter written in another way, which may be several letters or none. @param {Letter[]} letters @param {(letter: string) => string} write */
const each = (letters, write) => letters.flatMap(({ letter, from, to }) => Array.from(write(letter), (made) => ({ letter: made, from, to })));

const CHINESE = /^[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]$/u;
const CONTROL = /^[\p{Cc}\p{Cf}\p{Co}]$/u;

/** @param {any} settings @param {Letter[]} letters */
function bertNormal(settings, letters) {
  if (settings.clean_text)
    letters = each(letters, (c) => (/[\t\n\r]/.test(c) ? " " : c === "\ufffd" || CONTROL.test(c) ? "" : ONE_SPACE.test(c) ? " " : c));
  if (settings.handle_chinese_chars) letters = each(letters, (c) => (CHINESE.test(c) ? ` ${c} ` : c));
  if (settings.strip_accents ?? settings.lowercase) letters = each(letters, (c) => c.normalize("NFD").replace(/\p{Mn}/gu, ""));
  return settings.lowercase ? each(letters, (c) => c.toLowerCase()) : letters;
}

/** Composed letters (NFC): a letter and the marks after it are written together. @param {Letter[]} letters */
function composed(letters) {
  /** @type {Letter[]} */
  const made = [];
  let run = /** @type {Letter[]} */ ([]);
  const end = () => {
    const text = joined(run).normalize("NFC");
    if (text === joined(run)) made.push(...run);
    else Array.from(text).forEach((letter, n) => made.push({ ...run[Math.min(n, run.length - 1)], letter }));
    run = [];
  };
  for (const letter of letters) {
    const joins = /^[\p{M}\u1160-\u11ff]$/u.test(letter.letter) || (run.length && (joined(run) + letter.letter).normalize("NFC").length < (joined(run).normalize("NFC") + letter.letter).length);
    if (run.length && !joins) end();
    run.push(letter);
  }
  if (run.length) end();
  return made;
}

/** Every match of an expression, replaced. @param {Letter[]} letters @param {RegExp} pattern @param {string} by */
function replaced(letters, pattern, by) {
  /** @type {Letter[]} */
  const made = [];
  let at = 0;
  for (const [first, last] of matches(letters, pattern)) {
    made.push(...letters.slice(at, first));
    for (const letter of by) made.push({ letter, from: letters[first].from, to: letters[last - 1].to });
    at = last;
  }
  return [...made, ...letters.slice(at)];
}

/** The matches of an expression, as places in the list of letters. @param {Letter[]} letters @param {RegExp} pattern */
function* matches(letters, pattern) {
  const text = joined(letters), at = new Map([[0, 0]]);
  let units = 0;
  letters.forEach((l, n) => at.set((units += l.letter.length), n + 1));
  for (const match of text.matchAll(pattern))
    if (match[0]) yield /** @type {[number, number]} */ ([at.get(match.index), at.get(match.index + match[0].length)]);
}

/** The expressions of a tokenizer file, as this language writes them. @param {any} pattern */
const expression = (pattern) =>
  new RegExp(pattern.Regex ? pattern.Regex.replaceAll("[^\\s", `[^${SPACE}`).replaceAll("\\s", `[${SPACE}]`) : pattern.String.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gu");

/** @param {any} settings @param {Letter[]} letters @returns {Letter[]} */
function normalised(settings, letters) {
  if (!settings) return letters;
  if (settings.type === "Sequence") return settings.normalizers.reduce((/** @type {Letter[]} */ l, /** @type {any} */ s) => normalised(s, l), letters);
  if (settings.type === "BertNormalizer") return bertNormal(settings, letters);
  if (settings.type === "NFC") return composed(letters);
  if (settings.type === "Replace") return replaced(letters, expression(settings.pattern), settings.content);
  throw new Error(`This page cannot read texts as ${settings.type} does. Open the model with Python.`);
}

// --- pre-tokenizers: from one list of letters to the words that are cut into tokens one by one

/** @param {Letter[]} letters @returns {Letter[][]} */
function bertWords(letters) {
  /** @type {Letter[][]} */
  const words = [];
  let open = false;
  for (const letter of letters) {
    const space = ONE_SPACE.test(letter.letter), mark = PUNCTUATION.test(letter.letter);
    if (!space && (mark || !open)) words.push([]);
    if (!space) words[words.length - 1].push(letter);
    open = !space && !mark;
  }
  return words;
}

/** Cut at every match of an expression; what lies between the matches is a word as well. @param {Letter[]} letters @param {RegExp} pattern */
function cut(letters, pattern) {
  /** @type {Letter[][]} */
  const words = [];
  let at = 0;
  for (const [first, last] of matches(letters, pattern)) {
    if (first > at) words.push(letters.slice(at, first));
    words.push(letters.slice(first, last));
    at = last;
  }
  return at < letters.length ? [...words, letters.slice(at)] : words;
}

const SHOWN = [...range(0x21, 0x7f), ...range(0xa1, 0xad), ...range(0xae, 0x100)];
const HIDDEN = [...range(0, 0x100)].filter((byte) => !SHOWN.includes(byte));
/** The letter that stands for each of the 256 bytes. */
const LETTER_OF = new Map([...SHOWN.map((b) => /** @type {[number, string]} */ ([b, String.fromCharCode(b)])), ...HIDDEN.map((b, n) => /** @type {[number, string]} */ ([b, String.fromCharCode(256 + n)]))]);
const BYTE_OF = new Map([...LETTER_OF].map(([byte, letter]) => [letter, byte]));

/** @param {number} first @param {number} end */
function* range(first, end) {
  for (let n = first; n < end; n++) yield n;
}

/** Letters as the bytes of UTF-8, each written as one letter. @param {Letter[]} letters */
const asBytes = (letters) => letters.flatMap(({ letter, from, to }) => [...new TextEncoder().encode(letter)].map((byte) => ({ letter: /** @type {string} */ (LETTER_OF.get(byte)), from, to })));

/** @param {any} settings @param {Letter[][]} words @param {boolean} first whether this is the beginning of the text @returns {Letter[][]} */
function prepared(settings, words, first) {
  if (!settings) return words;
  if (settings.type === "Sequence") return settings.pretokenizers.reduce((/** @type {Letter[][]} */ w, /** @type {any} */ s) => prepared(s, w, first), words);
  if (settings.type === "BertPreTokenizer") return words.flatMap(bertWords);
  if (settings.type === "ByteLevel") return words.flatMap((word) => cut(word, BYTES)).map(asBytes);
  if (settings.type === "Split") return words.flatMap((word) => cut(word, expression(settings.pattern)));
  if (settings.type === "Metaspace")
    return words.map((word) => {
      const spaced = each(word, (c) => (c === " " ? "▁" : c));
      const mark = first && spaced.length > 0 && spaced[0].letter !== "▁";
      return mark ? [{ letter: "▁", from: spaced[0].from, to: spaced[0].from }, ...spaced] : spaced;
    });
  throw new Error(`This page cannot split texts as ${settings.type} does. Open the model with Python.`);
}

// --- models: from the letters of a word to tokens

/** @typedef {{piece: string, first: number, last: number}} Cut a token and the letters of the word that it covers */

/** WordPiece: the longest token that fits, again and again. @param {any} model @param {Map<string, number>} vocabulary */
const wordPiece = (model, vocabulary) => (/** @type {string[]} */ word) => {
  const unknown = [{ piece: model.unk_token, first: 0, last: word.length }], found = [];
  if (word.length > model.max_input_chars_per_word) return unknown;
  for (let first = 0; first < word.length; ) {
    let last = word.length, piece = "";
    for (; last > first; last--) {
      piece = (first ? model.continuing_subword_prefix : "") + word.slice(first, last).join("");
      if (vocabulary.has(piece)) break;
    }
    if (last === first) return unknown;
    found.push({ piece, first, last });
    first = last;
  }
  return found;
};

/** Byte-pair encoding: of all pairs the one that was learned first is merged. @param {any} model @param {Map<string, number>} vocabulary */
const bytePairs = (model, vocabulary) => {
  const ranks = new Map(model.merges.map((/** @type {string | string[]} */ pair, /** @type {number} */ n) => [typeof pair === "string" ? pair : pair.join(" "), n]));
  return (/** @type {string[]} */ word) => {
    /** @type {Cut[]} */
    let found = word.map((letter, n) => ({ piece: letter, first: n, last: n + 1 }));
    found = found.flatMap((one) => (vocabulary.has(one.piece) ? [one] : model.unk_token ? [{ ...one, piece: model.unk_token }] : []));
    for (;;) {
      let best = Infinity, at = -1;
      for (let n = 0; n + 1 < found.length; n++) {
        const rank = /** @type {number} */ (ranks.get(`${found[n].piece} ${found[n + 1].piece}`) ?? Infinity);
        if (rank < best) [best, at] = [rank, n];
      }
      if (at < 0) return found;
      found.splice(at, 2, { piece: found[at].piece + found[at + 1].piece, first: found[at].first, last: found[at + 1].last });
    }
  };
};

/** Unigram: the cut whose tokens are together the most probable (Viterbi). @param {any} model */
const unigram = (model) => {
  const scores = new Map(/** @type {[string, number][]} */ (model.vocab)), unknown = model.vocab[model.unk_id]?.[0];
  const least = Math.min(...scores.values()) - 10, longest = Math.max(...[...scores.keys()].map((piece) => Array.from(piece).length));
  return (/** @type {string[]} */ word) => {
    const best = [{ score: 0, from: -1, known: true }];
    for (let first = 0; first < word.length; first++) {
      const start = best[first];
      for (let last = first + 1; last <= Math.min(word.length, first + longest); last++) {
        const own = scores.get(word.slice(first, last).join(""));
        if (own !== undefined && !(best[last]?.score >= start.score + own)) best[last] = { score: start.score + own, from: first, known: true };
      }
      if (!scores.has(word[first]) && !(best[first + 1]?.score >= start.score + least)) best[first + 1] = { score: start.score + least, from: first, known: false };
    }
    /** @type {Cut[]} */
    const found = [];
    for (let last = word.length; last > 0; last = best[last].from) {
      const { from, known } = best[last], before = found[0];
      if (!known && before?.piece === unknown) before.first = from;
      else found.unshift({ piece: known ? word.slice(from, last).join("") : unknown, first: from, last });
    }
    return found;
  };
};

/** Whole words. @param {any} model @param {Map<string, number>} vocabulary */
const wordLevel = (model, vocabulary) => (/** @type {string[]} */ word) => {
  const text = word.join("");
  return [{ piece: vocabulary.has(text) ? text : model.unk_token, first: 0, last: word.length }];
};

/** @type {Record<string, (model: any, vocabulary: Map<string, number>) => (word: string[]) => Cut[]>} */
const MODELS = { WordPiece: wordPiece, BPE: bytePairs, Unigram: unigram, WordLevel: wordLevel };

/** A word with the space before it, which marks and short forms lose. @param {string} word */
const tidy = (word) => word.replace(/ ([.?!,])/g, "$1").replaceAll(" ' ", "'").replace(/ (n't|'m|'s|'ve|'re)/g, "$1").replaceAll(" do not", " don't");

const trimmed = (/** @type {string} */ text) => text.replace(new RegExp(`^[${SPACE}\\x1c-\\x1f]+|[${SPACE}\\x1c-\\x1f]+$`, "g"), "");

/** The tokenizer of a model. */
export class Tokenizer {
  /** @param {any} file the content of tokenizer.json @param {{words: string[], pieces: number[]} | null} [seen] what training held */
  constructor(file, seen = null) {
    this.file = file;
    const vocab = file.model.vocab;
    /** @type {Map<string, number>} */
    this.vocabulary = new Map(Array.isArray(vocab) ? vocab.map((/** @type {[string, number]} */ [piece], /** @type {number} */ n) => [piece, n]) : Object.entries(vocab));
    for (const { content, id } of file.added_tokens) this.vocabulary.set(content, id);
    this.pieces = new Map([...this.vocabulary].map(([piece, id]) => [id, piece]));
    this.unwritten = new Set(file.added_tokens.filter((/** @type {any} */ t) => t.special).map((/** @type {any} */ t) => t.id));
    this.special = new Set([...this.unwritten].filter((id) => !/unk/i.test(this.pieces.get(id) ?? "")));
    this.bytes = JSON.stringify([file.pre_tokenizer, file.decoder]).includes('"ByteLevel"');
    this.spaces = JSON.stringify([file.normalizer, file.pre_tokenizer, file.decoder]).includes("▁") && !this.bytes;
    this.cut = MODELS[file.model.type](file.model, this.vocabulary);
    this.added = [...file.added_tokens].sort((a, b) => b.content.length - a.content.length);
    this.seen = seen && { words: new Set(seen.words), pieces: new Set(seen.pieces) };
  }

  /** The parts of a text between added tokens such as [MASK], and these. @param {Letter[]} letters */
  #parts(letters) {
    /** @type {{letters: Letter[], added?: any}[]} */
    const parts = [];
    let from = 0, n = 0;
    while (n < letters.length) {
      const found = this.added.find(({ content }) => Array.from(content).every((letter, i) => letters[n + i]?.letter === letter));
      if (!found) {
        n++;
        continue;
      }
      let first = n;
      const end = n + Array.from(found.content).length;
      if (found.lstrip) while (first > from && ONE_SPACE.test(letters[first - 1].letter)) first--;
      if (first > from) parts.push({ letters: letters.slice(from, first) });
      parts.push({ letters: letters.slice(first, end), added: found });
      from = n = end;
    }
    return from < letters.length ? [...parts, { letters: letters.slice(from) }] : parts;
  }

  /** The tokens of one text without the special tokens around it. @param {string} text @returns {Token[]} */
  pieces_of(text) {
    /** @type {Token[]} */
    const tokens = [];
    let word = 0;
    for (const { letters, added } of this.#parts(lettersOf(text))) {
      if (added) {
        tokens.push({ piece: added.content, id: added.id, from: letters[0].from, to: letters[letters.length - 1].to, word: word++, letters: joined(letters) });
        continue;
      }
      for (const part of prepared(this.file.pre_tokenizer, [normalised(this.file.normalizer, letters)], letters[0].from === 0)) {
        if (!part.length) continue;
        for (const { piece, first, last } of this.cut(part.map((l) => l.letter)))
          tokens.push({ piece, id: /** @type {number} */ (this.vocabulary.get(piece)), from: part[first].from, to: part[last - 1].to, word, letters: joined(part.slice(first, last)) });
        word++;
      }
    }
    return tokens;
  }

  /** A text as a model reads it, with the special tokens of its template. @param {string} text */
  encode(text) {
    const { single, special_tokens: added } = this.file.post_processor ?? { single: [{ Sequence: {} }] };
    if (!single) throw new Error(`This page cannot add special tokens as ${this.file.post_processor.type} does. Open the model with Python.`);
    const framing = (/** @type {number} */ id) => ({ piece: this.pieces.get(id) ?? "", id, from: 0, to: 0, word: -1 });
    return this.#described(single.flatMap((/** @type {any} */ entry) => (entry.SpecialToken ? added[entry.SpecialToken.id].ids.map(framing) : this.pieces_of(text))), text);
  }

  /** @param {Token[]} rows @param {string} text */
  #described(rows, text) {
    const letters = Array.from(text), order = new Map();
    const special = rows.map((row) => this.special.has(row.id));
    const words = rows.map(({ word }, n) => {
      if (special[n]) return -1;
      if (!order.has(word)) order.set(word, order.size);
      return /** @type {number} */ (order.get(word));
    });
    const sourceOf = (/** @type {Token} */ row) => letters.slice(row.from, row.to).join("");
    return {
      ids: rows.map((row) => row.id), special, words, offsets: rows.map((row) => [row.from, row.to]),
      texts: rows.map((row) => this.#shown(row, sourceOf(row))), unseen: this.#unseen(rows, words, letters), sources: rows.map(sourceOf),
    };
  }

  /** A token as a reader can read it; Unigram shows the letters themselves. @param {Token} row @param {string} source */
  #shown(row, source) {
    const own = this.file.model.type === "Unigram" && row.letters;
    return own && own !== row.piece ? own.replaceAll("▁", "·") : this.readable(row.id, source);
  }

  /** Which tokens, or the words they belong to, no training text held. @param {Token[]} rows @param {number[]} words @param {string[]} letters */
  #unseen(rows, words, letters) {
    const { seen } = this;
    if (!seen) return null;
    /** @type {Map<number, [number, number]>} */
    const spans = new Map();
    rows.forEach((row, n) => {
      const [first, last] = spans.get(words[n]) ?? [row.from, row.to];
      spans.set(words[n], [Math.min(first, row.from), Math.max(last, row.to)]);
    });
    const strange = new Set([...spans].filter(([, [first, last]]) => {
      const word = trimmed(joined(normalised(this.file.normalizer, lettersOf(letters.slice(first, last).join("")))));
      return word && !seen.words.has(word);
    }).map(([word]) => word));
    return rows.map((row, n) => words[n] >= 0 && (strange.has(words[n]) || !seen.pieces.has(row.id)));
  }

  /** A token as a reader can read it: bytes as letters, spaces as ·. @param {number} id @param {string} [source] */
  readable(id, source = "") {
    const piece = this.pieces.get(id) ?? `‹${id}›`;
    if (this.special.has(id)) return piece;
    if (!this.bytes) return this.spaces ? piece.replaceAll("▁", "·") : piece;
    const raw = this.raw(piece);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(raw).replace(/[ \n\0]/g, (c) => ({ " ": "·", "\n": "⏎", "\0": "␀" })[c] ?? c);
    } catch {
      return `${trimmed(source)}‹${[...raw].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")}›`;
    }
  }

  /** The bytes of a byte-level token. @param {string} piece */
  raw(piece) {
    return new Uint8Array([...piece].flatMap((letter) => BYTE_OF.get(letter) ?? []));
  }

  /** The text of these ids, without special tokens unless asked for. @param {number[]} ids @param {boolean} [special] */
  decode(ids, special = false) {
    const pieces = ids.filter((id) => special || !this.unwritten.has(id)).map((id) => this.pieces.get(id) ?? "");
    if (this.bytes) return new TextDecoder().decode(new Uint8Array(pieces.flatMap((piece) => [...this.raw(piece)])));
    if (this.spaces) return pieces.join("").replaceAll("▁", " ").replace(/^ /, "");
    return pieces.map((piece, n) => (n && piece.startsWith("##") ? piece.slice(2) : tidy(n ? ` ${piece}` : piece))).join("");
  }
}
