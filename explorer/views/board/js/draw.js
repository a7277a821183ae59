// One frame of the board on its canvas.
import { stateAt } from "./columns.js";
import { headOf } from "./derive.js";
import { writtenRows } from "./growing.js";
import { habitShare } from "./heads.js";
import { layerName, percent, readable } from "./ledger.js";
import { drawOther } from "./stacked.js";

/** @typedef {import("./layout.js").Box} Box */
/** @typedef {import("./columns.js").Column} Column */
/** @typedef {import("./columns.js").State} State */

export const FONT = '"Source Sans","Source Sans 3","Source Sans Pro","Segoe UI",Helvetica,Arial,sans-serif';
const LEAN = 1.05; // by which the names of columns lean
const SMALLEST = 12; // dots of a name: where rows are lower, some are left out
const BELOW_NAME = 8; // dots that a ribbon passes below the names of the columns
const ease = (/** @type {number} */ t) => (t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2);
const mix = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ t) => a + (b - a) * t;

/** Draws a scene; `g` is a canvas context in CSS dots. */
export class Painter {
  /** @param {CanvasRenderingContext2D} g @param {any} scene  the board's own state, as board.js describes it */
  constructor(g, scene) {
    this.g = g;
    this.s = scene;
    this.t = ease(scene.t);
  }

  /** Everything. */
  frame() {
    const { g, s } = this, { look, layout } = s;
    g.fillStyle = look.paper;
    g.fillRect(0, 0, layout.wide, layout.high);
    g.imageSmoothingEnabled = false;
    if (s.other?.layout) drawOther(this);
    this.whole();
  }

  /** One board, on what is drawn already. */
  whole() {
    const { s } = this;
    this.rowNames();
    for (const column of s.columns) this.column(column);
    this.unwritten();
    if (s.speaks) this.bars();
    this.keyNames();
    this.moving();
    this.heads();
    for (const hold of s.held) this.frameOf(hold, 2);
    this.frameOf(s.cursor, s.held.length ? 1 : 2);
    if (s.layout.cell < 5) this.lens();
  }

  /** The same hand on another scene. @param {any} scene */
  of(scene) {
    return new Painter(this.g, scene);
  }

  /** @param {string} id @returns {Box | undefined} */
  box(id) {
    return this.s.layout.boxes.find((/** @type {Box} */ b) => b.id === id);
  }

  /** @param {string} text @param {number} x @param {number} y @param {{size?: number, colour?: string, align?: CanvasTextAlign, weight?: number, most?: number}} [how] */
  write(text, x, y, how = {}) {
    const { g, s } = this;
    g.font = `${how.weight ?? 400} ${how.size ?? s.layout.font - 1}px ${FONT}`;
    g.fillStyle = how.colour ?? s.look.ink;
    g.textAlign = how.align ?? "left";
    g.textBaseline = "middle";
    g.fillText(text, x, y, how.most);
  }

  /** The picture of a matrix in its box. @param {State} state @param {Box} b @param {number} [alpha] @param {number} [x] @param {number} [y] */
  picture(state, b, alpha = 1, x = b.x, y = b.y) {
    const { g, s } = this;
    g.globalAlpha = alpha;
    g.drawImage(s.pictures.of(s.shownAs(state.m), s.look), x, y, b.w, b.h);
    g.globalAlpha = 1;
  }

  /** Draw inside a part of a box only. @param {number} x @param {number} y @param {number} w @param {number} h @param {() => void} draw */
  within(x, y, w, h, draw) {
    const { g } = this;
    g.save();
    g.beginPath();
    g.rect(x, y, w, h);
    g.clip();
    draw();
    g.restore();
  }

