// The models of the lanes: fetched when a sentence is typed that no record holds, and asked all at once.

/** @typedef {import("./lanes.js").Expected} Expected */

const TOP = 3, KEPT = 200; // tokens of an answer; answers that are kept

export class Models {
  /** @param {import("./lanes.js").LaneModel[]} lanes @param {string} script the address of the module that runs them
   * @param {(address: string) => Promise<Uint8Array>} [arriving] how one is fetched */
  constructor(lanes, script, arriving) {
    this.lanes = lanes;
    this.script = script;
    this.arriving = arriving;
    /** @type {Promise<import("../../live/js/engine.js").Engine[]> | null} */
    this.engines = null;
    /** @type {Map<string, Promise<Expected>>} */
    this.kept = new Map();
  }

  /** Fetch them, once. */
  open() {
    const fetched = this.engines ?? import(new URL(this.script, document.baseURI).href).then(({ engineAt }) => this.lanes.map(({ address }) => engineAt(address, this.arriving)));
    fetched.catch(() => {}); // said where a model is asked
    return (this.engines = fetched);
  }

  /** What a model expects at a gap. @param {number} n its lane @param {string} text @param {number[]} span @returns {Promise<Expected>} */
  expected(n, text, span) {
    const question = JSON.stringify([n, text, span]), known = this.kept.get(question);
    if (known) return known;
    const answer = this.open().then(
      (engines) => engines[n].header.then(() => engines[n].ask("gap", { text, span, top: TOP })),
      () => Promise.reject(new Error("The models did not arrive. Load this page again.")),
    );
    if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    this.kept.set(question, answer);
    answer.catch(() => {
      this.kept.delete(question);
      this.engines = null; // what did not arrive is fetched again
    });
    return answer;
  }
}
