// Decoding one token at a time, as in explorer/decoding: greedy, sampling with its cuts, and beam search, each a generator of steps.
import { randomFrom } from "./draws.js";
import { sound } from "./faults.js";
import { logSoftmax } from "./maths.js";

/** `force` are the tokens that a text begins with. @typedef {{force?: number[], length_penalty?: number, beams?: number, temperature?: number, top_k?: number, top_p?: number, max_tokens?: number, seed?: number}} Settings */
/** @typedef {{id: number, text: string, logp: number, total: number, parent: number, fate: string, share?: number, beam?: number}} Candidate `beam`: its number among the beams after the step */
/** @typedef {{step: number, candidates: Candidate[], ids: number[], text: string, total: number, finished: {ids: number[], text: string, score: number, total: number}[], stopped: string, whole?: string}} Step
 * `whole` is the text with its prompt, or what an encoder–decoder wrote, with its sentinels: what a board reads */

/** @typedef {{token: number, fates: Map<number, string>, shares?: Map<number, number>, other?: string}} Choice the token, what cut the others, and the shares that are drawn from */

const LISTED = 10; // candidates of a text at a step

/** What a strategy asks of a model: a text that goes on token by token, with the keys and values of what it read. */
export class Stepper {
  /** @param {import("./transformer.js").Transformer} model @param {import("./tokenizer.js").Tokenizer} tokenizer @param {number[]} prompt @param {Float32Array} [memory] */
  constructor(model, tokenizer, prompt, memory) {
    this.model = model;
    this.tokenizer = tokenizer;
    this.memory = memory;
    this.prompt = prompt;
    this.room = model.config.length - prompt.length;
    const end = ["</s>", "<|endoftext|>", "[SEP]", "</S>"].map((piece) => tokenizer.vocabulary.get(piece)).find((id) => id !== undefined);
    this.end = end;
  }

  /** What ends a text of so many tokens: the length that was asked for, or that of the model. @param {number} most */
  limitOf(most) {
    return most <= this.room ? "length" : "context";
  }

  /** The log-probabilities after new tokens, and the cache that holds them. @param {number[]} ids @param {Map<string, any>} cache */
  next(ids, cache) {
    this.model.edits = null; // a board of the same model may have read with some meanwhile
    const grown = new Map(cache), { logits, attention } = this.model.next(ids, grown, this.memory);
    return { logp: logSoftmax(sound(logits)), cache: grown, cross: attention.filter((a) => a.stream === "cross") };
  }
}

/** The best entries of a row, best first. @param {Float32Array} row @param {number} count */
const best = (row, count) => Array.from(row.keys()).sort((a, b) => row[b] - row[a] || a - b).slice(0, count);

/** Always the most probable token. @param {Stepper} stepper @param {Settings} settings */
export const greedy = (stepper, settings) => follow(stepper, settings, (logp) => ({ token: best(logp, 1)[0], fates: new Map() }));

/** A token drawn by its probability, after temperature, top k and top p in this order. @param {Stepper} stepper @param {Settings} settings */
export function sample(stepper, settings) {
  const { temperature = 1, top_k = 0, top_p = 0, seed = 0 } = settings, random = randomFrom(seed);
  return follow(stepper, settings, (logp) => {
    /** @type {Map<number, string>} */
    const fates = new Map();
    const order = best(logp, logp.length), tempered = logSoftmax(logp.map((value) => value / temperature)).map(Math.exp);
    let left = order.filter((id, rank) => !top_k || rank < top_k || (fates.set(id, "cut:top_k"), false));
    const sum = (/** @type {number[]} */ ids) => ids.reduce((all, id) => all + tempered[id], 0);
    if (top_p) {
      const whole = sum(left);
      let gathered = 0;
      left = left.filter((id) => (gathered < top_p ? ((gathered += tempered[id] / whole), true) : (fates.set(id, "cut:top_p"), false)));
    }
    const whole = sum(left), ladder = left.slice().sort((a, b) => a - b);
    let rest = random() * whole;
    const token = ladder.find((id) => (rest -= tempered[id]) < 0) ?? ladder[ladder.length - 1];
    return { token, fates, shares: new Map(left.map((id) => [id, tempered[id] / whole])), other: "not drawn" };
  });
}

