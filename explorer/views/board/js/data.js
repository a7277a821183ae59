// The buffer that Python packed, opened: u32 length of the header | JSON | arrays.

export const VERSION = 1;
const BYTES = { f4: 4, f2: 2, u1: 1, d1: 1, p2: 2 };

/** @typedef {{a: Float32Array | Uint8Array, s: number[]}} Arr  an array with its shape */
/** @typedef {{part: string, place: string, given: Arr, made: Arr, mean: Arr, deviation: Arr, gain: Arr, shift: Arr, units: Arr | null, residual?: boolean, added?: Arr | null}} Block */
/** @typedef {{stream: string, layer: number, rows: string, cols: string, heads: number, scale: number, softcap: number | null,
 *   map: Arr, highest: number, strange: number, steps: number, stations: string[], edited: number[], residual: number | null, place: string, close: boolean,
 *   q?: Arr | null, k?: Arr | null, v?: Arr | null, pq?: Arr | null, pk?: Arr | null, bias?: Arr | null, weights?: Arr | null,
 *   allowed?: string | Arr, sinks?: number[] | null, x?: Arr | null, o?: Arr | null, after?: Arr | null, blocks?: Block[],
 *   embedded?: Record<string, Arr>, z?: Arr | null, moved?: {weights: number, context: number, around: number[]} | null, made?: Map<number, any>, written?: Map<number, Float32Array>, changes?: number, habits?: Map<number, Record<string, number>>}} Site */
/** @typedef {{id: string, name: string, title: string, formula: string, numpy: string, says: string, concludes: string, ms: number}} Station */
/** @typedef {{texts: string[], special: number[], words: number[], unseen: number[] | null}} TokenSet */
/** @typedef {{row: number, beams: {text: string, total: number}[]}} Moment  one step of writing: from which row, and the beams after it */
/** @typedef {{version: number, model: string, family: string, notes: string[], tokens: Record<string, TokenSet>, sites: Site[],
 *   residual: number | null, rounded: boolean, top: any, decoding?: Moment[], prose: Record<string, Station>}} Data */

/** One 16-bit number as JavaScript knows it. @param {number} h */
function half(h) {
  const sign = h & 0x8000 ? -1 : 1, power = (h >> 10) & 31, rest = h & 1023;
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : 2 ** -14 * (rest / 1024));
}

/** @type {Float32Array | null} */
let halves = null; // every 16-bit number there is: looking one up takes a tenth of computing it

/** 16-bit numbers as 32-bit ones. @param {Uint16Array} held */
function whole(held) {
  const table = (halves ??= new Float32Array(65536).map((_, at) => half(at))), made = new Float32Array(held.length);
  for (let at = 0; at < made.length; at++) made[at] = table[held[at]];
  return made;
}

/** Rows that were written as differences from the row above them, which pack to half the size. @param {Uint8Array} held @param {number[]} shape */
function summed(held, [, n, m]) {
  const made = held.slice();
  for (let at = 0; at < made.length; at++) if (Math.floor(at / m) % n) made[at] += made[at - m];
  return made;
}

/** Whole numbers of steps as numbers: all their low bytes, then all their high ones; every head has its own step.
 * @param {Uint8Array} held @param {number[]} steps */
function stepped(held, steps) {
  const count = held.length / 2, each = count / steps.length, made = new Float32Array(count);
  for (let at = 0; at < count; at++) {
    const folded = held[at] | (held[count + at] << 8);
    made[at] = ((folded >> 1) ^ -(folded & 1)) * steps[Math.floor(at / each)];
  }
  return made;
}

/** The header, and where the arrays begin. @param {Uint8Array} bytes @returns {{head: any, begin: number, bytes: Uint8Array}} */
export function headerOf(bytes) {
  if (!bytes || bytes.byteLength < 8) throw new Error("The board was given no data. Make it again with ex.board(trace).");
  if (bytes.byteOffset % 8) bytes = bytes.slice();
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  try {
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    return { head, begin: bytes.byteOffset + 4 + size, bytes };
  } catch {
    throw new Error("The data of this board is damaged. Make it again with ex.board(trace).");
  }
}

/** The buffers of a series by their labels; null where there is one only. @param {Uint8Array} given @returns {{label: string, bytes: Uint8Array}[] | null} */
export function seriesOf(given) {
  const { head, begin, bytes } = headerOf(given);
  if (!head.series) return null;
  const from = begin - bytes.byteOffset;
  return head.series.map((/** @type {any} */ s) => ({ label: s.label, bytes: bytes.subarray(from + s.begin, from + s.begin + s.size) }));
}

/** The header and its arrays. Refuses in a sentence what it cannot read. @param {Uint8Array} given @returns {Data} */
export function openBuffer(given) {
  const { head, begin, bytes } = headerOf(given);
  if (head.version !== VERSION)
    throw new Error(`This record is of version ${head.version}, and this board reads version ${VERSION}. Make it again with ex.board(trace).`);
  /** @param {any} ref @returns {Arr} */
  const array = ([kind, offset, shape, steps]) => {
    const count = shape.reduce((/** @type {number} */ x, /** @type {number} */ y) => x * y, 1), at = begin + offset;
    if (at + count * BYTES[/** @type {"f4"} */ (kind)] > bytes.byteOffset + bytes.byteLength)
      throw new Error("The data of this board ends too early. Make it again with ex.board(trace).");
    if (kind === "f4") return { a: new Float32Array(bytes.buffer, at, count), s: shape };
    if (kind === "d1") return { a: summed(new Uint8Array(bytes.buffer, at, count), shape), s: shape };
    if (kind === "p2") return { a: stepped(new Uint8Array(bytes.buffer, at, 2 * count), steps), s: shape };
    if (kind === "u1") return { a: new Uint8Array(bytes.buffer, at, count), s: shape };
    /** @type {Float32Array | null} */
    let held = null; // what was rounded to 16 bits is made whole when it is first looked at
    return { get a() { return (held ??= whole(new Uint16Array(bytes.buffer, at, count))); }, s: shape };
  };
  const isRef = (/** @type {any} */ v) => Array.isArray(v) && v.length >= 3 && v[0] in BYTES && Array.isArray(v[2]);
  /** @param {any} value @returns {any} */
  const settle = (value) => {
    if (isRef(value)) return array(value);
    if (Array.isArray(value)) return value.map(settle);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, settle(held)]));
    return value;
  };
  return { ...head, sites: head.sites.map(settle), top: settle(head.top) };
}

/** The largest finite size in an array, at least a little. @param {ArrayLike<number>} a */
export function highest(a) {
  let top = 0;
  for (let i = 0; i < a.length; i++) {
    const size = Math.abs(a[i]);
    if (size > top && size < Infinity) top = size;
  }
  return top || 1;
}

/** How many numbers of an array are NaN or infinite. @param {ArrayLike<number>} a */
export function strange(a) {
  let found = 0;
  for (let i = 0; i < a.length; i++) if (!Number.isFinite(a[i])) found++;
  return found;
}

/** Whether a query may see a key. @param {Site} site @returns {(i: number, j: number) => boolean} */
export function sees(site) {
  const held = site.allowed;
  if (!held || held === "all") return () => true;
  if (held === "causal") return (i, j) => j <= i;
  const { a, s } = /** @type {Arr} */ (held);
  return (i, j) => a[i * s[1] + j] > 0;
}
