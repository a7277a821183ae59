// What a visitor may change in a forward pass: the same edits as explorer/records/edits.py, given as JSON ({edit: name, …its fields}).
// null for a layer, a head or a position means all of them.

/** @typedef {{edit: string, stream: string, layer?: number | null, head?: number | null, part?: string | null, query?: number, row?: number[],
 * allowed?: number[][], order?: number[], position?: number | null, values?: number[], which?: string, unit?: number | null, factor?: number}} Edit */

/** An edit in words, as in explorer/records/edits.py. @param {Edit} edit */
export function labelOf({ edit, layer, head, part, query, unit, factor, position, which }) {
  const all = (/** @type {string} */ name, /** @type {any} */ number, /** @type {string} */ every = `every ${name}`) => (number == null ? every : `${name} ${number}`);
  const at = all("layer", layer), one = all("head", head), sublayer = part ?? "every part";
  return /** @type {Record<string, string>} */ ({
    SilenceHead: `${one} of ${at} silenced`, ReplaceRow: `row ${query} of ${one} of ${at} written by hand`, Uniform: `${one} of ${at} attends to all tokens equally`,
    NoScale: "not divided by √dₖ", SetMask: "mask set by hand", SilenceLayer: `${sublayer} of ${at} silenced`, NoResidual: `no residual connection at ${sublayer} of ${at}`,
    NoNorm: `no norm at ${sublayer} of ${at}`, MovePositions: "positions moved", NoPositions: "without positions", SetUnit: `${all("unit", unit)} of ${at} × ${factor}`,
    SetVector: `${which} of ${all("position", position)} in ${one} of ${at} written by hand`, PatchHidden: `state ${position} after ${at} taken from another text`, AddVector: `${factor} times a vector added after ${at}`,
  })[edit] ?? edit;
}

/** Whether an edit is one of these and concerns this attention. @param {string[]} kinds @param {{stream: string, layer: number}} where */
export const concerns = (kinds, { stream, layer }) => (/** @type {Edit} */ e) => kinds.includes(e.edit) && e.stream === stream && (e.layer == null || e.layer === layer);

export class Edits {
  /** @param {Edit[]} list */
  constructor(list) {
    this.list = list;
  }

  /** The edits of one kind that concern a layer. @param {string} kind @param {string} stream @param {number | null} layer */
  #of(kind, stream, layer) {
    return this.list.filter((e) => e.edit === kind && e.stream === stream && (e.layer === undefined || e.layer === null || layer === null || e.layer === layer));
  }

  /** @param {string} kind @param {[string, number, string]} where stream, layer and part */
  #part(kind, [stream, layer, part]) {
    return this.#of(kind, stream, layer).some((e) => e.part === undefined || e.part === null || e.part === part);
  }

  silences = (/** @type {[string, number, string]} */ where) => this.#part("SilenceLayer", where);
  cuts = (/** @type {[string, number, string]} */ where) => this.#part("NoResidual", where);
  leavesNormOut = (/** @type {[string, number, string]} */ where) => this.#part("NoNorm", where);

  /** The positions that the words are given, or null for none. @param {string} stream @param {number} layer @param {number[]} at */
  positions(stream, layer, at) {
    if (this.#of("NoPositions", stream, layer).length) return null;
    return this.#of("MovePositions", stream, layer).reduce((places, e) => places.map((place) => /** @type {number[]} */ (e.order)[place]), at);
  }

  /** @param {string} stream @param {number} own */
  scale(stream, own) {
    return this.#of("NoScale", stream, null).length ? 1 : own;
  }

  /** @param {string} stream @param {number} layer @param {Uint8Array} own */
  allowed(stream, layer, own) {
    const set = this.#of("SetMask", stream, layer).at(-1)?.allowed?.flat();
    if (!set) return own;
    if (set.length !== own.length) throw new Error(`The mask has ${set.length} cells, but this text needs ${own.length}.`);
    return Uint8Array.from(set, Number);
  }

  /** @param {string} stream @param {number} layer @param {Float32Array} weights @param {Uint8Array} allowed @param {number} heads @param {number} queries @param {number} keys */
  weights(stream, layer, weights, allowed, heads, queries, keys) {
    const made = weights.slice();
    for (const e of this.list) {
      if (e.stream !== stream || (e.layer != null && e.layer !== layer)) continue;
      for (let h = 0; h < heads; h++) {
        if (e.head != null && e.head !== h) continue;
        const row = (/** @type {number} */ i) => (h * queries + i) * keys;
        if (e.edit === "ReplaceRow") made.set(/** @type {number[]} */ (e.row), row(/** @type {number} */ (e.query)));
        if (e.edit === "Uniform")
          for (let i = 0; i < queries; i++) {
            const seen = allowed.subarray(i * keys, (i + 1) * keys).reduce((sum, value) => sum + value, 0);
            for (let j = 0; j < keys; j++) made[row(i) + j] = allowed[i * keys + j] / seen;
          }
      }
    }
    return made;
  }

  /** @param {string} stream @param {number} layer @param {Float32Array} context @param {number} heads */
  context(stream, layer, context, heads) {
    const made = context.slice(), size = made.length / heads;
    for (const e of this.#of("SilenceHead", stream, layer))
      for (let h = 0; h < heads; h++) if (e.head == null || e.head === h) made.fill(0, h * size, (h + 1) * size);
    return made;
  }

  /** Queries, keys or values [head, position, dim] with those written by hand. @param {string} which @param {string} stream @param {number} layer
   * @param {Float32Array} x @param {number} heads @param {number} wide */
  vectors(which, stream, layer, x, heads, wide) {
    const made = x.slice(), count = x.length / heads / wide;
    for (const e of this.#of("SetVector", stream, layer)) {
      if (e.which !== which) continue;
      for (let h = 0; h < heads; h++)
        for (let n = 0; n < count; n++)
          if ((e.head == null || e.head === h) && (e.position == null || e.position === n)) made.set(/** @type {number[]} */ (e.values), (h * count + n) * wide);
    }
    return made;
  }

  /** Feed-forward units, some multiplied. @param {string} stream @param {number} layer @param {Float32Array} units @param {number} hidden */
  units(stream, layer, units, hidden) {
    return this.#of("SetUnit", stream, layer).reduce((all, e) => all.map((value, i) => (e.unit == null || i % hidden === e.unit ? value * /** @type {number} */ (e.factor) : value)), units);
  }

  /** The states of a layer, with one taken from another text, or with a vector added to all. @param {string} stream @param {number} layer @param {Float32Array} x @param {number} dim */
  hidden(stream, layer, x, dim) {
    const made = x.slice();
    for (const e of this.#of("PatchHidden", stream, layer)) if (e.layer === layer) made.set(/** @type {number[]} */ (e.values), /** @type {number} */ (e.position) * dim);
    for (const e of this.#of("AddVector", stream, layer)) if (e.layer === layer) for (let i = 0; i < made.length; i++) made[i] += /** @type {number} */ (e.factor) * /** @type {number[]} */ (e.values)[i % dim];
    return made;
  }
}
