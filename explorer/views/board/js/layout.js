// Where everything stands. Rows of tokens run across; a number's parents lie to its left and above it.

/** @typedef {{id: string, x: number, y: number, w: number, h: number, r: number, c: number}} Box */
/** @typedef {{boxes: Box[], wide: number, high: number, cell: number, kind: "wide" | "bands" | "phone", label: number, keys: number,
 *   map: {x: number, y: number, w: number, h: number} | null, ledger: {x: number, y: number, w: number, h: number, tall: boolean} | null, font: number}} Layout */

const GAP = 16, CLEAR = 30, PAD = 8, BELOW = 24; // dots; words beside a picture are clear of its arcs

export const NARROW = 600, WIDE = 940; // dots: a telephone below the first, everything in one band from the second on

/** What stands alone on a telephone at each station. */
const FOCUS = /** @type {Record<string, string[]>} */ ({ x: ["x"], norm1: ["n1"], qkv: ["q", "k", "v"], turn: ["q", "k"], mix: ["v", "z"],
  concat: ["z"], wo: ["o"], inner1: ["o"], add1: ["s1"], post1: ["s1"], norm2: ["n2"], beside2: ["n2"], units: ["u"], narrow: ["u"], inner2: ["u"], add2: ["s2"],
  post2: ["s2"], up: ["s2"], next: ["next"] });

/** @typedef {{W: number, H: number, presenter: boolean, n: number, m: number, d: number, station: string, rowLabel: number, colLabel: number, stacked: boolean,
 *   small?: boolean, ahead: string[], columns: import("./columns.js").Column[], speaks: boolean, reserves?: boolean}} Ask  `reserves`: another layer has what is expected, so its room is kept */

/** @param {Ask} ask @returns {Layout} */
export const layoutOf = (ask) => (ask.W < NARROW && !ask.presenter ? phone(ask) : across(ask, ask.W >= WIDE || ask.presenter || Boolean(ask.small)));

/** The same, further down. @param {Layout} made @param {number} by */
export function lowered(made, by) {
  for (const one of [...made.boxes, made.map, made.ledger]) if (one) one.y += by;
  made.high += by;
}

const clamp = (/** @type {number} */ x, /** @type {number} */ a, /** @type {number} */ b) => Math.max(a, Math.min(b, x));

/** Two bands below `WIDE`, one from there on. @param {Ask} ask @param {boolean} one @returns {Layout} */
function across(ask, one) {
  const { W, H, n, m, columns, presenter, stacked, small: less } = ask, font = presenter ? 24 : 14, below = presenter ? 34 : BELOW;
  const label = clamp(ask.rowLabel + 12, 40, presenter ? 240 : 130), keys = m <= 64 ? clamp(ask.colLabel * 0.85 + 10, 24, presenter ? 120 : 74) : 8;
  const has = (/** @type {string} */ id) => columns.some((c) => c.id === id);
  const kh = has("k") ? (less ? 44 : clamp(ask.d * (one ? 5 : 7), 48, presenter ? 110 : one ? 80 : 120)) : 0, high = Math.max(keys + kh, less ? 0 : presenter ? 220 : one ? 160 : 132), top = PAD + high + GAP;
  const most = less ? 0.22 * H : presenter ? (stacked ? 0.27 * H : Math.min(Math.max(H - top - below, 0.45 * H), W * 0.38)) : one ? Math.min(Math.max(340, Math.min(0.24 * W, H - 660)), W * 0.31, Math.max(210, (stacked ? 0.3 : 0.37) * H)) : Math.min(330, W * 0.4);
  const cell = Math.min(most / m, most / n, less ? (presenter ? 24 : 16) : presenter ? 96 : 28), side = cell * m, square = Math.max(cell * n, 12);
  const bars = presenter ? 240 : one ? clamp(W * 0.084, 118, 220) : 118; // the room of what is expected
  const firsts = ["x", "n1", "q", "S", "z"];
  /** @type {Box[]} */
  const boxes = [];
  const band = (/** @type {any[]} */ held, /** @type {number} */ y, /** @type {number} */ h) => {
    const fixed = held.reduce((sum, c) => sum + (c.id === "S" ? side : c.id === "next" ? bars : 0), 0);
    const parts = held.reduce((sum, c) => sum + c.wide, 0), room = W - 2 * PAD - label - fixed - GAP * held.length - (ask.reserves && !ask.speaks ? bars + GAP : 0);
    const widest = presenter ? 150 : one ? 240 : 132, equal = clamp(room / (parts || 1), 14, widest);
    const early = held.filter((c) => firsts.includes(c.id) && c.id !== "S"), before = early.reduce((sum, c) => sum + c.wide, 0);
    const least = one && before ? Math.max(60, (0.64 * W - PAD - label - side - GAP * early.length) / before) : equal;
    const unit = presenter ? Math.max(equal, Math.min(least, widest)) : Math.min(equal, least), rest = parts > before ? clamp((room - before * unit) / (parts - before), 14, widest) : unit;
    let x = PAD + label;
    for (const c of held) {
      const w = c.id === "S" ? side : c.id === "next" ? Math.min(W - PAD - x, presenter ? 340 : 260) : c.wide * (firsts.includes(c.id) ? unit : rest);
      const last = c.states?.at(-1)?.m;
      if (!one || firsts.includes(c.id) || !ask.ahead.includes(c.id)) // of what comes later, words have the room
        boxes.push({ id: c.id, x, y, w, h, r: c.id === "next" ? 1 : n, c: c.id === "next" ? 1 : last.c });
      x += w + GAP;
    }
    return x;
  };
  const shown = columns.filter((c) => !["k", "v"].includes(c.id)), next = ask.speaks ? [{ id: "next", wide: 0 }] : [];
  const left = shown.filter((c) => one || firsts.includes(c.id)), right = shown.filter((c) => !one && !firsts.includes(c.id));
  band(one ? [...left, ...next] : left, top, square);
  let bottom = top + square + below;
  const small = Math.min(square, Math.max(12 * n, 60), 260);
  if (!one && right.length + next.length) {
    band([...right, ...next], bottom + 8, Math.max(small, next.length ? 96 : 0));
    bottom += 8 + Math.max(small, next.length ? 96 : 0) + BELOW;
  }
  const S = /** @type {Box} */ (boxes.find((b) => b.id === "S")), z = boxes.find((b) => b.id === "z");
  if (kh) boxes.push({ id: "k", x: S.x, y: PAD + high - kh, w: side, h: kh, r: ask.d, c: m });
  if (kh && z) boxes.push({ id: "v", x: z.x, y: PAD + high - Math.min(kh, Math.max(m * 10, 40)), w: z.w, h: Math.min(kh, Math.max(m * 10, 40)), r: m, c: ask.d });
  const edge = z ? z.x + z.w : S.x + S.w, newest = boxes.findLast((b) => b.x > edge), tall = one && !newest;
  if (one && newest && ask.ahead.length) newest.w = W - PAD - newest.x; // it has the room of what comes later
  const ledger = one ? { x: edge + CLEAR, y: 0, w: W - PAD - edge - CLEAR, h: tall ? top + square : high + GAP, tall } : null;
  if (one && next.length) bottom = Math.max(bottom, top + (presenter ? 290 : 150));
  return { boxes, wide: W, high: bottom, cell, kind: one ? "wide" : "bands", label, keys, font, ledger: less ? null : ledger,
    map: less ? null : { x: PAD, y: PAD, w: Math.max(60, S.x - GAP - PAD - (kh ? 24 : 0)), h: high - 8 } };
}