  /** The names of the rows. */
  rowNames() {
    const { s } = this, { layout, look } = s, values = layout.kind === "phone" ? this.box("v") : undefined; // elsewhere the keys are beside them
    for (const b of [...bandsOf(layout.boxes), ...(values ? [values] : [])]) {
      const side = b === values ? "col" : "row", kind = b === values ? "cols" : "rows", names = b === values ? s.cols : s.rows;
      const high = b.h / b.r, size = Math.min(layout.font, high * 0.86), few = size < SMALLEST ? Math.ceil((SMALLEST + 1) / high) : 1, chosen = [s.cursor[side], ...s.held.map((/** @type {any} */ h) => h[side])];
      for (let i = 0; i < b.r; i++) {
        const held = chosen.includes(i), near = few > 1 && chosen.some((row) => Math.abs(row - i) < few);
        if ((!held && (i % few || near)) || s.gone[kind][i]) continue;
        this.write(readable(names[i]), layout.label + 2, b.y + high * (i + 0.5),
          { size: Math.max(size, SMALLEST), align: "right", colour: held ? look.hold : s.special[kind][i] ? look.dim : look.ink,
            weight: held ? 700 : 400, most: layout.label - 6 });
      }
    }
  }

  /** The names of the columns of the square, above the keys. */
  keyNames() {
    const { g, s } = this, k = this.box("k"), S = this.box("S") ?? k; // on a telephone the keys stand without the square
    if (!S || s.layout.keys < 20) return;
    const w = S.w / S.c, size = Math.min(s.layout.font - 1, w * 0.86), y = (k ? k.y : S.y) - 5;
    const few = size < SMALLEST ? Math.ceil((SMALLEST + 3) / w) : 1, chosen = [s.cursor.col, ...s.held.map((/** @type {any} */ h) => h.col)];
    const written = s.site.rows === s.site.cols ? writtenRows(s) : S.c;
    for (let j = 0; j < written; j++) {
      const held = chosen.includes(j), near = few > 1 && chosen.some((col) => Math.abs(col - j) < few);
      if ((!held && (j % few || near)) || s.gone.cols[j]) continue;
      g.save();
      g.translate(S.x + w * (j + 0.5) + 2, y);
      g.rotate(-LEAN);
      this.write(readable(s.cols[j]), 0, 0, { size: Math.max(size, SMALLEST), colour: held ? s.look.hold : s.special.cols[j] ? s.look.dim : s.look.ink, weight: held ? 700 : 400,
        most: s.layout.keys * 1.1 });
      g.restore();
    }
  }

  /** One column: what came last, and what comes now. @param {Column} column */
  column(column) {
    const { g, s } = this, b = this.box(column.id);
    if (!b) return;
    const order = s.site.stations, states = column.states;
    const before = states.filter((/** @type {State} */ x) => order.indexOf(x.at) < s.step).at(-1), now = states.find((/** @type {State} */ x) => x.at === order[s.step]);
    if (before) this.picture(before, b);
    if (now) this.coming(column.id, now, before, b);
    g.strokeStyle = now && s.t >= 0 ? s.look.dim : s.look.none;
    g.lineWidth = 1;
    g.strokeRect(b.x - 0.5, b.y - 0.5, b.w + 1, b.h + 1);
    const role = /** @type {Record<string, string>} */ ({ q: s.look.q, k: s.look.k, v: s.look.v })[column.id];
    if (role) {
      g.fillStyle = role;
      if (column.id === "q") g.fillRect(b.x - 5, b.y, 4, b.h);
      else g.fillRect(b.x, b.y - 5, b.w, 4);
    }
    if (now ?? before) this.under(column.id, now ?? before, b, Boolean(now));
    else if (states[0]) this.ahead(states[0].says, b);
  }

  /** The name of a column that comes later, in its empty frame. @param {string} name @param {Box} b */
  ahead(name, b) {
    this.write(name, b.x + b.w / 2, b.y + Math.min(b.h / 2, 22), { align: "center", colour: this.s.look.dim, most: b.w - 8 });
  }

  /** The name of a column. @param {string} id @param {State | undefined} state @param {Box} b @param {boolean} now */
  under(id, state, b, now) {
    const { s } = this, how = { size: s.layout.font - 1, colour: now ? s.look.ink : s.look.dim, weight: now ? 700 : 400 };
    if (!state) return;
    if (id === "k") this.write(state.says, b.x - 8, b.y + b.h / 2, { ...how, align: "right" });
    else if (id === "v") this.write(state.says, b.x, b.y - 15, how);
    else this.write(state.says, b.x, b.y + b.h + 13, { ...how, most: b.w + 8 });
  }

