// What stands in each column of the board at each station: a column never moves, only its state changes.
import { highest, strange } from "./data.js";
import { blockOf, concatenated, headOf } from "./derive.js";

/** @typedef {import("./colour.js").Matrix} Matrix */
/** @typedef {import("./data.js").Site} Site */
/** @typedef {{at: string, m: Matrix, says: string}} State */
/** @typedef {{id: string, wide: number, states: State[]}} Column */

/** The size that 99 of 100 numbers stay below: one outlier does not make all others pale. @param {ArrayLike<number>} a */
function strong(a) {
  const step = Math.max(1, Math.floor(a.length / 4000)), sizes = new Float32Array(Math.ceil(a.length / step));
  let count = 0;
  for (let i = 0; i < a.length; i += step) if (Number.isFinite(a[i])) sizes[count++] = Math.abs(a[i]);
  return sizes.subarray(0, count).sort()[Math.floor(count * 0.99)] || highest(a); // numbers of 32 bits sort several times as fast
}

/** @param {ArrayLike<number>} a @param {number} r @param {number} c */
function turned(a, r, c) {
  const out = new Float32Array(a.length);
  for (let i = 0; i < r; i++) for (let j = 0; j < c; j++) out[j * r + i] = a[i * c + j];
  return out;
}

/** The columns of one head of one site, by name. @param {Site} site @param {number} h @param {string} key @returns {Column[]} */
export function columnsOf(site, h, key) {
  const head = headOf(site, h), { n, m, dv } = head, blocks = site.blocks ?? [], first = blocks[0], second = blocks[1];
  /** @type {(id: string, arr: any, top?: number) => Matrix} */
  const strip = (id, arr, top) => ({ id: `${key} ${id}`, a: arr.a, r: arr.s[0], c: arr.s[1], top: top ?? strong(arr.a) });
  const given = first?.given ?? site.x, sums = blocks.map(blockOf);
  const scale = given ? Math.max(...(sums.length ? sums.map((s) => strong(s.leaves.a)) : [strong(given.a)])) : 1;
  /** A sum on the scale of what leaves the sub-layer; on its own where a norm follows that makes it several times smaller. @param {any} total */
  const summed = (total) => (strong(total.a) > 2 * scale ? strong(total.a) : scale);
  /** @type {Column[]} */
  const columns = [];
  /** @param {string} id @param {number} wide @param {[string, Matrix | null, string][]} states */
  const add = (id, wide, ...states) => {
    const held = states.flatMap(([at, m, says]) => (m && site.stations.includes(at) ? [{ at, m, says }] : []));
    if (held.length) columns.push({ id, wide, states: held });
  };
  add("x", 1, ["x", given ? strip("x", given) : null, "x"]);
  add("n1", 0.9, ["norm1", sums[0]?.first ? strip("n1", sums[0].first) : null, "norm(x)"]);
  if (site.q) addHead(add, site, h, key);
  const byHand = site.changes ? `~${site.changes}` : ""; // what a hand changed is painted anew
  const alpha = { id: `${key} A${h}${byHand}`, a: head.alpha, r: n, c: m, top: 1, share: true, see: head.see };
  const tops = site.q ? [strong(head.scores), Math.max(strong(head.scaled), strong(head.biased))] : [1, 1]; // before √dₖ, and from there on
  /** @type {(id: string, a: any, top: number, see?: any) => Matrix | null} */
  const square = (id, a, top, see = null) => (site.q ? { id: `${key} ${id}${h}`, a, r: n, c: m, top, see } : null);
  add("S", 0, ["qk", square("S", head.scores, tops[0]), "S = q·k"], ["scale", square("C", head.scaled, tops[1]), "÷ √dₖ"], ["cap", square("P", head.capped, tops[1]), "cap"],
    ["bias", square("B", head.biased, tops[1]), "+ bias"], ["mask", square("M", head.biased, tops[1], head.see), "mask"], ["softmax", alpha, "A = softmax"]);
  if (dv) {
    const z = strip(`z${h}${byHand}`, { a: head.z, s: [n, dv] });
    const all = site.stations.includes("concat") ? strip(`zz${byHand}`, concatenated(site)) : null;
    add("z", 0.9, ["mix", z, "Σ α v"], ["concat", all, "all heads"]);
  }
  const made = first?.made ?? site.o;
  add("o", 1, ["wo", made ? strip("o", made) : null, "o"], ["inner1", sums[0]?.inner ? strip("i1", sums[0].inner) : null, "norm"]);
  if (first)
    add("s1", 1, ["add1", strip("t1", sums[0].total, summed(sums[0].total)), "x + o"],
      ["post1", sums[0].last ? strip("p1", sums[0].last, scale) : null, "norm(x + o)"]);
  if (second) {
    const read = sums[1].first ? strip("n2", sums[1].first) : null;
    add("n2", 0.9, ["norm2", read, "norm"], ["beside2", read, "norm(x)"]);
    add("u", 1.2, ["units", second.units ? strip("u", second.units) : null, "units"], ["narrow", strip("f", second.made), "FFN"],
      ["inner2", sums[1].inner ? strip("i2", sums[1].inner) : null, "norm"]);
    add("s2", 1, ["add2", strip("t2", sums[1].total, summed(sums[1].total)), "x + h"],
      ["post2", sums[1].last ? strip("p2", sums[1].last, scale) : null, "norm(x + h)"]);
  } else if (!first && site.after) add("s2", 1, ["up", strip("after", site.after, scale), "x′ (the model's own)"]);
  return columns;
}

