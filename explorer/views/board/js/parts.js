// What stands around the picture: buttons, words, the twin for screen readers. All of it plain DOM; texts of a model are never HTML.
import { stateAt } from "./columns.js";
import { headOf } from "./derive.js";
import { grows, lengthSaid, writeTo, writtenRows } from "./growing.js";
import { changedLines, liftable, send, setWeight, takeBack, weighing } from "./hands.js";
import { HABITS } from "./heads.js";
import { helpOf, nextOf } from "./keys.js";
import { layerName, percent, readable, short } from "./ledger.js";
import { ranked } from "./reads.js";
import { follow, later, show } from "./share.js";
import { vectored } from "./vectors.js";

const PAUSE = 500, WORD = 170; // milliseconds between two stations while it plays, at least, and for a word of its sentence
const MOST = 64, CELLS = 256; // rows of the twin, rows and columns of the table: more would make the page slow

/** @param {HTMLElement} at @param {string} tag @param {Record<string, string>} [given] @param {string} [text] @returns {any} */
function put(at, tag, given = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  at.append(made);
  return made;
}

/** Write a text where it is new: what is the same is not read out again. @param {HTMLElement} at @param {string} text */
export function say(at, text) {
  if (at.textContent !== text) at.textContent = text;
}

/** Write a formula, its indices (_) below the line and its powers (^) above it. @param {HTMLElement} at @param {string} formula */
export function typeset(at, formula) {
  if (at.dataset.formula === formula) return;
  at.dataset.formula = formula;
  at.replaceChildren();
  for (const part of formula.split(/(\^\S+|_[A-Za-z]+)/)) {
    if (part[0] === "_") put(at, "sub", { style: "font-size:.7em" }, part.slice(1));
    else if (part[0] === "^") typeset(put(at, "sup"), part.slice(1));
    else at.append(part);
  }
}

/** The empty board. @param {HTMLElement} root */
export function skeleton(root) {
  root.replaceChildren();
  /** @type {HTMLElement} */
  const frame = put(root, "div", { class: "board", role: "group", "aria-label": "The board: a forward pass, step by step", "data-state": "empty" });
  const refusal = put(frame, "p", { class: "refusal", role: "alert", hidden: "" });
  const bar = put(frame, "div", { class: "bar" }), top = put(frame, "div", { class: "top" }), told = put(top, "div", { class: "told" });
  const title = put(told, "h3", { class: "title", "aria-live": "polite" }), says = put(told, "p", { class: "says" }), side = put(top, "div", { class: "side" });
  const where = put(side, "span", { class: "where" }), choices = put(side, "div", { class: "bar choices" });
  const stage = put(frame, "div", { class: "stage" });
  /** @type {HTMLCanvasElement} */
  const canvas = put(stage, "canvas", { tabindex: "0", role: "application", "aria-roledescription": "board", "aria-label": "The matrices. Arrow keys step and choose; question mark lists the keys." });
  const time = put(frame, "label", { class: "time", hidden: "" });
  const ledger = put(stage, "div", { class: "ledger" }), weight = put(ledger, "div", { class: "weigh", hidden: "" }), reads = put(ledger, "div", { class: "reads", role: "group", hidden: "" }), vectors = put(ledger, "div", { class: "vectors", hidden: "" }), lively = put(ledger, "div", { "aria-live": "polite" });
  const pair = put(lively, "b", { class: "pair", dir: "auto" }), holds = put(lively, "span", { class: "holds" }), operands = put(lively, "pre", { class: "operands" });
  const formula = put(ledger, "span", { class: "formula" }), fold = put(ledger, "details", { class: "numpy" });
  put(fold, "summary", {}, "In NumPy");
  const numpy = put(fold, "code");
  const foot = put(frame, "div", { class: "foot" }), gap = put(foot, "p", { class: "gap" }), legend = put(foot, "span", { class: "legend" });
  for (const [sign, text] of [["below", "below 0"], ["above", "above 0: stronger is farther from 0"]]) {
    put(legend, "i", { class: sign });
    put(legend, "span", {}, text);
  }
  const may = put(foot, "details"), not = put(foot, "details"), help = put(frame, "dialog", { class: "help", "aria-label": "Keys of the board" });
  put(may, "summary", {}, "Reading this figure");
  put(not, "summary", {}, "What this does not show");
  const concludes = [put(may, "p", {}), put(not, "p", {})], table = put(foot, "details", { class: "numbers" });
  put(table, "summary", {}, "The numbers as a table");
  const field = put(table, "div", { class: "field" }), twin = put(frame, "div", { class: "twin", role: "grid", "aria-label": "The numbers of this station" });
  return { frame, refusal, bar, choices, title, where, says, stage, canvas, ledger, pair, operands, weight, formula, numpy, holds, foot, gap, concludes, table, field,
    play: put(bar, "button", { type: "button", class: "play", "aria-label": "Play" }, "▶"),
    weigh: (/** @type {any} */ board) => { weighed(weight, board); ranked(reads, board); vectored(vectors, board); }, help: (/** @type {string[][]} */ keys) => helped(help, keys), closes: () => closed(help), grid: twin,
    time: (/** @type {any} */ board) => timed(time, board), mark: (/** @type {any} */ board) => marked(bar, choices, board), twin: (/** @type {any} */ board) => rested(twin, () => { twinned(twin, board); tabled(table, field, board); }),
    menu: (/** @type {any} */ board, /** @type {number} */ token, /** @type {number} */ x, /** @type {number} */ y) => menu(stage, board, token, x, y) };
}