  /** Scores that get smaller: pale in the colours of before, then in colours of their own. @param {State} now @param {State} before @param {Box} b */
  rescaled(now, before, b) {
    const pale = { ...now, m: { ...now.m, id: `${now.m.id} pale`, top: before.m.top } }, turn = 0.65;
    this.picture(pale, b, this.t < turn ? this.t / turn : 1);
    if (this.t >= turn) this.picture(now, b, (this.t - turn) / (1 - turn));
  }

  /** How a state enters its column. @param {string} id @param {State} now @param {State | undefined} before @param {Box} b */
  coming(id, now, before, b) {
    const { g, t } = this, rows = b.h / b.r;
    if (this.s.t >= 1) return this.picture(now, b);
    if (now.at === "qkv" && !before) return this.tokenByToken(id, now, b);
    if (now.at === "qk") return this.cellByCell(now, b);
    if (now.at === "mask") return this.sweep(now, b);
    if (now.at === "scale" && before) return this.rescaled(now, before, b);
    if (now.at === "bias" && before) return this.byDistance(now, before, b);
    if (now.at === "units") return this.picture({ ...now, m: { ...now.m, faint: (1 - Math.round(t * 24) / 24) * now.m.top } }, b); // the most active first
    if (now.at === "mix") return this.within(b.x, b.y, b.w, Math.ceil(b.r * t) * rows, () => this.picture(now, b));
    if (now.at === "concat") return this.dock(now, b);
    if (id === "x" && this.embedding(now, b)) return;
    if (before) return this.picture(now, b, t);
    if (["s1", "s2", "n1"].includes(id)) return this.picture(now, b, t * t);
    this.within(b.x, b.y, b.w * t, b.h, () => this.picture(now, b));
    g.globalAlpha = 1;
  }

  /** q, k and v: the row of a token goes to its row of q and of v, and to its column of k; the first token slowly. @param {string} id @param {State} now @param {Box} b */
  tokenByToken(id, now, b) {
    const { g, s } = this, n = id === "k" ? b.c : b.r, slow = 0.45, went = Math.min(1, s.t / slow), i = s.t < slow ? 0 : Math.min(n - 1, 1 + Math.floor(((s.t - slow) / (1 - slow)) * (n - 1)));
    /** @param {Box} box */
    const row = (box) => ({ x: box.x, y: box.y + (box.h / n) * i, w: box.w, h: box.h / n });
    const from = s.site.stream === "cross" && id !== "q" ? null : this.box(s.site.stations.includes("norm1") ? "n1" : "x"), column = id === "k";
    const to = column ? { x: b.x + (b.w / n) * i, y: b.y, w: b.w / n, h: b.h } : row(b), done = i + (went < 1 ? 0 : 1);
    this.within(b.x, b.y, column ? (b.w / n) * done : b.w, column ? b.h : (b.h / n) * done, () => this.picture(now, b));
    g.lineWidth = 2;
    g.strokeStyle = g.fillStyle = s.look[id];
    const left = from && row(from), here = left && { x: mix(left.x, to.x, went), y: mix(left.y, to.y, went), w: mix(left.w, to.w, went), h: mix(left.h, to.h, went) };
    for (const box of left && here ? [left, here] : [to]) g.strokeRect(box.x, box.y, box.w, box.h);
    g.globalAlpha = 0.4;
    if (here) g.fillRect(here.x, here.y, here.w, here.h);
    g.globalAlpha = 1;
  }

