// The board itself: its state and what it hears.
import { lookOf, Pictures } from "./colour.js";
import { aheadOf, columnsOf, stateAt, strangeNote, walkedOf } from "./columns.js";
import { openBuffer, seriesOf } from "./data.js";
import { forbids, headOf, numbersOf } from "./derive.js";
import { bandsOf, FONT, namedAt, Painter } from "./draw.js";
import { fade, faded } from "./fading.js";
import { beamsAt } from "./growing.js";
import { barAt, changedLines, grip, liftable, reachOf } from "./hands.js";
import { headEntry, mostOf, peekAt, tellingHead } from "./heads.js";
import { actOf, nextOf } from "./keys.js";
import { layoutOf, NARROW, thumbs, WIDE } from "./layout.js";
import { copiedLine, entryOf, expectedAt, gapLine, percent, readable } from "./ledger.js";
import { modeOf, whenTurned } from "./mode.js";
import { controlsOf, restAfter, say, skeleton, tidied, typeset } from "./parts.js";
import { fillScreen, hearRoom, heightOf, screenFilled } from "./room.js";
import { begin, show, viewOf } from "./share.js";
import { onOther, otherOf, stack } from "./stacked.js";
import { hiddenLine, inWords, pronounIn, wordLine } from "./words.js";

const KEYS = 150; // milliseconds before a choice is told to Python

/** @typedef {import("./share.js").View} View */
/** @typedef {{mode?: "light" | "dark" | null, view?: View, tell?: (view: View) => void, ask?: (what: any) => void, mask?: string,
 *   force?: boolean, replace?: boolean, silence?: (what: any) => void, still?: boolean}} Options */

/** One board in one element. */
export class Board {
  /** @param {HTMLElement} root @param {Uint8Array | import("./data.js").Data} bytes @param {Options} [options] */
  constructor(root, bytes, options = {}) {
    this.root = root;
    this.options = options;
    this.parts = skeleton(root);
    /** @type {any} */ (this.parts.frame).board = this;
    this.pictures = new Pictures();
    this.data = /** @type {import("./data.js").Data} */ (/** @type {any} */ (null));
    this.layout = /** @type {import("./layout.js").Layout} */ (/** @type {any} */ (null));
    this.made = /** @type {import("./columns.js").Column[] | null} */ (null); // the columns, once they are asked for
    this.rows = /** @type {string[]} */ ([]);
    this.cols = /** @type {string[]} */ ([]);
    this.special = { rows: /** @type {number[]} */ ([]), cols: /** @type {number[]} */ ([]) };
    this.gone = this.special;
    this.thumbs = /** @type {{site: number, head: number, x: number, y: number, s: number}[]} */ ([]);
    this.look = /** @type {import("./colour.js").Look} */ (/** @type {any} */ (null));
    this.wide = /** @type {{px: number, rows: number, cols: number, other: number} | undefined} */ (undefined);
    this.speaks = false;
    this.other = /** @type {any} */ (null); // the encoder above a decoder, or the decoder below an encoder
    this.timer = /** @type {any} */ (0);
    this.reporting = /** @type {any} */ (0);
    this.dots = 1;
    this.series = /** @type {{label: string, bytes: Uint8Array}[] | null} */ (null);
    this.moment = 0; // which trace of a series is shown
    this.playing = false;
    this.seen = true; // whether it is on the screen: it plays nowhere else
    this.fresh = false;
    this.speed = 1;
    this.words = false;
    this.faint = 0;
    this.hiding = false;
    this.habit = ""; // by what the squares of all heads are coloured; empty: by their weights
    this.peek = /** @type {{site: number, head: number} | null} */ (null); // the head whose square is pointed at
    this.presenter = false; // whether the board fills the screen
    this.room = false; // whether its page is shown to a room
    this.large = false; // type for the last row: in either case, where there is width for it
    this.asking = false;
    this.raf = 0;
    this.step = 0; // the number of the station, among those of the site
    this.t = 1; // how much of the motion to this station is done, from 0 to 1
    this.head = 0;
    this.at = 0; // the number of the site: a site is one attention of one layer
    /** @type {{row: number, col: number}[]} */
    this.held = [];
    this.cursor = { row: 0, col: -1, box: "S", i: 0, j: 0 }; // a pair of tokens; and the cell (i, j) of the column `box` that is pointed at
    this.note = ""; // why nothing came of a key
    this.undo = /** @type {(() => void)[]} */ ([]);
    /** @type {{at: number, head: number, before: Float32Array | null, row: number, col: number}[]} */
    this.changes = []; // what was edited by hand, so that it can be taken back
    this.grown = 0; // rows that are written so far; 0 shows all of them
    /** @type {{copy: HTMLCanvasElement, begin: number} | null} */
    this.fading = null;
    this.listen();
    begin(this, bytes, options.view ?? {});
  }

