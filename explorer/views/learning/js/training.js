// A training: a model, what it reads, an optimiser; one step at a time, measured on what was held out, and back to any moment that was kept.
import { LiveModel } from "../../live/js/live.js";
import { Transformer } from "../../live/js/transformer.js";
import { AttentionTape } from "./attention.js";
import { batchOf, ROWS } from "./batches.js";
import { Network } from "./network.js";
import { AdamW, clipGradients, SGD } from "./optimisers.js";
import { Corpus, SPECIALS } from "./reading.js";
import { initialWeights, shapesOf, weightCount } from "./shapes.js";
import { seeded } from "./tasks.js";
import { joinedBytes, numbersOf, safetensors } from "./zipped.js";

/** @typedef {{family: string, layers: number, dim: number, heads: number, positions: string, norm: string, place: string, activation: string, optimiser: string,
 * rate: number, batch: number, maskRate: number, seed: number, schedule: string, clip: number, start: string, dropout: number, smoothing: number, source: import("./reading.js").Source}} Settings */
/** @typedef {{step: number, loss: number, norm: number, tokens: number}} Step what one step cost: its loss before the update, the length of its gradient */
/** @typedef {{text: string, chance: number, first: string, right: boolean}} Guess a token that was to be predicted: its probability, and what was the most probable */
/** @typedef {{read: string[], guesses: Guess[], at: number[], text: string, target: string | null, rows: number[]}} Shown a held-out example; `at` are the places of the guesses in what was
 * read, of an encoder; a board of `text` and `target` reads the same tokens, and has the guesses at `rows` */
/** @typedef {{name: string, guesses: Guess[]}} Place what the output layer reads from the states there */
/** @typedef {{weights: Map<string, Float32Array>, optimiser: any}} Kept */

const PROSE = /*PROSE*/ {}; // what a board says at each station, filled in by explorer/views/learning/module.py
const WARM = 30, DONE = 1000; // the steps over which the learning rate grows, and those after which a schedule that ends has come to 0
const MEASURED = 32, SHOWN = 5, PACKED = 3; // held-out examples that are measured, and of these shown; a decoder's hold several texts
export const ACROSS = 32; // of their tokens those that are followed over the steps and the layers
/** Tokens before and after a text, which a tokenizer adds. @type {Record<string, [number, number | undefined]>} */
const FRAMED = { encoder: [1, -1], decoder: [1, undefined], "encoder-decoder": [0, -1] };
const LENGTH = 32, WRITTEN = 24; // tokens that a model reads, and writes
const GAP = 20, MOMENTS = 24; // steps between two moments that are kept, and how many: then every second one goes

/** The share of the learning rate at a step, as explorer/training/schedules.py has it. @type {Record<string, (step: number) => number>} */
const SCHEDULES = {
  constant: (step) => Math.min(1, step / WARM),
  noam: (step) => Math.sqrt(WARM) * Math.min(step ** -0.5, step * WARM ** -1.5),
  linear: (step) => (step <= WARM ? step / WARM : Math.max(0, (DONE - step) / (DONE - WARM))),
  cosine: (step) => (step <= WARM ? step / WARM : step >= DONE ? 0 : 0.5 * (1 + Math.cos((Math.PI * (step - WARM)) / (DONE - WARM)))),
};

/** The configuration of explorer.nn.config.Config. @param {Settings} settings @param {Corpus} corpus */
export function configOf({ family, layers, dim, heads, positions, norm, place, activation, dropout }, corpus) {
  const length = corpus.task ? corpus.task.longest + 4 : LENGTH, gated = activation === "swiglu" || activation === "geglu";
  if (dim % heads) throw new Error(`${heads} heads do not divide the width ${dim}. Choose a width that is a multiple of the heads.`);
  return {
    family, vocab: corpus.tokenizer.vocabulary.size, dim, layers, heads, hidden: gated ? Math.round((8 * dim) / 3) : 4 * dim, length, encoder_layers: 0, kv_heads: 0,
    positions, norm, norm_place: place, norm_epsilon: 1e-5, embedding_norm: place === "post" && norm !== "none", final_norm: place !== "post", activation, segments: 0,
    bias: norm === "layer", scaled: true, embedding_scale: false, tied: true, head_transform: false, head_bias: false, next_sentence: false, span_boundary: false,
    scaled_head: false, start: 0, dropout, tables: "random", qk_norm: false, rope_base: 10000, mask_decoder: false, embedding: 0, replaced: false, residual: true,
    feed_forward: true, generator: 0,
  };
}

/** What a page shows of settings before a step was taken. @param {Settings} settings */
export function counted(settings) {
  const corpus = corpusOf(settings), config = configOf(settings, corpus), { vocab } = config;
  return { weights: weightCount(config), vocabulary: vocab, uniform: Math.log(vocab), note: corpus.note, task: corpus.task?.says ?? "" };
}