/** What a strategy chose, or the token that is forced here. @param {Choice} choice @param {number | undefined} token @returns {Choice} */
const forced = (choice, token) => (token === undefined ? choice : { token, fates: new Map(), other: "forced-out" });

/** One text, a token at a time. @param {Stepper} stepper @param {Settings} settings @param {(logp: Float32Array) => Choice} choose
 * @returns {Generator<Step>} */
function* follow(stepper, { max_tokens = 20, force = [] }, choose) {
  let { logp, cache } = stepper.next(stepper.prompt, new Map());
  const ids = /** @type {number[]} */ ([]), limit = Math.min(max_tokens, stepper.room);
  let total = 0;
  for (let step = 0; step < limit; step++) {
    const { token, fates, shares, other = "beaten" } = forced(choose(logp), force[step]), before = total;
    total += logp[token];
    ids.push(token);
    const stopped = token === stepper.end ? "end" : step + 1 >= limit ? stepper.limitOf(max_tokens) : "";
    const shown = [...new Set([...best(logp, LISTED), token])];
    const fateOf = (/** @type {number} */ id) => (id === token ? (stopped === "end" ? "finished" : "kept") : (fates.get(id) ?? other));
    const candidates = shown.map((id) => ({ id, text: stepper.tokenizer.readable(id), logp: logp[id], total: before + logp[id], parent: 0, fate: fateOf(id), share: shares && (shares.get(id) ?? 0) }));
    const text = stepper.tokenizer.decode(ids);
    yield { step, candidates, ids: ids.slice(), text, total, finished: stopped ? [{ ids: ids.slice(), text, score: total / ids.length, total }] : [], stopped };
    if (stopped) return;
    ({ logp, cache } = stepper.next([token], cache));
  }
}

/** Beam search: the most probable texts so far go on, side by side; conditions as in the transformers library. @param {Stepper} stepper @param {Settings} settings
 * @returns {Generator<Step>} */
export function* beam(stepper, { beams = 4, max_tokens = 20, length_penalty = 1, force = [] }) {
  const limit = Math.min(max_tokens, stepper.room), first = stepper.next(stepper.prompt, new Map());
  let open = [{ ids: /** @type {number[]} */ ([]), total: 0, logp: first.logp, cache: first.cache }];
  /** @type {Step["finished"]} */
  let finished = [], why = "nothing left";
  for (let step = 0; step < limit; step++) {
    const every = open.flatMap((text, parent) => (step in force ? [force[step]] : best(text.logp, 2 * beams)).map((id) => ({ id, parent, logp: text.logp[id], total: Math.fround(text.total + text.logp[id]) })));
    const ranked = every.sort((a, b) => b.total - a.total).slice(0, 2 * beams), last = step + 1 >= limit;
    /** @type {Candidate[]} */
    const candidates = [], going = /** @type {typeof ranked} */ ([]);
    ranked.forEach((one, rank) => {
      const ids = [...open[one.parent].ids, one.id], ends = one.id === stepper.end || last;
      let fate = "beaten", beam = -1;
      if (ends && rank < beams) {
        finished = [...finished, { ids, text: stepper.tokenizer.decode(ids), score: one.total / ids.length ** length_penalty, total: one.total }].sort((a, b) => b.score - a.score).slice(0, beams);
        fate = "finished";
        why = one.id === stepper.end ? "end" : stepper.limitOf(max_tokens);
      } else if (!ends && going.length < beams) {
        beam = going.push(one) - 1;
        fate = "kept";
      }
      candidates.push({ ...one, text: stepper.tokenizer.readable(one.id), fate, beam });
    });
    const worst = finished.length === beams ? finished[beams - 1].score : -Infinity;
    const full = finished.length === beams, hopeless = full && !(going.length && going[0].total / (step + 1) ** length_penalty > worst);
    const stopped = !going.length ? why : hopeless ? "no open beam can win" : "";
    if (!stopped)
      open = going.map((one) => ({ ids: [...open[one.parent].ids, one.id], total: one.total, ...stepper.next([one.id], open[one.parent].cache) }));
    const leading = stopped ? finished[0] : { ids: open[0].ids, text: stepper.tokenizer.decode(open[0].ids), total: open[0].total };
    yield { step, candidates, ids: leading.ids, text: leading.text, total: leading.total, finished, stopped };
    if (stopped) return;
  }
}
