// The homes of a board beside a page of its own: Streamlit and JupyterLab. A model that runs in the page answers there; of others, Python is asked.
import { mount } from "../../board/js/board.js";
import { headerOf } from "../../board/js/data.js";
import { say } from "../../board/js/parts.js";
import { showRoom } from "../../board/js/room.js";
import { engineAt } from "./engine.js";
import { LiveDecoder } from "./decoder.js";
import { listed, listedDecoder, LiveBoard, openLive } from "./home.js";

/** @typedef {import("../../board/js/board.js").View} View */
/** @typedef {{address: string, text: string, target: string | null, both: boolean, box: string, decoding: any}} Told what a page says
 * of a live board; `box` finds its sentence */

const LEFT = /** @type {Map<string, import("./session.js").Session>} */ (new Map()); // what a board of this name last read of a model, before its page took it away
const TYPED = 700; // milliseconds without a letter before the rest of the page follows

/** In Streamlit: called again at every rerun, with the same element. @param {any} host */
function streamlit(host) {
  const parent = host.parentElement, place = parent.querySelector?.("[data-board]") ?? parent, bytes = bytesOf(host.data);
  const told = bytes.byteLength > 8 ? (headerOf(bytes).head.host ?? {}) : {}, kind = told.live?.address ?? "recorded";
  if (place.heldKind !== kind) place.leave?.();
  place.heldKind = kind;
  if (told.live) liveIn(place, told, host);
  else recordedIn(place, told, host, bytes);
  return () => place.leave?.();
}

/** What a board tells its page, and how it is looked at. @param {any} told @param {any} host */
function optionsOf(told, host) {
  return { mode: told.mode, replace: told.replace, tell: (/** @type {View} */ view) => host.setStateValue("view", view) };
}

/** A recorded board: questions go to Python. @param {any} place @param {any} told @param {any} host @param {Uint8Array} bytes */
function recordedIn(place, told, host, bytes) {
  const send = (/** @type {any} */ what) => host.setTriggerValue("edit", what);
  const options = { ...optionsOf(told, host), ask: told.asks ? send : undefined, mask: told.mask, force: told.force, silence: told.silence ? send : undefined };
  if (place.heldBoard) {
    place.heldBoard.options = options;
    if (place.heldStamp !== told.stamp) place.heldBoard.give(bytes, place.heldBoard.data ? place.heldBoard.view() : told.view);
    else place.heldBoard.draw();
  } else {
    place.heldBoard = mount(place, bytes, { ...options, view: told.view ?? undefined });
  }
  place.heldStamp = told.stamp;
  noted(place.heldBoard, told.note);
  turned(place, place.heldBoard, told);
  place.leave = () => {
    place.heldBoard?.end();
    place.heldBoard = place.heldTurn = place.heldPuts = place.heldMoment = null;
  };
}

/** One more sentence at the foot. @param {any} board @param {string | undefined} note */
function noted(board, note) {
  if (!note || !board.data || board.data.notes.includes(note)) return;
  board.data.notes.push(note);
  board.told();
}

/** To a room, to the moment, place and row that the page says. @param {any} place @param {any} board @param {any} told */
function turned(place, board, told) {
  showRoom(board, Boolean(told.large));
  if (told.moment != null && told.moment !== place.heldMoment) board.during(told.moment, place.heldMoment == null ? (told.view ?? {}) : undefined);
  if (place.heldPuts != null && told.puts !== place.heldPuts) {
    board.held = [];
    board.visit(told.view);
  }
  if (told.row >= 0 && place.heldTurn != null && told.turn !== place.heldTurn) board.turnTo(told.row);
  place.heldMoment = told.moment;
  place.heldTurn = told.turn;
  place.heldPuts = told.puts;
}