/** @type {{key: string, corpus: Corpus | null}} */
const LAST = { key: "", corpus: null }; // texts are cut into tokens once for all models that read them

/** What these settings read. @param {Settings} settings @returns {Corpus} */
export function corpusOf({ source, family }) {
  const key = JSON.stringify([source, family]);
  if (LAST.key !== key || !LAST.corpus) Object.assign(LAST, { corpus: new Corpus(source, family), key });
  return /** @type {Corpus} */ (LAST.corpus);
}

export class Training {
  /** @param {Settings} settings */
  constructor(settings) {
    this.settings = { ...settings };
    this.corpus = corpusOf(settings);
    this.config = configOf(settings, this.corpus);
    this.weights = initialWeights(this.config, seeded(settings.seed), settings.start);
    this.network = new Network(this.config, this.weights);
    const { rate } = settings, every = this.weights.values();
    this.optimiser = settings.optimiser === "sgd" ? new SGD(every, { rate, momentum: 0.9 }) : new AdamW(every, { rate, betas: [0.9, 0.98] });
    this.step = 0;
    /** @type {LiveModel | null} */
    this.live = null; // what a board asks, while the weights are those of this moment
    this.gap = GAP;
    /** @type {Map<number, Kept>} */
    this.moments = new Map();
    this.held = this.#rows(seeded(1), MEASURED, true);
    this.keep();
  }