/** How long a station rests while it plays: until its sentence is read. @param {{says: string, ms: number}} prose */
export function restAfter({ says, ms }) {
  return Math.max(PAUSE, WORD * says.split(" ").length - ms);
}

/** Once the hand rests: a frame is never held up. @param {any} at @param {() => void} make */
function rested(at, make) {
  clearTimeout(at.waiting);
  at.waiting = setTimeout(make, 120);
}

/** The buttons and lists above the picture. @param {any} board */
export function controlsOf(board) {
  const { bar, choices, play } = board.parts, data = board.data;
  bar.replaceChildren(play);
  choices.replaceChildren();
  play.onclick = () => {
    board.play(!board.playing);
    show(board);
  };
  const arrow = (/** @type {string} */ text, /** @type {string} */ label, /** @type {number} */ by) =>
    (put(bar, "button", { type: "button", "aria-label": label, title: label }, text).onclick = () => {
      const to = by > 0 ? nextOf(board) : board.step - 1, chip = bar.querySelectorAll(".stations button")[to];
      if (!(/** @type {HTMLElement} */ (chip)?.offsetParent === null)) board.go(to); // the tour ends where its stations end
    });
  arrow("◀", "One station back (←)", -1);
  arrow("▶|", "One station on (→)", 1);
  put(bar, "div", { class: "stations", role: "toolbar", "aria-label": "Stations" });
  const layer = put(choices, "select", { class: "layer", "aria-label": "Layer" });
  data.sites.forEach((/** @type {any} */ s, /** @type {number} */ at) => put(layer, "option", { value: String(at) }, layerName(s, data.sites)));
  layer.onchange = () => board.choose(Number(layer.value), board.head);
  const head = put(choices, "select", { class: "head", "aria-label": "Head" });
  head.onchange = () => board.choose(board.at, Number(head.value));
  const token = put(choices, "select", { class: "token", "aria-label": "Token" });
  token.onchange = () => follow(board, Number(token.value));
  const looks = put(choices, "details", { class: "looks" });
  put(looks, "summary", {}, "More");
  const inside = put(looks, "div"), by = put(inside, "select", { class: "habit", "aria-label": "Colour all heads by", title: "Colour all heads by" });
  put(by, "option", { value: "" }, "find a head");
  for (const { id, name } of HABITS) put(by, "option", { value: id }, name);
  by.value = board.habit;
  by.onchange = () => board.colourBy(by.value);
  const silence = () => board.options.silence({ what: "silence", stream: board.site.stream, layer: board.site.layer, head: board.head });
  if (board.options.silence) put(inside, "button", { type: "button", class: "silence" }, "Silence head").onclick = silence;
  const speed = put(inside, "select", { class: "speed", "aria-label": "Speed" });
  for (const [value, text] of [["0.25", "¼ ×"], ["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"]]) put(speed, "option", { value }, text);
  speed.value = String(board.speed);
  speed.onchange = () => (board.speed = Number(speed.value));
  toggles(board, inside);
  put(bar, "button", { type: "button", class: "present", "aria-label": "Present on the whole screen (P)", title: "Present on the whole screen (P)" }, "⛶").onclick = () => board.fullscreen();
  put(bar, "button", { type: "button", class: "keys", "aria-label": "The keys (?)", title: "The keys (?)" }, "?").onclick = () => board.parts.help(helpOf(board));
}

