// What a page asks of its training; every answer is plain data. The page asks for some milliseconds of it at a time, so that it can pause at once.
import { sentenceOf } from "../../live/js/faults.js";
import { ANSWERS } from "../../live/js/live.js";
import { DIALS, settingsIn } from "./settings.js";
import { shapesOf } from "./shapes.js";
import { counted, Training } from "./training.js";
import { safetensors, unzipped, weightsIn, zipped } from "./zipped.js";

/** @typedef {import("./training.js").Settings} Settings */

/** The presets whose names a saved model has: what Python calls a model of this family. @type {Record<string, string>} */
const PRESETS = { encoder: "bert", decoder: "gpt2", "encoder-decoder": "transformer" };
const LIVE = Object.keys(DIALS).filter((name) => DIALS[name].live); // settings that change while it trains

/** A training as a file, with what it needs to go on here. @param {Training} training */
export function saved({ config, corpus, weights, settings, step }) {
  const text = (/** @type {any} */ content) => new TextEncoder().encode(`${JSON.stringify(content, null, 1)}\n`);
  const { source, ...dials } = settings, learned = { ...dials, source: { ...source, text: "" }, step };
  return zipped([
    ["config.json", text({ explorer: 1, preset: PRESETS[config.family], architecture: config, learned })],
    ["tokenizer.json", text(corpus.file)], ["model.safetensors", safetensors(weights, shapesOf(config))],
  ]);
}

/** A training that goes on with the weights of a file. @param {Uint8Array} bytes @param {Settings} now the settings of the page, with the visitor's own text */
export function opened(bytes, now) {
  const files = unzipped(bytes), json = (/** @type {string} */ name) => JSON.parse(new TextDecoder().decode(files.get(name)));
  const { learned } = files.has("config.json") ? json("config.json") : {};
  if (!learned || !files.has("model.safetensors")) throw new Error("This file holds no model that was trained here.");
  const { step } = learned, settings = settingsIn(learned);
  if (!Number.isSafeInteger(step) || step < 0) throw new Error(`The number of steps in this file is ${JSON.stringify(step)}, which is impossible. Save the model again.`);
  if (settings.source.data === "own") settings.source.text = now.source.text;
  const training = new Training(settings);
  if (JSON.stringify(json("tokenizer.json").model.vocab) !== JSON.stringify(training.corpus.file.model.vocab)) throw new Error("This model was trained on another text. Paste that text first, then open it again.");
  training.fill(weightsIn(/** @type {Uint8Array} */ (files.get("model.safetensors")), shapesOf(training.config)));
  training.moments.clear();
  training.step = step;
  training.keep();
  return training;
}

/** @param {Training} training */
function stateOf(training) {
  const { layers, ...measured } = training.measure(), { settings, step, moments } = training;
  return { ...counted(settings), settings, step, moments: [...moments.keys()], measured, layers, written: training.write() };
}

/** @type {Record<string, (training: Training, given: any) => any>} */
const TRAINED = {
  train(training, { ms, steps }) {
    const until = performance.now() + ms, begin = performance.now(), done = [];
    training.forget();
    do done.push(training.advance());
    while (Number.isFinite(done[done.length - 1].loss) && done.length < steps && performance.now() < until);
    return { done, seconds: (performance.now() - begin) / 1000, moments: [...training.moments.keys()] };
  },
  change(training, given) {
    for (const name of LIVE) if (training && name in given) /** @type {any} */ (training.settings)[name] = given[name];
  },
  count: (_, settings) => counted(settings),
  look: stateOf,
  back(training, step) {
    training.back(step);
    return stateOf(training);
  },
  save: (training) => saved(training),
};

/** What answers a page, in a worker or in the page itself. @param {(answer: {id: number, answer?: any, refused?: string}) => void} send */
export function trainingAnswers(send) {
  /** @type {Training} */
  let training;
  return (/** @type {{data: {id: number, what: string, given: any}}} */ { data: { id, what, given } }) => {
    try {
      if (what === "open" || what === "again") training = new Training(given);
      else if (what === "restore") training = opened(given.bytes, given.settings);
      else if (!training && what !== "count" && what !== "change") throw new Error("There is no model yet. Choose what it reads, then press New model.");
      if (what in ANSWERS) send({ id, answer: ANSWERS[what](training.asLive(), given) }); // a board asks
      else send({ id, answer: what in TRAINED ? TRAINED[what](training, given) : stateOf(training) });
    } catch (error) {
      send({ id, refused: sentenceOf(error) });
    }
  };
}
