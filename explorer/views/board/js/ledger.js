// What stands behind one number: its operands, in the order of the formula, and the gap to the model's own.
import { blockOf, entryNorm, gaps, headOf } from "./derive.js";

/** @typedef {{title: string, lines: string[], label?: string}} Entry */
/** @typedef {{box: string, i: number, j: number}} Cell  a cell of a column; in S and A, j is a key */

/** A number as people read it. @param {number} x */
export function short(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  const text = size !== 0 && size < 0.001 ? x.toExponential(1) : x.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
  return text.replace(/-/g, "−");
}

/** The same where it follows a sign: a negative number stands in brackets. @param {number} x */
const after = (x) => (x < 0 ? `(${short(x)})` : short(x));

/** A power of e or its exponent: 0 and 1 are exact where the largest score is meant. @param {number} x */
const bare = (x) => (x === 0 || x === 1 ? String(x) : short(x));

/** A difference as people read it. @param {number} x */
const tiny = (x) => (x ? x.toExponential(0) : "0");

/** The same, rounded up: what nothing passes. @param {number} x */
const upTo = (x) => tiny(x + 0.5 * 10 ** Math.floor(Math.log10(x)));

/** A probability as people read it. @param {number} p */
export const percent = (p) => (p < 0.0005 ? "< 0.1%" : `${(p * 100).toFixed(p < 0.1 ? 1 : 0)}%`);

/** A token as people read it: no line breaks, no invisible letters, not too long. @param {string} text */
export function readable(text) {
  const seen = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�").replace(/\s/g, "␣") || "∅", letters = [...seen];
  return letters.length > 16 ? `${letters.slice(0, 15).join("")}…` : seen;
}

/** The strongest products first. @param {ArrayLike<number>} a @param {number} ai @param {ArrayLike<number>} b @param {(e: number) => number} bi @param {number} d */
function products(a, ai, b, bi, d) {
  const pairs = Array.from({ length: d }, (_, e) => [a[ai + e], b[bi(e)]]).sort((x, y) => Math.abs(y[0] * y[1]) - Math.abs(x[0] * x[1]));
  const shown = pairs.slice(0, 3).map(([x, y]) => `${after(x)}·${after(y)}`).join(" + ");
  return d > 3 ? `${shown} + … (${d} products, strongest first; all in the table below)` : shown;
}

/** The column that a station is about, where none of its cells is pointed at. */
const HOME = /** @type {Record<string, string>} */ ({ x: "x", norm1: "n1", qkv: "q", turn: "q", wo: "o", inner1: "o", add1: "s1", post1: "s1", norm2: "n2", beside2: "n2",
  units: "u", narrow: "u", inner2: "u", add2: "s2", post2: "s2", up: "s2" });

/** Where an edit left a head with another output than its weights and values make. @param {import("./data.js").Site} site @param {number} h
 * @param {number} i @returns {string[]} */
function contextNote(site, h, i) {
  const { alpha, v, z, m, dv } = headOf(site, h);
  if (!site.z) return [];
  for (let e = 0; e < dv; e++) {
    let sum = 0;
    for (let j = 0; j < m; j++) sum += alpha[i * m + j] * v[j * dv + e];
    if (Math.abs(sum - z[i * dv + e]) > 1e-3 * Math.max(1, Math.abs(sum))) return ["This output was edited: z is the edited value, not this sum."];
  }
  return [];
}

/** What a station says of a whole row. @param {import("./data.js").Site} site @param {number} h @param {string} station @param {number} i @param {string} who
 * @param {string[]} cols @returns {Entry | null} */
function rowOf(site, h, station, i, who, cols) {
  const head = headOf(site, h), { m, dv } = head;
  if (station === "concat") return { title: who, lines: [`${site.heads} heads × ${dv} numbers = ${site.heads * dv} numbers, side by side`] };
  if (station !== "mix") return null;
  const best = Array.from({ length: m }, (_, j) => j).sort((a, b) => head.alpha[i * m + b] - head.alpha[i * m + a]).slice(0, 4);
  const sum = best.map((j) => `${short(head.alpha[i * m + j])}·v(${readable(cols[j])})`).join(" + ");
  return { title: `${who}: z`, lines: [`${sum}${m > 4 ? ` + … (${m} tokens, strongest first)` : ""}`, ...contextNote(site, h, i)] };
}

/** The entry for one cell at one station. @param {import("./data.js").Site} site @param {number} h @param {string} station @param {Cell} cell
 * @param {string[]} rows @param {string[]} cols @returns {Entry} */