/** Shown to a room, what is chosen stands in the first line, and what is seldom pressed under *More*. @param {any} board */
export function tidied({ large, parts: { frame, bar, choices, where } }) {
  frame.classList.toggle("large", large);
  const inside = choices.querySelector(".looks > div"), beside = large ? bar : where.parentElement;
  if (!inside || choices.parentElement === beside) return;
  beside.append(choices);
  (large ? inside : bar).append(...(large ? bar : inside).querySelectorAll(":scope > :is(.present, .keys)"));
}

/** The slider of a series, or of a text as it is written. @param {HTMLElement} time @param {any} board */
function timed(time, board) {
  const growing = grows(board) && board.site.stream !== "encoder";
  time.hidden = !board.series && !growing;
  if (time.hidden) return;
  if (!time.firstChild) {
    put(time, "span");
    put(time, "input", { type: "range", step: "1" });
    put(time, "b", { dir: "auto" });
  }
  const [name, slider, now] = /** @type {any[]} */ ([...time.children]), last = growing ? board.rows.length : board.series.length - 1;
  const at = growing ? writtenRows(board) : board.moment, label = growing ? lengthSaid(board) : board.series[board.moment].label;
  slider.oninput = () => (growing ? writeTo(board, Number(slider.value)) : later(board, Number(slider.value)));
  slider.min = growing ? "1" : "0";
  slider.max = String(last);
  slider.value = String(at);
  slider.setAttribute("aria-label", growing ? "Tokens written" : "Moment of the series");
  slider.setAttribute("aria-valuetext", label);
  say(name, growing ? "written" : "moment");
  say(now, label);
}

/** The weight that is pointed at, under a slider, and the way back. @param {HTMLElement} place @param {any} board */
function weighed(place, board) {
  const open = liftable(board), many = board.changes.length;
  place.hidden = !weighing(board) && !many;
  place.style.visibility = open || many ? "" : "hidden"; // what stands below it stays where it is
  if (place.hidden) return;
  if (!place.firstChild) {
    const label = put(place, "label", {}, "α "), slider = put(label, "input", { type: "range", min: "0", max: "1", step: "0.01", "aria-label": "This weight α" });
    put(label, "span");
    slider.oninput = () => setWeight(board, Number(slider.value));
    put(place, "button", { type: "button", class: "back", title: "Undo the last edit (Z)" }, "Undo").onclick = () => takeBack(board);
    put(place, "em", {}, "click a cell to keep it");
    put(place, "button", { type: "button", class: "whole" }, "Run the model on it").onclick = () => send(board);
  }
  const [label, back, hint, whole] = /** @type {any[]} */ ([...place.children]), slider = label.querySelector("input");
  const head = headOf(board.site, board.head), value = open ? head.alpha[board.cursor.row * head.m + board.cursor.col] : 0;
  label.hidden = !open;
  hint.hidden = !open || board.held.length + many > 0;
  slider.value = String(value);
  say(label.querySelector("span"), value.toFixed(2));
  back.hidden = !many;
  whole.hidden = !board.options.ask || !changedLines(board).length;
}

/** @param {any} board @param {HTMLElement} bar */
function toggles(board, bar) {
  const toggle = (/** @type {"words" | "hiding"} */ what, /** @type {string} */ text, /** @type {string} */ label) => {
    const made = put(bar, "button", { type: "button", class: `toggle ${what}`, "aria-pressed": String(board[what]), title: label }, text);
    made.onclick = () => board.toggle(what);
  };
  toggle("words", "words", "Weights between words instead of tokens (W)");
  toggle("hiding", "no specials", "Hide special tokens; their weights stay what they are (H)");
  const label = put(bar, "label", { class: "faint", title: "Hide weights below this" }, "show α ≥ "), faint = put(label, "input", { type: "range", min: "0", max: "0.5", step: "0.01", "aria-label": "Hide weights below" });
  const value = put(label, "span", {}, board.faint.toFixed(2));
  faint.value = String(board.faint);
  faint.oninput = () => {
    board.faint = Number(faint.value);
    value.textContent = board.faint.toFixed(2);
    board.draw();
    board.report();
  };
}

