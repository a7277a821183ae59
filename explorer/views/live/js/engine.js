// A model of the page, in a worker beside it, so that no forward pass holds the page up. Where there are no workers, the page computes itself.
import { answering, LiveModel, warmUp } from "./live.js";

// board/module.py writes all that computes in place of this function: a worker is given its text. (Where a page trains, nothing is warmed up.)
const computing = /*ENGINE*/ () => ({ answering, LiveModel, warmUp });

/** @typedef {{message: {id: number, what: string, given: any}, resolve: (answer: any) => void, reject: (error: Error) => void}} Asked */

/** One model, and the questions that it was asked. */
export class Engine {
  /** @param {Uint8Array | Promise<Uint8Array>} bytes as Python packed it (explorer/models/packing.py) */
  constructor(bytes) {
    /** @type {Map<number, Asked>} */
    this.asked = new Map();
    this.count = 0;
    this.opened = false;
    /** @type {Worker | null} */
    this.worker = null;
    this.post = this.#beside(); // it starts while the model arrives
    /** @type {Promise<{name: string, mask: string, config: any, writes: boolean}>} */
    this.header = Promise.resolve(bytes).then((given) => this.ask("open", given), (error) => {
      this.worker?.terminate(); // no model arrived, so nobody will ask it
      throw error;
    });
    this.header.catch(() => {}); // said where the model is asked
  }

  /** The answer to a question of live.js. @param {string} what @param {any} given @returns {Promise<any>} */
  ask(what, given) {
    return new Promise((resolve, reject) => {
      const message = { id: ++this.count, what, given };
      this.asked.set(message.id, { message, resolve, reject });
      this.post(message);
    });
  }

  /** What takes questions: a worker, or this page. */
  #beside() {
    try {
      const text = `const { answering, warmUp } = (${computing})();\nwarmUp?.();\nonmessage = answering(postMessage);`;
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" })), worker = (this.worker = new Worker(address));
      worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(address);
        this.#heard(data);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        this.#alone();
      };
      return (/** @type {any} */ message) => worker.postMessage(message);
    } catch {
      return this.#here();
    }
  }

  #here() {
    const answer = computing().answering((said) => this.#heard(said));
    return (/** @type {any} */ message) => void setTimeout(() => answer({ data: message }));
  }

  /** The worker fell silent: one that never began is not allowed here, so the page takes its questions. */
  #alone() {
    this.worker?.terminate();
    if (this.opened) return this.end("The model stopped. Load the page again.");
    this.post = this.#here();
    for (const { message } of this.asked.values()) this.post(message);
  }

  /** @param {{id: number, answer?: any, refused?: string}} said */
  #heard({ id, answer, refused }) {
    const asked = this.asked.get(id);
    this.asked.delete(id);
    this.opened = true;
    if (refused === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(refused));
  }

  /** Leave nothing behind. @param {string} [why] */
  end(why = "This model is no longer open.") {
    this.worker?.terminate();
    for (const { reject } of this.asked.values()) reject(new Error(why));
    this.asked.clear();
  }
}

const MOST = 6; // models that a page keeps at hand

/** The model at an address, fetched once for all boards of a page and of those that follow. @param {string} address
 * @param {(address: string) => Promise<Uint8Array>} [arriving] how it is fetched @returns {Engine} */
export function engineAt(address, arriving = fetched) {
  /** @type {Map<string, Engine>} */
  const engines = ((/** @type {any} */ (globalThis)).explorerEngines ??= new Map()), known = engines.get(address) ?? new Engine(arriving(address));
  engines.delete(address);
  engines.set(address, known); // asked for last, dropped last
  for (const [old, engine] of engines) {
    if (engines.size <= MOST) break;
    engine.end();
    engines.delete(old);
  }
  known.header.catch(() => engines.delete(address));
  return known;
}

/** @param {string} address */
async function fetched(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) throw new Error("The weights of this model did not arrive.");
  return new Uint8Array(await answer.arrayBuffer());
}