  /** q·k: the first row cell by cell, then row by row. @param {State} now @param {Box} b */
  cellByCell(now, b) {
    const raw = this.s.t, cells = Math.min(1, raw * 2) * b.c, rows = raw < 0.5 ? 0 : 1 + (raw - 0.5) * 2 * (b.r - 1), w = b.w / b.c, h = b.h / b.r;
    this.within(b.x, b.y, Math.ceil(cells) * w, h, () => this.picture(now, b));
    if (rows >= 1) this.within(b.x, b.y, b.w, Math.ceil(rows) * h, () => this.picture(now, b));
    const i = raw < 0.5 ? 0 : Math.min(b.r - 1, Math.floor(rows)), j = Math.min(b.c - 1, Math.floor(cells));
    const q = this.box("q"), k = this.box("k"), { g } = this;
    g.strokeStyle = this.s.look.hold;
    g.lineWidth = 2;
    if (q) g.strokeRect(q.x, b.y + i * h, q.w, h);
    if (k && raw < 0.5) g.strokeRect(b.x + j * w, k.y, w, k.h);
    g.strokeRect(b.x + (raw < 0.5 ? j * w : 0), b.y + i * h, raw < 0.5 ? w : b.w, h);
  }

  /** A bias slides in by distance: from the diagonal outwards. @param {State} now @param {State} before @param {Box} b */
  byDistance(now, before, b) {
    const { g, t } = this, w = b.w / b.c, h = b.h / b.r, far = Math.ceil(t * Math.max(b.r, b.c));
    this.picture(before, b);
    g.save();
    g.beginPath();
    g.rect(b.x, b.y, b.w, b.h);
    g.clip();
    g.beginPath();
    for (let i = 0; i < b.r; i++) g.rect(b.x + (i + b.c - b.r - far) * w, b.y + i * h, (2 * far + 1) * w, h);
    g.clip();
    this.picture(now, b);
    g.restore();
  }

  /** The mask comes from the corner. @param {State} now @param {Box} b */
  sweep(now, b) {
    const { g, t } = this, far = t + t * t; // the diagonal, where a causal mask ends, comes late
    g.save();
    g.beginPath();
    g.moveTo(b.x + b.w, b.y);
    g.lineTo(b.x + b.w - far * b.w, b.y);
    g.lineTo(b.x + b.w, b.y + far * b.h);
    g.clip();
    this.picture(now, b);
    g.restore();
  }

  /** The strips of the heads dock side by side. @param {State} now @param {Box} b */
  dock(now, b) {
    const { s, t } = this, w = b.w / s.site.heads;
    for (let h = 0; h < s.site.heads; h++) {
      const away = (1 - t) * (h - s.head) * 10;
      this.within(b.x + h * w, b.y, w, b.h, () => this.picture(now, b, Math.min(1, t * 1.5), b.x + away, b.y));
    }
  }

  /** Token, position and segment strips slide in and add up. @param {State} now @param {Box} b */
  embedding(now, b) {
    const parts = Object.entries(this.s.site.embedded ?? {}), { s, t } = this;
    if (!parts.length) return false;
    parts.forEach(([name, arr], at) => {
      const m = { id: `${s.site.stream} ${s.site.layer} ${name}`, a: arr.a, r: arr.s[0], c: arr.s[1], top: now.m.top };
      const state = { at: "x", m, says: name }, away = (1 - t) * (at - (parts.length - 1) / 2) * 26;
      this.picture(state, b, at ? 0.55 * (1 - t) : 1 - t, b.x + away * 0.4, b.y + away);
    });
    this.picture(now, b, t);
    return true;
  }

  /** What moves between columns: ghosts of x, and the values along their weights. */
  moving() {
    const { s, t } = this, at = s.site.stations[s.step];
    if (s.t < 1) {
      if (at === "add1") this.ghost("x", "s1");
      if (at === "add2") this.ghost("s1", "s2");
      if (at === "up") this.ghost("s2", "x");
    }
    if (at === "mix") this.strands(s.t < 1 ? t : 1);
    if (at === "softmax" && s.t < 1) this.rowSums(t);
  }

  /** A copy of one column glides to another. @param {string} from @param {string} to */
  ghost(from, to) {
    const { s, t } = this, a = this.box(from), b = this.box(to), column = s.columns.find((/** @type {Column} */ c) => c.id === from);
    const state = stateAt(column, s.site, s.step);
    if (!a || !b || !state) return;
    const here = { ...a, w: mix(a.w, b.w, t), h: mix(a.h, b.h, t) };
    this.picture(state, here, 0.75 * (1 - t * 0.7), mix(a.x, b.x, t), mix(a.y, b.y, t));
  }