/** The sub-layer that a station belongs to; empty before and after both. @param {string} station @param {string} stream */
function sublayerOf(station, stream) {
  if (["norm2", "beside2", "units", "narrow", "inner2", "add2", "post2"].includes(station)) return "Feed-forward";
  return ["x", "up", "next"].includes(station) ? "" : stream === "cross" ? "Cross-attention" : "Attention";
}

/** Show in the bars where the board is. @param {HTMLElement} bar @param {HTMLElement} choices @param {any} board */
function marked(bar, choices, board) {
  const stations = /** @type {HTMLElement} */ (bar.querySelector(".stations")), names = board.site.stations.map((/** @type {string} */ id) => board.data.prose[id].name);
  if (stations.dataset.names !== names.join("|")) {
    stations.dataset.names = names.join("|");
    stations.replaceChildren();
    let group = "";
    names.forEach((/** @type {string} */ name, /** @type {number} */ at) => {
      const id = board.site.stations[at], named = sublayerOf(id, board.site.stream);
      if (named !== group) put(stations, "span", { class: "group" }, (group = named));
      const chip = put(stations, "button", { type: "button", "data-station": id, title: board.data.prose[id].title });
      typeset(chip, name);
      chip.onclick = () => board.go(at);
    });
  }
  const chips = /** @type {HTMLElement[]} */ ([...stations.querySelectorAll("button")]);
  const focused = chips.includes(/** @type {any} */ (stations.getRootNode()).activeElement);
  chips.forEach((chip, at) => {
    chip.tabIndex = at === board.step ? 0 : -1; // one stop of the tab key; arrows go on from it
    chip.classList.toggle("past", at < board.step);
    chip.toggleAttribute("data-idle", at > 0 && nextOf({ site: board.site, head: board.head, step: at - 1 }) > at); // passed over
    if (at === board.step) chip.setAttribute("aria-current", "step");
    else chip.removeAttribute("aria-current");
  });
  const now = chips[board.step];
  if (focused) now?.focus({ preventScroll: true });
  if (now && stations.scrollWidth > stations.clientWidth) stations.scrollLeft = now.offsetLeft - stations.offsetLeft - stations.clientWidth / 2;
  /** @type {any} */ (choices.querySelector(".layer")).value = String(board.at);
  const head = /** @type {any} */ (choices.querySelector(".head"));
  if (head.options.length !== board.site.heads) {
    head.replaceChildren();
    for (let h = 0; h < board.site.heads; h++) put(head, "option", { value: String(h) }, `head ${h}`);
  }
  head.value = String(board.head);
  const token = /** @type {any} */ (choices.querySelector(".token")), texts = board.rows.map(readable).join("\n");
  if (token.dataset.texts !== texts) {
    token.dataset.texts = texts;
    token.replaceChildren();
    texts.split("\n").forEach((/** @type {string} */ text, /** @type {number} */ row) => put(token, "option", { value: String(row), dir: "auto" }, text));
  }
  token.value = String(board.cursor.row);
  for (const what of ["words", "hiding"]) choices.querySelector(`.toggle.${what}`)?.setAttribute("aria-pressed", String(board[what]));
}

/** What is expected at every row: a column for each rank. @param {any} board @returns {Numbers} */
function expectedOf(board) {
  const { data: { top }, rows } = board, one = top.kind === "rtd", c = one ? 1 : top.p.s[1];
  const cols = Array.from({ length: c }, (_, at) => (one ? "replaced" : `rank ${at + 1}`));
  return { a: top.p.a, r: rows.length, c, rows, cols, said: (i, j) => `${one ? "" : `${readable(top.texts[i][j])} `}${percent(top.p.a[i * c + j])}` };
}

/** @typedef {{a: ArrayLike<number>, r: number, c: number, rows: string[], cols: string[], see?: any, said?: (i: number, j: number) => string}} Numbers */