/** A board that its model answers in the page. @param {any} place @param {any} told @param {any} host */
function liveIn(place, told, host) {
  const { live: { address, text, target, both, box, decoding } } = told, send = (/** @type {any} */ what) => host.setTriggerValue("edit", what);
  const ask = (/** @type {any} */ what) => (told.forces && what.what === "force" ? send(what) : void place.heldLive?.answer(what));
  const options = { ...optionsOf(told, host), ask, ...(told.forces && { force: true }) };
  place.heldSend = send;
  if (!place.heldLive) {
    const name = `${told.key} ${address}`, left = LEFT.get(name);
    const last = left && left.now.text === text && (both || left.now.target === target) ? left : null; // drawn anew: what hands changed stays, and can be taken back
    const rested = (/** @type {import("./session.js").State} */ now) => {
      LEFT.set(name, live.session); // the page may draw the board anew before it takes this one away
      place.heldSend({ what: "write", text: now.text, edits: now.edits, view: place.heldLive?.board?.view() });
    };
    const live = new LiveBoard(place, engineAt(address), { text, target, edits: last?.now.edits, both, decoding, view: told.view ?? undefined, mode: told.mode },
      { boxes: false, options, rested });
    const gone = listed(live);
    live.session.before.push(...(last?.before ?? []));
    place.heldLive = live;
    place.leave = () => {
      gone();
      LEFT.set(name, live.session);
      live.end();
      place.unheard?.();
      place.heldLive = place.heldTurn = place.heldPuts = place.heldBox = place.heldTold = null;
    };
    void live.ready.then((drawn) => {
      if (!drawn && !live.session.header) place.heldSend({ what: "recorded" }); // the weights did not arrive: Python answers
    });
  } else if (place.heldTold !== `${text}\n${target}`) {
    Object.assign(place.heldLive.begin, { text, target, decoding });
    heard(place.heldLive, told.live);
  }
  place.heldTold = `${text}\n${target}`;
  listen(place, box, text);
  void place.heldLive.ready.then(() => {
    const board = place.heldLive?.board;
    if (!board) return;
    Object.assign(board.options, options);
    board.draw();
    turned(place, board, told);
  });
}

/** The page's field of a sentence, while somebody has typed another one there than the page knows. @param {string} box finds it @param {string} text of the page */
function typing(box, text) {
  const field = /** @type {any} */ (box ? document.querySelector(box) : null);
  return field && document.activeElement === field && field.value !== text ? field : null;
}

/** The page has another sentence: read it, unless it is read already or somebody goes on typing. @param {LiveBoard} live @param {Told} told */
function heard(live, { text, target, box }) {
  const { wanted } = live.session;
  if (!typing(box, text) && (wanted.text !== text || wanted.target !== target)) void live.change({ text, target, edits: [] });
}

/** Read what is typed into the sentence of the page, letter by letter, and what was typed before this board was there; the page itself follows when typing
 * rests. It is heard wherever it is typed: the page may draw its box anew without a word to this one. @param {any} place @param {string} box finds it @param {string} text of the page */
function listen(place, box, text) {
  if (box === place.heldBox) return;
  place.unheard?.();
  place.heldBox = box;
  if (!box) return;
  let resting = 0;
  const typed = (/** @type {any} */ event) => {
    const at = event.target;
    if (!at.matches?.(box)) return;
    clearTimeout(resting);
    if (event.isComposing) return; // letters that are still being put together
    void place.heldLive?.type(at.value);
    resting = setTimeout(() => document.activeElement === at && at.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })), TYPED);
  };
  const kinds = ["input", "compositionend"];
  for (const kind of kinds) document.addEventListener(kind, typed);
  void Promise.resolve(place.heldLive.ready).then(() => {
    const target = place.heldBox === box && typing(box, text);
    if (target) typed({ target });
  });
  place.unheard = () => {
    clearTimeout(resting);
    for (const kind of kinds) document.removeEventListener(kind, typed);
  };
}

/** What a page of Streamlit says of a text that is written there: by the model at this address, or in these steps of Python's.
 * @typedef {import("./decoder.js").Writing & {name: string, family: string, address: string, steps: import("./decoding.js").Step[] | null, box: string, large: boolean}} Written */

const USUAL = { temperature: 1, top_k: 0, top_p: 1, seed: 0, length_penalty: 1 }; // of a strategy whose settings say nothing else

/** What is to be written, as one text. @param {{text: string, way?: string, settings?: any, fixed?: any, force?: number[]}} task */
const taskOf = ({ text, way, settings = {}, fixed = {}, force = [] }) => JSON.stringify([text, way, Object.entries({ ...USUAL, force, ...settings, ...fixed }).sort()]);