  /** Values rise along their weights to the held row, as thick as their share. @param {number} t */
  strands(t) {
    const { g, s } = this, v = this.box("v"), z = this.box("z"), S = this.box("S"), head = headOf(s.site, s.head), i = Math.max(0, s.cursor.row);
    if (!v || !z) return;
    const end = z.y + (z.h / z.r) * (i + 0.5);
    g.strokeStyle = s.look.v;
    for (let j = 0; j < head.m; j++) {
      const share = head.alpha[i * head.m + j], y = v.y + (v.h / v.r) * (j + 0.5);
      if (!(share > 0.02)) continue;
      const x0 = v.x + v.w + 2, x1 = z.x + z.w + 2, far = Math.min(12 + 10 * share, s.layout.wide - x1 - 2);
      g.globalAlpha = 0.75;
      g.lineWidth = Math.max(0.7, share * 9);
      g.setLineDash([2000 * t, 4000]);
      g.beginPath();
      g.moveTo(x0, y);
      g.bezierCurveTo(x0 + far, y, x1 + far, end - 20, x1, end);
      g.stroke();
    }
    g.setLineDash([]);
    g.globalAlpha = 1;
    if (S && s.t < 1) this.write("× α", z.x + z.w + 18, (v.y + v.h + z.y) / 2, { colour: s.look.v, size: s.layout.font - 1 });
  }

  /** Bars of the rows' sums shrink to one. @param {number} t */
  rowSums(t) {
    const { g, s } = this, S = this.box("S"), head = headOf(s.site, s.head), { n, m } = head;
    if (!S || !s.site.q) return;
    const h = S.h / n, sums = [];
    for (let i = 0; i < n; i++) {
      let top = -Infinity, sum = 0;
      for (let j = 0; j < m; j++) if (head.see(i, j)) top = Math.max(top, head.biased[i * m + j]);
      for (let j = 0; j < m; j++) if (head.see(i, j)) sum += Math.exp(head.biased[i * m + j] - top);
      sums.push(sum);
    }
    const most = Math.max(...sums, 1);
    g.fillStyle = s.look.hold;
    sums.forEach((sum, i) => Number.isFinite(sum) && g.fillRect(S.x + S.w + 3, S.y + i * h + h * 0.2, mix((sum / most) * 44, (1 / most) * 44, t), h * 0.6));
    this.write(t < 0.6 ? "Σ" : "Σ = 1", S.x + S.w + 6, S.y - 10, { size: 13, colour: s.look.hold });
  }

  /** Rows that are not written yet, and the columns of their keys, are covered; the token that came last drops into its row. */
  unwritten() {
    const { g, s } = this, rows = writtenRows(s), n = s.rows.length, from = this.box("next");
    if (rows >= n && !s.grown) return;
    const own = s.site.rows === s.site.cols;
    g.fillStyle = s.look.paper;
    for (const b of s.layout.boxes) {
      if (b.id === "next") continue;
      const down = (b.h / n) * rows, right = (b.w / n) * rows;
      if (b.r === n && (b.id !== "v" || own)) g.fillRect(b.id === "v" ? b.x : 0, b.y + down + 1, b.x + b.w + 2 - (b.id === "v" ? b.x : 0), b.h - down + 1);
      if (own && (b.id === "S" || b.id === "k")) g.fillRect(b.x + right + 1, b.y, b.w - right + 1, b.h);
    }
    const b = bandsOf(s.layout.boxes)[0], last = s.rows[rows - 1];
    if (!from || !b || s.t >= 1 || s.site.stations[s.step] !== "next") return;
    const x = mix(from.x + 10, s.layout.label, this.t), y = mix(from.y + 30, b.y + (b.h / b.r) * (rows - 0.5), this.t);
    this.write(readable(last), x, y, { weight: 700, colour: s.look.hold, align: this.t > 0.5 ? "right" : "left" });
  }