/** The matrix of this station: in pairs of tokens, or in dimensions. @param {any} board @returns {Numbers} */
function matrixOf(board) {
  if (board.station === "next") return expectedOf(board);
  const { site, station, rows, cols } = board, head = headOf(site, board.head), square = { r: head.n, c: head.m, rows, cols: cols.map(readable) };
  const stages = /** @type {Record<string, any>} */ ({ qk: head.scores, scale: head.scaled, cap: head.capped, bias: head.biased, mask: head.biased });
  if (stages[station] && site.q) return { ...square, a: stages[station], see: station === "mask" ? head.see : null };
  const column = board.columns.find((/** @type {any} */ c) => c.states.some((/** @type {any} */ s) => s.at === station) && !["k", "v", "S"].includes(c.id)) ?? (station === "up" && site.blocks?.length ? board.columns.at(-1) : null);
  if (!column) return { ...square, a: head.alpha };
  const m = (column.states.find((/** @type {any} */ s) => s.at === station) ?? column.states.at(-1)).m;
  return { a: m.a, r: m.r, c: m.c, rows, cols: dimensions(m.c) };
}

/** @param {number} count */
const dimensions = (count) => Array.from({ length: count }, (_, e) => `dimension ${e}`);

/** The grid that a screen reader walks: rows around the one that is pointed at. @param {HTMLElement} twin @param {any} board */
function twinned(twin, board) {
  const { a, r, c, rows, cols, see, said } = matrixOf(board), from = r <= MOST ? 0 : Math.max(0, Math.min(r - MOST, board.cursor.row - MOST / 2)), to = Math.min(r, from + (c > MOST ? 1 : MOST));
  const begin = c > MOST ? board.cursor.row : from, end = c > MOST ? begin + 1 : to, focused = twin.contains(/** @type {any} */ (twin.getRootNode()).activeElement);
  twin.replaceChildren();
  twin.setAttribute("aria-rowcount", String(r));
  twin.setAttribute("aria-colcount", String(c));
  for (let i = begin; i < end; i++) {
    const line = put(twin, "div", { role: "row", "aria-rowindex": String(i + 1) });
    put(line, "span", { role: "rowheader", dir: "auto" }, readable(rows[i]));
    for (let j = 0; j < c; j++) {
      const here = i === board.cursor.row && j === Math.max(0, Math.min(c - 1, board.cursor.col)), value = see && !see(i, j) ? "forbidden" : said?.(i, j) ?? short(a[i * c + j]);
      const cell = put(line, "span", { role: "gridcell", tabindex: here ? "0" : "-1", "aria-colindex": String(j + 1), "aria-label": `${readable(rows[i])}, ${cols[j]}: ${value}` }, value);
      if (here && focused) cell.focus();
    }
  }
  twin.onkeydown = (e) => walked(e, board, r, c);
}