/** What a column shows: the state that came last. @param {Column | undefined} column @param {Site} site @param {number} step */
export const stateAt = (column, site, step) => column?.states.filter((s) => site.stations.indexOf(s.at) <= step).at(-1);

/** The columns that no station has reached. @param {Column[]} columns @param {Site} site @param {number} step */
export const aheadOf = (columns, site, step) => [...columns.filter((c) => !stateAt(c, site, step)).map((c) => c.id), ...(site.stations[step] === "next" ? [] : ["next"])];

const WALKED = ["x", "n1", "q", "k", "S", "v", "z"]; // the columns of attention itself
/** The columns of attention, and what has come of the others; `bare`, the square alone. @param {any[]} columns @param {string[]} ahead @param {boolean} bare */
export const walkedOf = (columns, ahead, bare) => columns.filter(({ id }) => (bare ? id === "S" : WALKED.includes(id) || !ahead.includes(id)));

/** @param {any} add @param {Site} site @param {number} h @param {string} key */
function addHead(add, site, h, key) {
  const head = headOf(site, h), { n, m, d, dv, q, k, v, group } = head, pq = site.pq, pk = site.pk;
  /** @param {any} arr @param {number} g */
  const of = (arr, g) => arr.a.subarray(g * arr.s[1] * arr.s[2], (g + 1) * arr.s[1] * arr.s[2]);
  const q0 = pq ? of(pq, h) : q, k0 = pk ? of(pk, group) : k;
  /** @type {(id: string, a: any, r: number, c: number, top: number) => Matrix} */
  const plain = (id, a, r, c, t) => ({ id: `${key} ${id}`, a, r, c, top: t });
  add("q", 0.9, ["qkv", plain(`q0${h}`, q0, n, d, strong(q0)), "q"], ["turn", plain(`q${h}`, q, n, d, strong(q)), "q′"]);
  add("k", 0, ["qkv", plain(`k0${group}`, turned(k0, m, d), d, m, strong(k0)), "Kᵀ"], ["turn", plain(`k${group}`, turned(k, m, d), d, m, strong(k)), "K′ᵀ"]);
  add("v", 0, ["qkv", plain(`v${group}`, v, m, dv, strong(v)), "V"]);
}

/** A sentence about NaN and infinity in what is shown; empty where there is none. @param {Column[]} columns */
export function strangeNote(columns) {
  const found = columns.flatMap((c) => c.states.map((s) => [s.says, strange(s.m.a)])).filter(([, count]) => count);
  return found.length ? `Hatched cells are not numbers (NaN or infinite): ${found.map(([name, count]) => `${count} in ${name}`).join(", ")}.` : "";
}