  /** What is expected at the held row. */
  bars() {
    const { g, s } = this, b = this.box("next"), here = s.site.stations.indexOf("next"), row = Math.max(0, s.cursor.row);
    if (!b) return;
    const t = s.step === here ? this.t : s.step > here ? 1 : 0, big = s.layout.font > 18, high = big ? 40 : 25;
    g.strokeStyle = s.look.none;
    if (!t) {
      g.strokeRect(b.x - 0.5, b.y - 0.5, b.w + 1, b.h + 1);
      return this.ahead(s.data.prose.next.name, b);
    }
    const found = s.expected(row), room = b.w * 0.45;
    this.write(found.says, b.x, b.y + 6, { size: s.layout.font - 1, colour: s.look.dim, most: b.w });
    found.bars.slice(0, Math.max(1, Math.floor((Math.max(b.h, big ? 240 : 130) - 14) / high))).forEach((/** @type {any} */ bar, /** @type {number} */ at) => {
      const y = b.y + 18 + at * high, w = Math.max(2, bar.p * room * t);
      g.fillStyle = bar.own ? s.look.hold : s.look.bar;
      g.fillRect(b.x, y + high * 0.15, w, high * 0.6);
      this.write(`${readable(bar.text)} ${percent(bar.p)}`, b.x + w + 6, y + high * 0.46, { size: s.layout.font, most: b.w - w - 6 });
    });
  }

  /** The map of all heads. */
  heads() {
    const { g, s } = this, { layout, look } = s, field = layout.map;
    if (!field) return;
    const low = Math.max(...s.thumbs.map((/** @type {any} */ t) => t.y + t.s));
    if (low + 16 < field.y + field.h + 4 && layout.kind !== "phone") this.write("all heads: hover, click", field.x + 22, low + 12, { size: layout.font - 1, colour: look.dim });
    /** @type {number | null} */
    let labelled = null;
    for (const t of s.thumbs) {
      const site = s.data.sites[t.site], n = site.map.s[1], m = site.map.s[2], mine = t.site === s.at && t.head === s.head;
      const state = { id: `map ${t.site} ${t.head}`, a: site.map.a.subarray(t.head * n * m, (t.head + 1) * n * m), r: n, c: m, top: site.steps / site.highest, share: true };
      const strong = s.habit ? habitShare(site, t.head, s.habit) : NaN;
      g.drawImage(s.pictures.of(s.habit ? { id: `habit ${strong}`, a: [strong], r: 1, c: 1, top: 1, share: true, see: () => strong === strong } : state, look), t.x, t.y, t.s, t.s);
      g.strokeStyle = mine ? look.hold : look.none;
      g.lineWidth = mine ? 3 : 1;
      g.strokeRect(t.x - 0.5, t.y - 0.5, t.s + 1, t.s + 1);
      if (labelled !== t.site && t.x > field.x + 20 && !(t.site % Math.ceil(SMALLEST / t.s)))
        this.write(layerName(site, s.data.sites, 1), field.x, t.y + t.s / 2, { size: layout.font > 18 ? 18 : SMALLEST, colour: look.dim, most: 22 });
      labelled = t.site;
      if (t.s > 24 && !s.habit && s.cursor.row >= 0 && site.rows === s.site.rows) this.marks(t, n === s.rows.length ? n : 0, m === s.cols.length && site.cols === s.site.cols ? m : 0);
    }
  }

  /** The held row and column in a small square. @param {any} t @param {number} n @param {number} m */
  marks(t, n, m) {
    const { g, s } = this;
    g.fillStyle = s.look.hold;
    if (n) g.fillRect(t.x - 4, t.y + (t.s / n) * s.cursor.row, 3, Math.max(2, t.s / n));
    if (m && s.cursor.col >= 0) g.fillRect(t.x + (t.s / m) * s.cursor.col, t.y - 4, Math.max(2, t.s / m), 3);
  }