export function entryOf(site, h, station, cell, rows, cols) {
  const head = headOf(site, h), { m, d, dv } = head, { box, i, j } = cell, from = ["pre", "both"].includes(site.blocks?.[0]?.place ?? "") ? "norm(x)" : "x", of = site.stream === "cross" ? "of the encoder's last states" : `of ${from}`, who = readable(rows[i] ?? ""), whom = readable(cols[j] ?? "");
  if (box === "S" && HOME[station]) {
    const found = entryOf(site, h, station, { box: HOME[station], i, j: 0 }, rows, cols);
    if (found.lines.length) return { ...found, lines: [...found.lines, "Point at a cell for another dimension."] };
  }
  const whole = box === "S" ? rowOf(site, h, station, i, who, cols) : null;
  if (whole) return whole;
  if (box === "S") return { title: `${who} → ${whom}`, lines: scoreLines(site, h, station, i, j) };
  const early = ["x", "norm1", "qkv"].includes(station); // before positions turn queries and keys
  if (box === "q") {
    const q = site.pq ? site.pq.a[(h * head.n + i) * d + j] : head.q[i * d + j];
    if (site.pq && !early) return prepared(who, "q", j, q, head.q[i * d + j]);
    return feature(who, "q", j, q, `row of ${from} (${site.blocks?.[0]?.given.s[1] ?? "all"} numbers) · column ${j} of W_Q, + bias`);
  }
  if (box === "k") {
    const k = site.pk ? site.pk.a[(head.group * m + j) * d + i] : head.k[j * d + i];
    if (site.pk && !early) return prepared(whom, "k", i, k, head.k[j * d + i]);
    return feature(whom, "k", i, k, `row ${of} · column ${i} of W_K, + bias`);
  }
  if (box === "v") return feature(readable(cols[i] ?? ""), "v", j, head.v[i * dv + j], `row ${of} · column ${j} of W_V, + bias`);
  if (box === "z" && site.stations.includes("concat") && site.stations.indexOf(station) >= site.stations.indexOf("concat")) return joined(site, i, j, dv, who);
  if (box === "z" && j < dv) {
    const made = feature(who, "z", j, head.z[i * dv + j], products(head.alpha, i * m, head.v, (e) => e * dv + j, m));
    return { ...made, lines: [...made.lines, ...contextNote(site, h, i)] };
  }
  return outside(site, box, station, cell, who) ?? { title: who, lines: [] };
}

/** One number of all heads side by side: whose it is. @param {import("./data.js").Site} site @param {number} i @param {number} j @param {number} dv @param {string} who @returns {Entry} */
function joined(site, i, j, dv, who) {
  const h = Math.floor(j / dv), e = j % dv;
  return { title: `${who}: number ${j} of all heads`, lines: [`dimension ${e} of z in head ${h}`, `= ${short(headOf(site, h).z[i * dv + e])}`] };
}

/** @param {string} who @param {string} name @param {number} j @param {number} value @param {string} how @returns {Entry} */
const feature = (who, name, j, value, how) => ({ title: `${who}: ${name}, dimension ${j}`, lines: [how, `= ${short(value)}`] });

/** A number of a query or key after positions, or a norm, changed it. @param {string} who @param {string} name @param {number} j @param {number} before
 * @param {number} after @returns {Entry} */
const prepared = (who, name, j, before, after) => ({ title: `${who}: ${name}′, dimension ${j}`, lines: [`${short(before)} in ${name}, before its position (or a norm) changed it`, `= ${short(after)}`] });

/** The score of one pair at a station. @param {import("./data.js").Site} site @param {number} h @param {string} station @param {number} i @param {number} j */
function scoreLines(site, h, station, i, j) {
  const head = headOf(site, h), { m, d } = head, at = i * m + j;
  if (!head.see(i, j) && ["mask", "softmax", "mix"].includes(station)) return ["Forbidden: e to the power of −∞ is 0.", "α = 0"];
  if (!site.q) return [`This model gives access to its attention weights only: α = ${short(head.alpha[at])}`];
  const s = short(head.scores[at]), c = short(head.scaled[at]);
  if (["x", "norm1", "qkv", "turn", "qk"].includes(station)) return [products(head.q, i * d, head.k, (e) => j * d + e, d), `q·k = ${s}`];
  if (station === "scale") return [`${s} × ${short(site.scale)} = ${c}`, site.scale === 1 ? "This model does not scale its scores." : `Dividing by ${Math.abs(site.scale ** 2 * d - 1) < 1e-3 ? "√dₖ = " : ""}${short(1 / site.scale)} is multiplying by ${short(site.scale)}.`];
  if (station === "cap") return [`${short(site.softcap ?? 0)} · tanh(${c} / ${short(site.softcap ?? 0)}) = ${short(head.capped[at])}`];
  if (station === "bias") return [`${short(head.capped[at])} + ${after(head.biased[at] - head.capped[at])} = ${short(head.biased[at])}`];
  if (station === "mask") return [`allowed: ${short(head.biased[at])} stays`, ...(site.allowed === "all" ? ["No cell is masked here: every row may attend to every column. A decoder such as GPT-2 masks all later tokens."] : [])];
  return softmaxLines(site, h, i, j);
}