  /** Show another trace in the same place: as Python packed it, or as a live model computed it. @param {Uint8Array | import("./data.js").Data} bytes @param {View} [view] */
  give(bytes, view) {
    try {
      this.series = bytes instanceof Uint8Array ? seriesOf(bytes) : null;
      this.moment = this.series ? Math.min(this.moment, this.series.length - 1) : 0;
      this.data = bytes instanceof Uint8Array ? openBuffer(this.series ? this.series[this.moment].bytes : bytes) : bytes;
    } catch (error) {
      this.refuse(String(/** @type {any} */ (error).message ?? error));
      return;
    }
    this.bytes = bytes;
    this.parts.frame.dataset.state = "ready";
    this.parts.refusal.hidden = true;
    this.pictures = new Pictures();
    this.held = [];
    this.changes = [];
    this.grown = 0;
    controlsOf(this);
    this.visit(view ?? {});
  }

  /** Another moment of a series: everything else stays where it is, unless a view is given. @param {number} moment @param {View} [view] */
  during(moment, view = this.view()) {
    if (!this.series) return;
    fade(this);
    this.changes = [];
    this.moment = Math.max(0, Math.min(this.series.length - 1, moment));
    const { held } = this;
    this.data = openBuffer(this.series[this.moment].bytes);
    this.pictures = new Pictures();
    this.visit(view);
    this.held = held.filter((h) => h.row < this.rows.length && h.col < this.cols.length);
    this.draw();
  }

  /** Say why nothing is drawn. @param {string} why */
  refuse(why) {
    this.parts.frame.dataset.state = "refused";
    this.parts.refusal.hidden = false;
    this.parts.refusal.textContent = why;
  }

  /** Go to a place: another layer, head, station or cell. @param {View} view */
  visit(view) {
    const found = this.data.sites.findIndex((s) => s.stream === view.stream && s.layer === view.layer);
    this.step = 0;
    this.choose(found < 0 ? 0 : found, view.head ?? 0, false);
    const row = Math.min(view.row ?? pronounIn(this.rows), this.rows.length - 1);
    if (view.head == null) this.choose(this.at, tellingHead(this, row), false);
    const { n, m } = headOf(this.site, this.head);
    this.step = Math.max(0, this.site.stations.indexOf(view.station ?? "softmax"));
    this.fresh = !view.station; // opened full, at the weights, and played from the beginning
    this.t = 1;
    this.point(Math.min(row, n - 1), Math.min(view.col ?? this.strongest(row), m - 1));
    this.size();
  }

  /** The word with the largest weight of a row; itself, signs and special tokens only where there is nothing else. @param {number} row */
  strongest(row) {
    const { alpha, m } = headOf(this.site, this.head), itself = this.site.rows === this.site.cols ? row : -1;
    const counts = (/** @type {number} */ j) => alpha[row * m + j] + (j !== itself && !this.special.cols[j] && /\p{L}/u.test(this.cols[j]) ? 2 : 0);
    let best = 0;
    for (let j = 1; j < m; j++) if (headOf(this.site, this.head).see(row, j) && counts(j) > counts(best)) best = j;
    return best;
  }

  get site() {
    return this.data.sites[this.at];
  }

  get station() {
    return this.site.stations[this.step];
  }