  /** Sixteen rows and columns around the cell that is pointed at, where cells are too small to be told apart. */
  lens() {
    const { g, s } = this, S = this.box("S"), { row, col } = s.cursor;
    const state = stateAt(s.columns.find((/** @type {Column} */ c) => c.id === "S"), s.site, s.step);
    if (!S || !state || row < 0 || col < 0) return;
    const rows = Math.min(16, S.r), cols = Math.min(16, S.c), top = Math.max(0, Math.min(S.r - rows, row - 8)), left = Math.max(0, Math.min(S.c - cols, col - 8));
    const side = Math.min(S.w, S.h) * 0.42, x = left < S.c / 2 ? S.x + S.w - side - 6 : S.x + 6, y = top < S.r / 2 ? S.y + S.h - side - 6 : S.y + 6;
    g.drawImage(s.pictures.of(s.shownAs(state.m), s.look), left, top, cols, rows, x, y, side, side);
    g.strokeStyle = s.look.hold;
    g.lineWidth = 2;
    g.strokeRect(x, y, side, side);
    g.strokeRect(x + ((col - left) * side) / cols, y + ((row - top) * side) / rows, side / cols, side / rows);
  }

  /** The frame of a held row and column through everything that belongs to it. @param {{row: number, col: number}} hold @param {number} thick */
  frameOf(hold, thick) {
    const { g, s } = this, S = this.box("S"), k = this.box("k"), v = this.box("v");
    g.strokeStyle = s.look.hold;
    g.lineWidth = s.layout.cell < 4 ? 1 : thick;
    if (hold.row >= 0)
      for (const b of bandsOf(s.layout.boxes)) {
        const mine = s.layout.boxes.filter((/** @type {Box} */ x) => x.y === b.y && x.r === b.r && x.id !== "k" && x.id !== "v" && x.id !== "next"), h = b.h / b.r;
        const right = Math.max(...mine.map((/** @type {Box} */ x) => x.x + x.w));
        g.strokeRect(b.x - 2, b.y + h * hold.row, right - b.x + 4, Math.max(h, 2));
      }
    if (hold.col < 0 || !S) return;
    const w = S.w / S.c, top = k ? k.y : S.y;
    g.strokeRect(S.x + w * hold.col, top, Math.max(w, 2), S.y + S.h - top);
    if (v && hold.col < v.r) g.strokeRect(v.x - 1, v.y + (v.h / v.r) * hold.col, v.w + 2, Math.max(2, v.h / v.r));
  }

  /** A ribbon from the foot of what the encoder made, along the space between the boards, down to keys or values.
   * @param {Box} from @param {string} id @param {string} colour @param {number} far */
  ribbon(from, id, colour, far) {
    const { g, s } = this, to = this.box(id), at = s.site.stations.indexOf("qkv"), t = s.step > at ? 1 : s.step === at ? this.t : 0;
    if (!to || !t) return;
    const side = Math.min(1, 2 * t), down = Math.max(0, 2 * t - 1), foot = from.y + from.h, end = foot + far + BELOW_NAME, x = mix(from.x, to.x, side), w = mix(from.w, to.w, side);
    g.fillStyle = colour;
    g.globalAlpha = 0.2;
    g.beginPath();
    g.moveTo(from.x, foot);
    g.bezierCurveTo(from.x, end, x, foot, x, end);
    g.lineTo(x, mix(end, to.y, down));
    g.lineTo(x + w, mix(end, to.y, down));
    g.lineTo(x + w, end);
    g.bezierCurveTo(x + w, foot, from.x + from.w, end, from.x + from.w, foot);
    g.fill();
    g.globalAlpha = 1;
  }
}

/** The first box of each band of rows. @param {Box[]} boxes */
export function bandsOf(boxes) {
  const seen = new Map();
  for (const b of boxes) if (!["k", "v", "next"].includes(b.id) && !seen.has(b.y)) seen.set(b.y, b);
  return [...seen.values()];
}

/** The column whose leaning name is under a pointer; null where there is none. @param {import("./layout.js").Layout} layout @param {number} x @param {number} y */
export function namedAt({ boxes, keys }, x, y) {
  const S = boxes.find((b) => b.id === "S"), top = boxes.find((b) => b.id === "k") ?? S, up = top ? top.y - y : -1;
  if (!S || up < 0 || up > keys || keys < 20) return null;
  const j = Math.floor(((x - up / Math.tan(LEAN) - S.x) / S.w) * S.c);
  return j >= 0 && j < S.c ? j : null;
}