/** @param {KeyboardEvent} e @param {any} board @param {number} r @param {number} c */
function walked(e, board, r, c) {
  const by = /** @type {Record<string, number[]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[e.key];
  if (!by) return;
  e.preventDefault();
  e.stopPropagation();
  const row = Math.max(0, Math.min(r - 1, board.cursor.row + by[0])), col = Math.max(0, Math.min(c - 1, Math.max(0, board.cursor.col) + by[1]));
  board.point(row, Math.min(col, Math.max(c, board.cols.length) - 1));
  board.draw();
  board.parts.twin(board);
}

/** What the table shows: the products behind a held score, a key or value that is pointed at, else the matrix of the station. @param {any} board @returns {Numbers & {what: string}} */
function tableOf(board) {
  const { site, station, rows, cols, cursor, held } = board, head = headOf(site, board.head), { d, dv, m } = head;
  const one = held.at(-1);
  if (station === "qk" && one && site.q) {
    const q = head.q.subarray(one.row * d, (one.row + 1) * d), k = head.k.subarray(one.col * d, (one.col + 1) * d);
    const a = [...q, ...k, ...Array.from(q, (/** @type {number} */ x, /** @type {number} */ e) => x * k[e])];
    return { a, r: 3, c: d, rows: ["q", "k", "q×k"], cols: dimensions(d), what: `q of ${readable(rows[one.row])}, k of ${readable(cols[one.col])}, and their ${d} products, whose sum is the score.` };
  }
  if (["k", "v"].includes(cursor.box) && ["qkv", "turn"].includes(station)) {
    const key = cursor.box === "k", { a } = /** @type {any} */ (stateAt(board.columns.find((/** @type {any} */ c) => c.id === cursor.box), site, board.step)).m;
    return key ? { a, r: d, c: m, rows: dimensions(d), cols: cols.map(readable), what: "Keys: a column for each token." } : { a, r: m, c: dv, rows: cols, cols: dimensions(dv), what: "Values: a row for each token." };
  }
  const name = board.columns.flatMap((/** @type {any} */ c) => c.states).find((/** @type {any} */ s) => s.at === station && s.says)?.says ?? board.data.prose[station].name;
  return { ...matrixOf(board), what: `${name}: a row for each token.${station === "qk" ? " Click a cell of the picture to see its products here." : station === "qkv" ? " Click a cell of Kᵀ or V to see those here." : ""}` };
}

/** The numbers as a table, once it is unfolded. @param {HTMLDetailsElement} table @param {HTMLElement} field @param {any} board */
function tabled(table, field, board) {
  const make = () => {
    const { a, r, c, rows, cols, see, said, what } = tableOf(board), wide = Math.min(c, CELLS), high = Math.min(r, CELLS);
    field.replaceChildren();
    put(field, "p", { dir: "auto" }, what);
    if (wide < c || high < r) put(field, "p", {}, `The first ${high} of ${r} rows and ${wide} of ${c} columns.`);
    const made = put(field, "table"), head = put(made, "tr");
    put(head, "th");
    for (let j = 0; j < wide; j++) put(head, "th", { scope: "col", dir: "auto" }, cols[j]);
    for (let i = 0; i < high; i++) {
      const line = put(made, "tr");
      put(line, "th", { scope: "row", dir: "auto" }, readable(rows[i]));
      for (let j = 0; j < wide; j++) put(line, "td", {}, see && !see(i, j) ? "−∞" : said?.(i, j) ?? short(a[i * c + j]));
    }
  };
  table.ontoggle = () => table.open && make();
  if (table.open) make();
}

/** @param {HTMLDialogElement} help @param {string[][]} keys */
function helped(help, keys) {
  help.replaceChildren();
  put(help, "h4", {}, "Keys, while the board has the focus");
  const list = put(help, "dl");
  for (const [key, what] of keys) {
    put(list, "dt", {}, key);
    put(list, "dd", {}, what);
  }
  put(help, "button", { type: "button" }, "Close").onclick = () => help.close();
  help.onkeydown = (e) => e.stopPropagation();
  help.showModal();
}

/** Whether something was open that is now closed. @param {HTMLDialogElement} help */
function closed(help) {
  const open = help.open;
  if (open) help.close();
  return open;
}

/** What can be done with a token. @param {HTMLElement} stage @param {any} board @param {number} token @param {number} x @param {number} y */
function menu(stage, board, token, x, y) {
  stage.querySelector(".menu")?.remove();
  const made = put(stage, "div", { class: "menu", role: "menu", "aria-label": `Token ${readable(board.rows[token])}`, style: `left:${x}px;top:${y}px` });
  const away = () => {
    made.remove();
    board.parts.canvas.focus({ preventScroll: true });
  };
  const item = (/** @type {string} */ text, /** @type {() => any} */ make) => {
    put(made, "button", { type: "button", role: "menuitem" }, text).onclick = () => {
      const asked = make();
      away();
      if (asked) board.options.ask({ ...asked, row: token, view: { ...board.view(), row: token } });
    };
  };
  if (board.options.mask) item("Mask it", () => ({ what: "mask" }));
  const other = put(made, "input", { type: "text", "aria-label": "Another token", placeholder: "another word" });
  item("Replace it", () => (other.value ? { what: "replace", text: other.value } : null));
  made.onkeydown = (/** @type {KeyboardEvent} */ e) => {
    e.stopPropagation();
    if (e.key === "Escape") away();
  };
  other.onchange = () => other.value && made.querySelector("button:last-of-type")?.click();
  made.querySelector("button, input")?.focus();
}