  /** Another layer or head; the station stays the same where it has it. @param {number} at @param {number} head @param {boolean} [draw] */
  choose(at, head, draw = true) {
    if (draw) fade(this);
    const station = this.data.sites[this.at] ? this.station : "x";
    this.at = Math.max(0, Math.min(this.data.sites.length - 1, at));
    this.head = Math.max(0, Math.min(this.site.heads - 1, head));
    const kept = this.site.stations.indexOf(station);
    this.step = kept >= 0 ? kept : Math.max(0, this.site.stations.indexOf("softmax"));
    this.prepare();
    if (draw) {
      this.point(Math.min(this.cursor.row, this.rows.length - 1), Math.min(this.cursor.col, this.cols.length - 1));
      this.size();
      this.report();
    }
  }

  /** What is drawn for the chosen head; made once for each choice. */
  prepare() {
    const rows = this.data.tokens[this.site.rows], cols = this.data.tokens[this.site.cols];
    this.rows = rows.texts;
    this.cols = cols.texts;
    this.special = { rows: rows.special, cols: cols.special };
    this.gone = this.hiding ? this.special : { rows: rows.special.map(() => 0), cols: cols.special.map(() => 0) };
    this.made = null;
    this.speaks = this.site.stations.includes("next");
    this.other = otherOf(this);
    this.wide = undefined;
  }

  /** The columns of the chosen head. */
  get columns() {
    return (this.made ??= columnsOf(this.site, this.head, `${this.at}`));
  }

  /** A matrix as it is shown: in words, without special tokens, without what is faint. @param {any} m */
  shownAs(m) {
    const tokens = this.data.tokens, whole = m.share && this.words && m.r === this.rows.length ? inWords(m, tokens[this.site.rows].words, tokens[this.site.cols].words) : m;
    const faint = m.share && m.top === 1 ? this.faint : 0, square = m.r === this.rows.length && m.c === this.cols.length && String(m.id).match(/\s[A-Z]\d/);
    if (this.hiding && square) {
      const { rows, cols } = this.special, { see } = whole;
      return { ...whole, id: `${whole.id} hidden`, faint, see: (/** @type {number} */ i, /** @type {number} */ j) => !rows[i] && !cols[j] && (!see || see(i, j)) };
    }
    return faint ? { ...whole, faint } : whole;
  }

  /** Go to a station, with its motion. @param {number} step */
  go(step) {
    const last = this.site.stations.length - 1;
    if (step > last && this.at < this.data.sites.length - 1) return this.onward();
    if (step !== this.step + 1) fade(this); // a leap; one step on has its own motion
    this.point(this.cursor.row, this.cursor.col); // a cell of another column belongs to the station that is left
    this.step = Math.max(0, Math.min(last, step));
    this.fresh = false;
    this.t = this.cuts() ? 1 : 0;
    this.size();
    this.animate();
    this.told();
    if (!this.playing) this.report();
  }