/** What answers a decoder: the steps that Python recorded, where they are of this task, else the model at its address. @param {Written} told */
function writerOf(told) {
  const { steps, address } = told, own = taskOf(told);
  let at = -1;
  return { ask(/** @type {string} */ what, /** @type {any} */ given) {
    if (what === "begin") at = steps && (!address || taskOf(given) === own) ? 0 : -1;
    if (!steps || at < 0) return engineAt(address).ask(what, given);
    return Promise.resolve(what === "begin" ? undefined : { value: steps[at++] });
  } };
}

/** In Streamlit, a text that is written. @param {any} place @param {Written} told @param {any} host */
function decoderIn(place, told, host) {
  const { name, family, address, box, large } = told, stamp = JSON.stringify([address, told.steps, taskOf(told)]);
  if (place.heldStamp !== stamp) place.heldEngine = writerOf(told);
  place.heldStamp = stamp;
  place.heldHost = host;
  const say = (/** @type {any} */ said) => place.heldHost.setTriggerValue("asked", said);
  const writing = { ...told, boxes: false, waits: !address, forced: (/** @type {number[]} */ force) => say({ force }), chosen: (/** @type {string} */ way, /** @type {any} */ settings) => say({ way, settings }) };
  if (place.heldLive) {
    place.heldLive.give(place.heldEngine, typing(box, told.text) ? { ...writing, text: place.heldLive.prompt.value } : writing);
  } else {
    place.heldLive = new LiveDecoder(place, place.heldEngine, { name, config: { family } }, writing);
    place.leave = listedDecoder(place.heldLive);
    if (address) void place.heldLive.queue.then(() => engineAt(address).header.catch(() => say({ recorded: true }))); // the weights did not arrive: Python answers
  }
  place.heldLive.frame.classList.toggle("large", large);
  listen(place, box, told.text);
  return () => {
    place.unheard?.();
    place.leave?.();
    place.heldLive = place.heldBox = place.heldStamp = null;
  };
}

/** Bytes, however a host hands them over. @param {any} held @returns {Uint8Array} */
export function bytesOf(held) {
  if (typeof held === "string") return Uint8Array.from(atob(held), (c) => c.charCodeAt(0));
  if (held instanceof DataView) return new Uint8Array(held.buffer, held.byteOffset, held.byteLength);
  return held instanceof Uint8Array ? held : new Uint8Array(held ?? 0);
}

/** In JupyterLab. @param {any} context */
function widget({ model, el }) {
  const told = model.get("asks") ?? {}, tell = (/** @type {View} */ view) => {
    model.set("view", view);
    model.save_changes();
  };
  const options = { view: model.get("view"), mode: model.get("mode") || null, tell }, live = bytesOf(model.get("live"));
  if (live.byteLength) return liveWidget(model, el, live, options);
  const send = (/** @type {any} */ what) => model.send(what);
  const board = mount(el, bytesOf(model.get("data")), { ...options, ask: told.asks ? send : undefined, mask: told.mask, force: told.force, replace: told.replace, silence: told.silence ? send : undefined });
  noted(board, told.note);
  model.on("change:data", () => {
    board.give(bytesOf(model.get("data")), board.view());
    noted(board, told.note);
  });
  model.on("msg:custom", (/** @type {any} */ said) => say(board.parts.gap, said.refused));
  return () => board.end();
}

/** In JupyterLab, of a model that runs in the page: no kernel is needed; one that is there hears what is read. @param {any} model @param {HTMLElement} el
 * @param {Uint8Array} bytes @param {any} options */
function liveWidget(model, el, bytes, { view, mode, tell }) {
  const rested = (/** @type {any} */ now) => {
    model.set("reads", now);
    model.save_changes();
  };
  const shown = openLive(el, bytes, { ...model.get("reads"), ...model.get("asks"), writes: model.get("writes"), view, mode }, { options: { tell }, rested });
  return () => void shown.then(({ end }) => end());
}

/** One function for both hosts: Streamlit hands over a component, anywidget nothing. @param {any} [host] */
export function home(host) {
  if (!host?.parentElement) return { render: widget };
  const { parentElement: parent, data } = host;
  return data?.writing ? decoderIn(parent.querySelector("[data-board]") ?? parent, data.writing, host) : streamlit(host);
}