/** One station over the full width, the heads above it. @param {Ask} ask @returns {Layout} */
function phone(ask) {
  const { W, n, m, columns, station } = ask, label = clamp(ask.rowLabel + 10, 36, 96), room = W - 2 * PAD - label;
  const out = m > 40 ? 0 : clamp(ask.colLabel * 0.5 - room / m / 2, 0, 34), leans = FOCUS[station] ? 0 : out; // the last name over the columns leans out
  const cell = Math.min((room - leans) / m, 24), tall = clamp(n * Math.min(22, Math.max(cell, 14)), 24, 420), mapped = 84;
  const wanted = FOCUS[station] ?? ["S"];
  let y = PAD + mapped + 12;
  if (wanted[0] === "v") y += 14; // its name stands above it
  const square = wanted.includes("S"), strands = wanted[0] === "v" ? 18 : 0, keys = (square || wanted.includes("k")) && m <= 40 ? clamp(ask.colLabel * 0.85 + 8, 24, 64) : 0;
  /** @type {Box[]} */
  const boxes = [];
  for (const id of wanted) {
    if (id === "S" || id === "k") y += keys;
    const many = wanted.length > 1 ? 0.6 : 1, column = columns.find((c) => c.id === id), last = column?.states.at(-1)?.m;
    if (id === "next" ? !ask.speaks : !last) continue;
    const h = id === "next" ? 240 : id === "S" ? cell * n : id === "k" ? clamp(ask.d * 6, 60, 110) : id === "v" ? clamp(m * 9, 40, 200) : tall * many;
    boxes.push({ id, x: PAD + label, y, w: id === "S" ? cell * m : room - strands - (id === "k" ? out : 0), h, r: id === "next" ? 1 : id === "k" ? ask.d : id === "v" ? m : n,
      c: id === "next" ? 1 : id === "k" ? m : /** @type {any} */ (last).c });
    y += h + BELOW + 6;
  }
  return { boxes, wide: W, high: y, cell, kind: "phone", label, keys, font: 14, ledger: null, map: { x: PAD, y: PAD, w: W - 2 * PAD, h: mapped } };
}

/** The squares of all heads in a field: rows of layers where they fit. @param {import("./data.js").Site[]} sites
 * @param {{x: number, y: number, w: number, h: number}} field @returns {{site: number, head: number, x: number, y: number, s: number}[]} */
export function thumbs(sites, field) {
  const rows = sites.length, most = Math.max(...sites.map((s) => s.heads)), many = sites.reduce((sum, s) => sum + s.heads, 0);
  const size = Math.min((field.w - 22) / most, field.h / rows, 58);
  if (size >= 11 || rows * most <= many * 1.01) {
    const s = Math.max(3, size);
    if (s * rows <= field.h + 1 && s >= 6)
      return sites.flatMap((site, at) => Array.from({ length: site.heads }, (_, head) => ({ site: at, head, x: field.x + 22 + head * s, y: field.y + at * s, s: s - Math.min(4, s / 6) })));
  }
  let s = 58;
  while (s > 3 && Math.floor(field.w / s) * Math.floor(field.h / s) < many) s -= 0.5;
  const per = Math.max(1, Math.floor(field.w / s));
  let at = -1;
  return sites.flatMap((site, number) => Array.from({ length: site.heads }, (_, head) => {
    at++;
    return { site: number, head, x: field.x + (at % per) * s, y: field.y + Math.floor(at / per) * s, s: s - Math.min(3, s / 6) };
  }));
}