  /** Whether motion is not wanted. */
  cuts() {
    return this.options.still || matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** The next layer, from its beginning. */
  onward() {
    this.at++;
    this.head = Math.min(this.head, this.site.heads - 1);
    this.step = 0;
    this.prepare();
    this.point(Math.min(this.cursor.row, this.rows.length - 1), Math.min(this.cursor.col, this.cols.length - 1));
    this.go(0);
  }

  /** Run the motion of this station, and the next one where it plays. @param {number} [from]  where the motion begins */
  animate(from = this.t) {
    cancelAnimationFrame(this.raf);
    this.t = this.cuts() ? 1 : from;
    const begin = performance.now(), long = this.data.prose[this.station].ms / this.speed;
    const frame = (/** @type {number} */ now) => {
      this.t = this.t >= 1 ? 1 : Math.min(1, (now - begin) / long);
      this.draw();
      if (this.t < 1) this.raf = requestAnimationFrame(frame);
      else if (this.playing) this.wait();
    };
    this.raf = requestAnimationFrame(frame);
  }

  wait() {
    const end = this.at === this.data.sites.length - 1 && this.step === this.site.stations.length - 1;
    if (end) return this.play(false);
    const on = () => (this.seen && document.visibilityState === "visible" ? this.go(nextOf(this)) : this.wait());
    this.timer = setTimeout(() => this.playing && on(), restAfter(this.data.prose[this.station]) / this.speed);
  }

  /** Play or pause. @param {boolean} on */
  play(on) {
    const end = this.at === this.data.sites.length - 1 && this.step === this.site.stations.length - 1;
    this.playing = on;
    clearTimeout(this.timer);
    if (on && end) this.choose(0, this.head);
    if (on) this.go(end || this.fresh ? 0 : this.step + 1);
    else this.report();
    this.parts.play.textContent = on ? "❚❚" : "▶";
    this.parts.play.setAttribute("aria-label", on ? "Pause" : "Play");
  }

  /** Point at a pair of tokens; a cell of another column where one is given. @param {number} row @param {number} col @param {string} [box] @param {number} [i] @param {number} [j] */
  point(row, col, box = "S", i = row, j = col) {
    this.cursor = { row, col, box, i, j };
    this.note = "";
  }

  /** Another token of the source, chosen outside of the board: a row, or a column where a target reads it. @param {number} token */
  turnTo(token) {
    const { rows, cols } = this.site, row = Math.min(token, this.rows.length - 1);
    if (rows === "source") this.point(row, this.strongest(row));
    else if (cols === "source") this.point(this.cursor.row, Math.min(token, this.cols.length - 1));
    this.size();
  }

  /** Keep a pair. @param {boolean} more  beside those that are kept already */
  hold(more) {
    const { row, col } = this.cursor, same = this.held.findIndex((h) => h.row === row && h.col === col);
    if (same >= 0) this.held.splice(same, 1);
    else this.held = more ? [...this.held, { row, col }] : [{ row, col }];
    this.draw();
    this.parts.twin(this);
    this.report();
  }

  /** Measure, lay out and draw. */
  size() {
    const { canvas, stage, frame } = this.parts, W = Math.floor(stage.clientWidth) || 0;
    if (!this.data || !W) return;
    this.large = this.presenter || (this.room && W >= 1100);
    tidied(this);
    frame.dataset.kind = W < NARROW ? "phone" : W < WIDE && !this.large ? "bands" : "wide";
    const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), px = this.large ? 24 : 14;
    if (this.wide?.px !== px) {
      g.font = `${px}px ${FONT}`;
      const widest = (/** @type {string[]} */ texts) => Math.max(...texts.slice(0, 512).map((t) => g.measureText(readable(t)).width), 8);
      this.wide = { px, rows: widest(this.rows), cols: widest(this.cols), other: this.other ? widest(this.other.rows) : 0 };
    }
    const [plain, bare] = ["--plain", "--bare"].map((name) => Boolean(getComputedStyle(canvas).getPropertyValue(name)));
    const ahead = aheadOf(this.columns, this.site, this.step), columns = plain ? walkedOf(this.columns, ahead, bare) : this.columns; // the tour shows what its step is about
    const ask = { ahead, W, H: heightOf(this), presenter: this.large, n: this.rows.length, m: this.cols.length, d: this.site.q?.s[2] ?? 0,
      station: this.station, rowLabel: this.wide.rows, colLabel: this.wide.cols, columns, speaks: this.speaks && !plain, reserves: !plain && this.data.sites.some((s) => s.stream === this.site.stream && s.stations.includes("next")), stacked: Boolean(this.other) };
    this.layout = { ...layoutOf(ask), ...(plain && { map: null }) };
    stack(this, ask);
    this.thumbs = this.layout.map ? thumbs(this.data.sites, this.layout.map) : [];
    const dots = Math.min(3, devicePixelRatio || 1), high = Math.ceil(this.layout.high);
    if (canvas.width !== Math.round(W * dots) || canvas.height !== Math.round(high * dots)) {
      canvas.width = Math.round(W * dots);
      canvas.height = Math.round(high * dots);
      canvas.style.height = `${high}px`;
    }
    this.dots = dots;
    this.draw();
    this.told();
  }

