// The homes of the board: a page of its own, Streamlit and JupyterLab.
import { Board } from "./board.js";
import { headerOf } from "./data.js";
import { say } from "./parts.js";
import { showRoom } from "./room.js";

/** @typedef {import("./board.js").View} View */
/** @typedef {import("./board.js").Options} Options */

/** Put a board into an element. @param {HTMLElement} root @param {Uint8Array} bytes @param {Options} [options] */
export const mount = (root, bytes, options) => new Board(root, bytes, options);

/** In Streamlit: called again at every rerun, with the same element. @param {any} host */
function streamlit(host) {
  const parent = host.parentElement, place = parent.querySelector?.("[data-board]") ?? parent, bytes = bytesOf(host.data);
  const told = bytes.byteLength > 8 ? (headerOf(bytes).head.host ?? {}) : {};
  const tell = (/** @type {View} */ view) => host.setStateValue("view", view), send = (/** @type {any} */ what) => host.setTriggerValue("edit", what);
  const options = { mode: told.mode, tell, ask: told.asks ? send : undefined, mask: told.mask, force: told.force, replace: told.replace, silence: told.silence ? send : undefined };
  if (place.heldBoard) {
    place.heldBoard.options = options;
    if (place.heldStamp !== told.stamp) place.heldBoard.give(bytes, place.heldBoard.data ? place.heldBoard.view() : told.view);
    else place.heldBoard.draw();
  } else {
    place.heldBoard = mount(place, bytes, { ...options, view: told.view ?? undefined });
    if (told.play && !place.heldBoard.cuts()) place.heldBoard.play(true);
  }
  showRoom(place.heldBoard, Boolean(told.large));
  if (told.moment != null && told.moment !== place.heldMoment) place.heldBoard.during(told.moment, place.heldMoment == null ? (told.view ?? {}) : undefined);
  if (told.row >= 0 && place.heldTurn != null && told.turn !== place.heldTurn) place.heldBoard.turnTo(told.row);
  place.heldMoment = told.moment;
  place.heldTurn = told.turn;
  place.heldStamp = told.stamp;
  return () => {
    place.heldBoard?.end();
    place.heldBoard = null;
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
  const tell = (/** @type {View} */ view) => {
    model.set("view", view);
    model.save_changes();
  };
  const told = model.get("asks") ?? {}, send = (/** @type {any} */ what) => model.send(what);
  const board = mount(el, bytesOf(model.get("data")), { view: model.get("view"), mode: model.get("mode") || null, tell, ask: told.asks ? send : undefined,
    mask: told.mask, force: told.force, replace: told.replace, silence: told.silence ? send : undefined });
  model.on("change:data", () => board.give(bytesOf(model.get("data")), board.view()));
  model.on("msg:custom", (/** @type {any} */ said) => say(board.parts.gap, said.refused));
  return () => board.end();
}

/** One function for both hosts: Streamlit hands over a component, anywidget nothing. @param {any} [host] */
export default function (host) {
  return host?.parentElement ? streamlit(host) : { render: widget };
}