  /** Rows of new examples. @param {() => number} random @param {number} count @param {boolean} held */
  #rows(random, count, held) {
    const { family, maskRate: rate } = this.settings, settings = { vocabulary: this.corpus.tokenizer.vocabulary, length: this.config.length, rate };
    return Array.from({ length: count }, () => ROWS[family](() => this.corpus.draw(random, held), settings, random));
  }

  /** One update. Step k of a seed always reads the same examples. @returns {Step} */
  advance() {
    this.live = null;
    const { settings, weights } = this, rows = this.#rows(seeded(settings.seed * 1_000_003 + this.step + 2), settings.batch, false), batch = batchOf(rows);
    const dropout = { rate: settings.dropout, random: seeded(settings.seed * 7_000_003 + this.step) };
    const trace = this.network.run(batch, new AttentionTape(), { dropout, smoothing: settings.smoothing }), loss = trace.loss.data[0];
    trace.back();
    const norm = clipGradients(weights.values(), settings.clip || Infinity);
    const tokens = batch.source.ids.length + (batch.target?.ids.length ?? 0), step = ++this.step;
    if (!Number.isFinite(loss) || !Number.isFinite(norm)) return { step, loss: NaN, norm: NaN, tokens };
    this.optimiser.rate = settings.rate * SCHEDULES[settings.schedule](step);
    this.optimiser.step();
    if (step % this.gap === 0) this.keep();
    return { step, loss, norm, tokens };
  }

  /** Keep this moment, and of too many every second one. */
  keep() {
    const copy = (/** @type {Map<any, any>} */ numbers) => new Map([...numbers].map(([key, values]) => [key, values.slice()]));
    const { means, count } = /** @type {any} */ (this.optimiser), squares = /** @type {any} */ (this.optimiser).squares ?? new Map();
    const weights = new Map([...this.weights].map(([name, { data }]) => [name, Float32Array.from(data)]));
    this.moments.set(this.step, { weights, optimiser: { means: copy(means), squares: copy(squares), count } });
    if (this.moments.size <= MOMENTS) return;
    this.gap *= 2;
    for (const step of this.moments.keys()) if (step % this.gap) this.moments.delete(step);
  }

  /** Be as at a moment that was kept; later ones are forgotten when it goes on. @param {number} step */
  back(step) {
    const kept = this.moments.get(step);
    if (!kept) throw new Error(`Step ${step} was not kept. These are: ${[...this.moments.keys()].join(", ")}.`);
    this.fill(kept.weights);
    const { means, squares, count } = kept.optimiser, copy = (/** @type {Map<any, any>} */ numbers) => new Map([...numbers].map(([key, values]) => [key, values.slice()]));
    Object.assign(this.optimiser, { means: copy(means), squares: copy(squares), count });
    this.step = step;
  }

  /** Forget the moments after this one: from here on it goes another way. */
  forget() {
    for (const step of this.moments.keys()) if (step > this.step) this.moments.delete(step);
  }

  /** Take up weights by their names. @param {Map<string, Float32Array>} numbers */
  fill(numbers) {
    this.live = null;
    for (const [name, weight] of this.weights) {
      const values = numbers.get(name);
      if (values?.length !== weight.data.length) throw new Error(`The file has no weights ${name} of this shape.`);
      weight.data.set(values);
      weight.grad = null;
    }
  }

  /** The loss on held-out texts, the share of right tokens, of whole answers, some examples, and what the layers predict of these. */
  measure() {
    const batch = batchOf(this.held), trace = this.network.run(batch, new AttentionTape()), { logits, loss } = trace, { vocab } = this.config;
    const most = this.settings.family === "decoder" && !this.corpus.task ? PACKED : SHOWN;
    let at = 0, right = 0, exact = 0;
    const shown = this.held.map((row, n) => {
      const guesses = row.labels.map((label) => this.#guess(logits.data.subarray(at++ * vocab, at * vocab), label));
      const correct = guesses.filter((guess) => guess.right).length;
      right += correct;
      exact += Number(correct === guesses.length);
      const whole = this.settings.family !== "decoder", read = whole ? row.read : row.read.slice(0, row.at[0] + 1); // a decoder's answer is no part of the question
      return n < most ? { read: read.map((id) => this.#text(id)), guesses, at: this.settings.family === "encoder" ? row.at : [], ...this.#boarded(row) } : null;
    });
    const examples = /** @type {Shown[]} */ (shown.filter(Boolean)), followed = examples.reduce((sum, { guesses }) => sum + guesses.length, 0);
    return { loss: loss.data[0], right: right / at, exact: exact / this.held.length, shown: examples, layers: this.#layers(trace, batch, Math.min(ACROSS, followed)) };
  }

  /** What a board is given to read the same tokens. @param {import("./batches.js").Row} row */
  #boarded({ read, target, at }) {
    const { family } = this.settings, written = (/** @type {number[]} */ ids) => this.corpus.tokenizer.decode(ids, true);
    return { text: written(read.slice(...FRAMED[family])), target: target ? written(target.slice(1)) : null, rows: at };
  }

  /** What the first labels' places predict after each sub-layer. @param {import("./network.js").Trace} trace @param {import("./network.js").Batch} batch @param {number} count @returns {Place[]} */
  #layers(trace, { at, labels }, count) {
    const { vocab } = this.config, first = Array.from({ length: count }, (_, n) => at[n]);
    return this.network.lens(trace, first).map(({ name, scores }) => ({
      name, guesses: first.map((_, n) => this.#guess(/** @type {Float32Array} */ (scores).subarray(n * vocab, (n + 1) * vocab), labels[n])),
    }));
  }

  /** @param {number} id */
  #text(id) {
    return this.corpus.tokenizer.readable(id);
  }

  /** What scores say of the right token. @param {ArrayLike<number>} scores @param {number} label @returns {Guess} */
  #guess(scores, label) {
    let best = 0, sum = 0;
    for (let i = 0; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
    for (let i = 0; i < scores.length; i++) sum += Math.exp(scores[i] - scores[best]);
    return { text: this.#text(label), chance: Math.exp(scores[label] - scores[best]) / sum, first: this.#text(best), right: best === label };
  }

  /** The model of this moment, packed as explorer/models/packing.py packs one: it answers a board. */
  asLive() {
    const { config, corpus: { file }, step, weights } = this, mask = Object.keys(file.model.vocab).find((piece) => /mask/i.test(piece) && SPECIALS[config.family].includes(piece)) ?? "";
    const header = { name: `your ${config.family} at step ${step.toLocaleString("en")}`, config, tokenizer: file, seen: null, notes: [], prose: PROSE, mask, start: 0 };
    const text = new TextEncoder().encode(JSON.stringify(header));
    return (this.live ??= new LiveModel(joinedBytes([numbersOf([[4, text.length]]), text, safetensors(weights, shapesOf(config))])));
  }

  /** A text that a decoder writes from nothing, tokens drawn by their probability after a temperature. @param {number} [temperature] */
  write(temperature = 0.6) {
    if (this.settings.family !== "decoder" || this.corpus.task) return "";
    const model = new Transformer(this.config, (name) => /** @type {Float32Array | null} */ (this.weights.get(name)?.data ?? null)), cache = new Map();
    const random = seeded(this.step + 7), ids = /** @type {number[]} */ ([]);
    for (let next = [0]; ids.length < WRITTEN && ids.length + 1 < this.config.length; ids.push(next[0])) {
      next = [drawn(model.next(next, cache).logits, temperature, random)];
      if (next[0] === 0) break;
    }
    return this.corpus.tokenizer.decode(ids);
  }
}

/** A token by its probability. @param {Float32Array} logits @param {number} temperature @param {() => number} random */
function drawn(logits, temperature, random) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity), shares = logits.map((x) => Math.exp((x - most) / temperature));
  let rest = random() * shares.reduce((a, b) => a + b, 0);
  const id = shares.findIndex((share) => (rest -= share) < 0);
  return Math.max(0, id);
}