  /** One frame. */
  draw() {
    if (!this.layout || this.parts.frame.dataset.state === "refused") return;
    const mode = modeOf(this.options.mode), g = /** @type {CanvasRenderingContext2D} */ (this.parts.canvas.getContext("2d"));
    if (this.look?.name !== mode) {
      this.look = lookOf(mode);
      this.parts.frame.dataset.mode = mode;
      for (const sign of /** @type {const} */ (["above", "below"])) this.parts.frame.style.setProperty(`--${sign}`, this.look[sign]);
    }
    g.setTransform(this.dots ?? 1, 0, 0, this.dots ?? 1, 0, 0);
    new Painter(g, this).frame();
    if (this.fading) faded(this, g);
    this.ledger();
  }

  /** The entry for the cell that is pointed at. */
  ledger() {
    const { site, station, cursor } = this, last = station === "next" && cursor.box === "S" ? this.expected(cursor.row) : null;
    const peek = this.peek && this.data.sites[this.peek.site], { frame } = this.parts;
    const entry = peek ? headEntry(peek, /** @type {any} */ (this.peek).head, `${peek.stream} layer ${peek.layer}, head ${/** @type {any} */ (this.peek).head}`, peek === site && /** @type {any} */ (this.peek).head === this.head) : last ? { title: last.says, lines: [last.bars.slice(0, 4).map((b) => `${readable(b.text)} ${percent(b.p)}`).join(" · "), ...copiedLine(this, last.bars), ...beamsAt(this)] }
      : entryOf(site, this.head, station, cursor, this.rows, this.cols), box = this.parts.ledger, place = this.layout?.ledger;
    const held = this.held.slice(0, 3).map((h) => `${readable(this.rows[h.row] ?? "")} → ${readable(this.cols[h.col] ?? "")}`);
    say(this.parts.pair, entry.title);
    say(this.parts.operands, [...(!peek && liftable(this) ? changedLines(this) : []), ...entry.lines, ...(peek ? [] : [...wordLine(this), ...hiddenLine(this)])].join("\n"));
    this.parts.weigh(this);
    if (peek || (["x", "q", "k"].includes(cursor.box) && !this.changes.length)) this.parts.weight.hidden = true; // no weight is read there, and none to be taken back
    say(this.parts.holds, this.note || (held.length ? `held: ${held.join(" · ")}${this.held.length > 3 ? " …" : ""} (${frame.dataset.kind === "phone" ? "tap it again to release it" : "Esc releases"})` : ""));
    box.style.cssText = place ? `left:${place.x}px;top:${place.y}px;width:${place.w}px;max-height:${place.h}px` : "";
    box.classList.toggle("tall", Boolean(place?.tall));
    box.tabIndex = place && box.scrollHeight > place.h ? 0 : -1; // what is longer than its place is scrolled with the keyboard, too
  }

  /** The words around the picture. */
  told() {
    const { site, station } = this, said = this.data.prose[site.stream === "cross" && station === "qkv" ? "crossed" : station === "mask" && !forbids(headOf(site, this.head)) ? "unmasked" : station], d = site.q?.s[2] ?? 0, layer = `${site.stream} layer ${site.layer}, head ${this.head}`;
    const group = site.k && site.k.s[0] < site.heads ? `, keys and values shared with its group (${headOf(site, this.head).group})` : "";
    say(this.parts.title, said.title);
    say(this.parts.where, `${this.data.model} · ${layer}${group}`);
    say(this.parts.says, said.says.replaceAll("{d}", String(d)));
    this.parts.canvas.setAttribute("aria-label", `${said.title}: the matrices of ${layer}. Arrow keys step and choose; question mark lists the keys.`);
    typeset(this.parts.formula, said.formula);
    say(this.parts.numpy, said.numpy);
    said.concludes.split(" You may not conclude ").forEach((text, at) => say(this.parts.concludes[at], text[0].toUpperCase() + text.slice(1)));
    say(this.parts.gap, [reachOf(this), gapLine(this.data, site, this.head), strangeNote(this.columns), ...this.data.notes.map(sentence)].filter(Boolean).join(" "));
    this.parts.mark(this);
    this.parts.time(this);
    this.parts.twin(this);
  }

  /** What is expected at a row. @param {number} row */
  expected(row) {
    return expectedAt(this.data, row, readable(this.rows[row] ?? ""));
  }