/** @param {import("./data.js").Site} site @param {number} h @param {number} i @param {number} j */
function softmaxLines(site, h, i, j) {
  const head = headOf(site, h), { m } = head, at = i * m + j;
  if (site.edited.includes(h)) return [`α = ${short(head.alpha[at])}`, "These weights were edited, and are shown as edited."];
  if (head.base) return [`α = ${short(head.alpha[at])}`, "A row always sums to 1: what one weight gains, the others give up in proportion."];
  const sink = site.sinks ? site.sinks[h] : null;
  let top = sink ?? -Infinity, sum = 0;
  for (let x = 0; x < m; x++) if (head.see(i, x)) top = Math.max(top, head.biased[i * m + x]);
  for (let x = 0; x < m; x++) if (head.see(i, x)) sum += Math.exp(head.biased[i * m + x] - top);
  if (sink != null) sum += Math.exp(sink - top);
  const less = head.biased[at] - top, power = Math.exp(less);
  return [`${short(head.biased[at])} − ${after(top)} = ${bare(less)} (minus the row's largest score${sink == null ? "" : " or sink"})`, `e to the power of ${bare(less)} = ${bare(power)}`,
    `${bare(power)} ÷ ${short(sum)} = ${short(head.alpha[at])} (divided by the row's sum${sink == null ? "" : " with its sink"})`];
}

/** Cells of the residual stream. @param {import("./data.js").Site} site @param {string} box @param {string} station @param {Cell} cell @param {string} who
 * @returns {Entry | null} */
function outside(site, box, station, { i, j }, who) {
  const blocks = site.blocks ?? [], title = `${who}: dimension ${j}`;
  /** @param {any} arr */
  const of = (arr) => arr.a[i * arr.s[1] + j];
  /** @param {any} b @param {any} x */
  const norm = (b, x) => `(${short(of(x))} − μ ${after(b.mean.a[i])}) / σ ${short(b.deviation.a[i])} × γ ${after(b.gain.a[j])} + β ${after(b.shift.a[j])}`;
  const given = blocks[0]?.given ?? site.x;
  if (box === "x" && given && j < given.s[1]) return { title, lines: [...embedded(site, i, j), `x = ${short(of(given))}`] };
  const number = ["n2", "u", "s2"].includes(box) ? 1 : 0, b = blocks[number], own = box === "o" ? site.o : box === "s2" ? site.after : null;
  if (!b && own && j < own.s[1])
    return { title, lines: box === "o" ? [`all heads (z) · column ${j} of W_O, + bias`, `= ${short(of(own))}`] : [`passed on by the model: ${short(of(own))}`] };
  if (!b || j >= (box === "u" && station === "units" && b.units ? b.units.s[1] : b.given.s[1])) return null;
  const s = blockOf(b), normed = ["norm1", "norm2", "inner1", "inner2", "post1", "post2"].includes(station);
  const before = entryNorm(b);
  if (box === "n1" || box === "n2") return { title, lines: [norm(before, before.x), `= ${short(of(s.first))}`] };
  if (box === "u" && b.units && station === "units") return { title: `${who}: unit ${j}`, lines: [`f(row of x · column ${j} of W₁ + b₁); gated layers multiply it by another such product`, `= ${short(of(b.units))}`] };
  if (box === "o" || box === "u") {
    if (s.inner && station !== "wo" && station !== "narrow") return { title, lines: [norm(b, b.made), `= ${short(of(s.inner))}`] };
    if (b.made.a.subarray(i * b.made.s[1], (i + 1) * b.made.s[1]).every((x) => x === 0)) return { title, lines: ["Switched off: all of this output is 0."] };
    return { title, lines: [box === "o" ? `all heads (z) · column ${j} of W_O, + bias` : `all units · column ${j} of W₂ + b₂`, `= ${short(of(b.made))}`] };
  }
  const alone = b.residual === false, added = alone ? `= ${short(of(s.total))}` : `${short(of(b.given))} + ${after(of(s.made))} = ${short(of(s.total))}`;
  if (b.place !== "post" || station === "add1" || station === "add2") return { title, lines: [alone ? "new only: without the residual connection x is not added" : "x + new", added] };
  return { title, lines: normed || s.last ? [added, norm(b, s.total), `= ${short(of(s.last))}`] : [added] };
}