  /** Tell Python where this is, a moment later. */
  report() {
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => this.options.tell?.(this.view()), KEYS);
  }

  /** @returns {View} */
  view() {
    return viewOf(this);
  }

  /** The numbers derived here, for whoever checks them. @param {number} at @param {number} h */
  numbers(at, h) {
    return numbersOf(this.data.sites[at], h);
  }

  /** Where a pointer is. @param {number} x @param {number} y @returns {any} */
  under(x, y) {
    const thumb = this.thumbs.find((t) => x >= t.x && x < t.x + t.s && y >= t.y && y < t.y + t.s);
    if (thumb) return { thumb };
    if (onOther(this, y)) return { other: true };
    for (const b of this.layout.boxes)
      if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h) return { box: b, i: Math.floor(((y - b.y) / b.h) * b.r), j: Math.floor(((x - b.x) / b.w) * b.c) };
    const named = namedAt(this.layout, x, y);
    if (named != null) return { named };
    for (const b of bandsOf(this.layout.boxes))
      if (x < b.x && x >= 0 && y >= b.y && y < b.y + b.h) return { token: Math.floor(((y - b.y) / b.h) * b.r) };
    return null;
  }

  /** Follow a pointer. @param {number} x @param {number} y */
  hover(x, y) {
    const found = this.under(x, y), { row, col } = this.cursor;
    const chooses = found?.thumb || found?.other || found?.token != null || found?.named != null || barAt(this, found, y);
    this.parts.canvas.style.cursor = chooses ? "pointer" : found?.box?.id === "S" && liftable(this, found.i, found.j) ? "ns-resize" : "default";
    if (peekAt(this, found) && (!found || found.thumb)) this.ledger();
    if (!found || found.thumb || found.other) return false;
    if (found.token != null) this.point(found.token, col);
    else if (found.named != null) this.point(row, found.named);
    else if (found.box.id === "S") this.point(found.i, found.j);
    else if (found.box.id === "k") this.point(row, found.j, "k", found.i, found.j);
    else if (found.box.id === "v") this.point(row, found.i, "v", found.i, found.j);
    else if (found.box.id !== "next") this.point(found.i, col, this.columns.some((c) => c.id === found.box.id) ? found.box.id : "S", found.i, this.featureAt(found));
    this.draw();
    return true;
  }

  /** The dimension under a pointer: states of one column differ in width. @param {any} found */
  featureAt(found) {
    const column = this.columns.find((c) => c.id === found.box.id), state = stateAt(column, this.site, this.step) ?? column?.states[0];
    return Math.floor(((found.j + 0.5) / found.box.c) * (state?.m.c ?? found.box.c));
  }

  /** Everything that it hears. */
  listen() {
    const { canvas, stage, frame } = this.parts;
    const spot = (/** @type {PointerEvent | MouseEvent} */ e) => {
      const r = canvas.getBoundingClientRect(), scale = r.width / canvas.offsetWidth || 1; // shown to a room it may be smaller
      return /** @type {[number, number]} */ ([(e.clientX - r.left) / scale, (e.clientY - r.top) / scale]);
    };
    /** @type {[number, number] | null} */
    let down = null;
    /** @type {((y: number) => boolean) | null} */
    let pull = null, pulled = false, from = 0;
    canvas.addEventListener("pointermove", (e) => {
      if (pull && down && e.buttons) pulled = pull(down[1] + e.clientY - from) || pulled; // what is said above may grow by a line meanwhile
      else if (this.layout && !this.held.length && e.pointerType !== "touch") this.hover(...spot(e));
    });
    canvas.addEventListener("pointerdown", (e) => {
      if (this.playing) this.play(false);
      down = spot(e);
      from = e.clientY;
      pulled = false;
      pull = e.pointerType === "touch" || e.button ? null : grip(this, this.under(...down), down[1]);
      if (pull) canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointerup", (e) => {
      const [x, y] = spot(e), far = down ? x - down[0] : 0;
      pull = null;
      if (pulled) return this.told();
      if (e.pointerType === "touch" && Math.abs(far) > 40) this.go(this.step + (far < 0 ? 1 : -1));
      else if (down && Math.hypot(x - down[0], y - down[1]) < 12) this.click(x, y, e.shiftKey);
      down = null;
    });
    canvas.addEventListener("pointerleave", () => peekAt(this, null) && this.ledger());
    frame.addEventListener("keydown", (e) => this.key(e));
    const watch = new ResizeObserver(() => this.size()), looks = new IntersectionObserver(([entry]) => (this.seen = entry.isIntersecting));
    watch.observe(stage);
    looks.observe(stage);
    document.addEventListener("fullscreenchange", () => screenFilled(this));
    this.undo.push(() => watch.disconnect(), () => looks.disconnect(), hearRoom(this), whenTurned(() => this.draw()));
  }

  /** @param {number} x @param {number} y @param {boolean} more */
  click(x, y, more) {
    const found = this.under(x, y);
    this.parts.canvas.focus({ preventScroll: true });
    this.parts.stage.querySelector(".menu")?.remove();
    this.peek = null;
    if (found?.thumb) return this.choose(found.thumb.site, found.thumb.head);
    if (found?.other) return this.choose(this.other.at, this.other.head);
    const bar = barAt(this, found, y);
    if (bar) return this.options.ask?.({ what: "force", row: this.cursor.row, rank: bar.rank });
    if (found?.token != null && this.changeable(found.token)) this.parts.menu(this, found.token, x, y);
    const held = this.held;
    this.held = [];
    const hit = this.hover(x, y);
    this.held = held;
    if (hit) this.hold(more);
  }

  /** What a key does. @param {KeyboardEvent} e */
  key(e) {
    const target = /** @type {HTMLElement} */ (e.composedPath()[0]), typing = ["INPUT", "SELECT", "TEXTAREA", "SUMMARY"].includes(target.tagName);
    if (e.ctrlKey || e.metaKey || e.altKey || typing || (target.tagName === "BUTTON" && [" ", "Enter"].includes(e.key))) return;
    const act = actOf(this, e);
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
    show(this);
  }

  /** Whether a token is part of the sentence, so that it can be masked or replaced. @param {number} row */
  changeable(row) {
    const { ask, mask, replace } = this.options;
    return Boolean(ask && replace && this.site.rows === "source" && (!this.special.rows[row] || this.rows[row].trim() === mask));
  }

  /** The menu of the token that is pointed at. */
  ask() {
    const { row } = this.cursor, b = bandsOf(this.layout.boxes)[0];
    if (this.changeable(row)) return this.parts.menu(this, row, 12, b.y + (b.h / b.r) * row);
    this.note = this.options.ask ? "Only tokens of the input sentence can be masked or replaced." : "There is no model here that could run again: the app and ex.board(trace, model=model) in a notebook can mask and replace tokens.";
    this.ledger();
  }

  /** Colour the squares of all heads by what they do, and say which one does it most. @param {string} habit */
  colourBy(habit) {
    this.habit = habit;
    const most = habit ? mostOf(this.data.sites, habit) : null;
    if (most) {
      this.choose(most.site, most.head);
      this.point(this.cursor.row, this.strongest(this.cursor.row));
    }
    this.peek = most;
    this.draw();
  }

  /** @param {"words" | "hiding"} what */
  toggle(what) {
    this[what] = !this[what];
    this.prepare();
    this.size();
    this.report();
  }

  free() {
    if (this.parts.closes()) return;
    if (!this.held.length && this.presenter) return this.fullscreen();
    this.held = [];
    this.draw();
    this.parts.twin(this);
    this.report();
  }

  /** The whole screen, for the last row; once more: the page again. */
  fullscreen() {
    fillScreen(this);
  }

  /** Leave nothing behind. */
  end() {
    cancelAnimationFrame(this.raf);
    clearTimeout(this.timer);
    clearTimeout(this.reporting);
    for (const undo of this.undo) undo();
  }
}

/** A note as a sentence. @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** Put a board into an element. @param {HTMLElement} root @param {Uint8Array} bytes @param {Options} [options] */
export const mount = (root, bytes, options) => new Board(root, bytes, options);