/** The parts of an embedding. @param {import("./data.js").Site} site @param {number} i @param {number} j */
function embedded(site, i, j) {
  const parts = Object.entries(site.embedded ?? {});
  if (!parts.length) return ["the output of the layer below"];
  const given = site.blocks?.[0]?.given ?? site.x, values = parts.map(([, arr]) => arr.a[i * arr.s[1] + j]);
  if (values.some((x) => x === undefined)) return [];
  /** @param {number} e */
  const summed = (e) => parts.reduce((sum, [, arr]) => sum + arr.a[i * arr.s[1] + e], 0);
  const wide = given?.s[1] ?? 0, own = given?.a.subarray(i * wide, (i + 1) * wide) ?? [], sum = summed(j);
  const moved = Array.from(own).some((/** @type {number} */ x, /** @type {number} */ e) => !(Math.abs(summed(e) - x) < 2e-3 * Math.max(1, Math.abs(x)))); // more than 16 bits move a number
  const line = parts.map(([name], at) => `${name} ${after(values[at])}`).join(" + ") + ` = ${short(sum)}`;
  return moved || !wide ? [line, "then normalised or scaled by the model"] : [line];
}

/** How far the numbers here are from the model's own, in a sentence. @param {import("./data.js").Data} data @param {import("./data.js").Site} site @param {number} h */
export function gapLine(data, site, h) {
  if (!site.close) {
    const odd = site.strange ? ` ${site.strange} of them are not numbers (NaN or infinite) and are drawn as 0.` : "";
    return `Only the weights of this layer are in this file, rounded to ${site.steps} steps of ${short(site.highest / site.steps)}.${odd}`;
  }
  const found = gaps(site, h), parts = [];
  if (found.weights != null) parts.push(`weights ${tiny(found.weights)}`);
  found.around.forEach((gap, at) => gap != null && parts.push(`${at ? "second" : "first"} sum and norm ${tiny(gap)}`));
  if (site.edited.includes(h)) parts.push("weights edited, so taken as they are");
  const steps = site.moved;
  if (steps) {
    const out = steps.around.length ? `, and an output of a sub-layer by at most ${upTo(Math.max(...steps.around))}` : "";
    return `Computed in the browser from ${out ? "numbers" : "q, k and v"} rounded to small steps, because this file would otherwise be too large. That changes a weight by at most ${upTo(steps.weights)} and a number of z by at most ${upTo(steps.context)}${out}.`;
  }
  const rounded = data.rounded ? " Numbers here are rounded to 16 bits." : "";
  const python = found.weights == null && site.q && !site.edited.includes(h) && site.residual != null ? ` Python measured ${tiny(site.residual)} for the weights.` : "";
  return (parts.length ? `Computed in the browser. Largest difference from the model's own numbers: ${parts.join(", ")}.` : "Computed in the browser from the model's q, k and v.") + rounded + python;
}

/** What is expected at a row: bars of tokens, or of yes and no. @param {import("./data.js").Data} data @param {number} row @param {string} who
 * @returns {{says: string, bars: {text: string, p: number, own?: boolean}[]}} */
export function expectedAt({ top, family }, row, who) {
  if (!top) return { says: "", bars: [] };
  if (top.kind === "rtd") return { says: `was ${who} replaced?`, bars: [{ text: "yes", p: top.p.a[row] }, { text: "no", p: 1 - top.p.a[row] }] };
  const width = top.p.s[1];
  const bars = top.texts[row].map((/** @type {string} */ text, /** @type {number} */ at) => ({ text, p: top.p.a[row * width + at], own: !at }));
  return { says: `${family === "encoder" ? "at" : "after"} ${who}`, bars };
}

/** An encoder reads the token that it expects here. @param {any} board @param {{text: string}[]} bars @returns {string[]} */
export function copiedLine({ data, rows, cursor }, bars) {
  const own = readable(rows[cursor.row] ?? "");
  return data.family === "encoder" && data.top.kind !== "rtd" && bars[0] && readable(bars[0].text) === own ? [`The model reads “${own}” here, so this is no prediction: ___ in its place hides it.`] : [];
}

/** The name of a layer, with its stream where there are several; in short for a map. @param {{stream: string, layer: number}} site @param {{stream: string}[]} sites */
export function layerName({ stream, layer }, sites, short = 0) {
  const alone = sites.every((other) => other.stream === stream), kind = stream === "cross" ? "×" : stream[0].toUpperCase();
  return short ? `${alone ? "L" : kind}${layer}` : `${alone ? "" : `${stream} `}layer ${layer}`;
}
