// A figure all of whose frames are there, and the player that leads through them; in Streamlit, as a component.
import { element } from "../../live/js/element.js";
import { modeOf } from "../../board/js/mode.js";
import { clocksAt } from "./clocks.js";
import { gridAt } from "./grid.js";
import { masksAt } from "./masks.js";
import { momentsAt } from "./moments.js";
import { Moving } from "./moving.js";
import { Player } from "./player.js";
import { shuffledAt } from "./shuffle.js";
import { stripsAt } from "./strips.js";
import { readable, tipsOf } from "./tip.js";

const HELD = 2800, SHORT = 6; // milliseconds that a frame of so short a film stands at least
const WHOLE = 20, FASTER = 3; // frames that all stand as long; and of the quick ones after them, how many pass until their pace has doubled
const WORD = 130, FEW = 12; // milliseconds for each word of a frame while it plays; a film of more frames does not wait until they are read

/** What a page says; each figure has more of its own. A frame that is the `same` as one before it is passed over while it plays;
 * the `quick` ones of a long film stand ever more briefly.
 * @typedef {{figure: string, label: string, unit: string, at: number, frames: {title: string, notes: string[], same?: boolean, quick?: boolean}[], mode: "light" | "dark", large: boolean}} Told */

/** The objects of a frame. @type {Record<string, (told: any, at: number) => import("./moving.js").Thing[]>} */
const FIGURES = { strips: stripsAt, grid: gridAt, shuffle: shuffledAt, clocks: clocksAt, moments: momentsAt, masks: masksAt };

/** All frames of a figure, and the player that leads through them. */
export class Staged {
  /** @param {HTMLElement} root @param {Told} told @param {(at: number) => void} tell what frame is shown, once it rests */
  constructor(root, told, tell) {
    this.told = told;
    this.tell = tell;
    this.at = told.at;
    this.sent = told.at;
    this.resting = /** @type {any} */ (0);
    this.frame = root.appendChild(element("section", "board staged"));
    this.frame.setAttribute("aria-label", told.label);
    this.player = new Player(this.frame, this, told.unit);
    this.player.everywhere();
    const words = this.frame.appendChild(element("div", "words"));
    this.title = words.appendChild(element("h3", "title"));
    this.notes = words.appendChild(element("p", "says"));
    words.setAttribute("aria-live", "polite");
    this.stage = new Moving(this.frame.appendChild(element("div", `moving ${told.figure}`)));
    tipsOf(this.frame, this.stage.root);
    this.give(told);
  }

  /** What the page says now; it goes to another frame where the page asks for another one than it asked for before. @param {Told} told */
  give(told) {
    const at = told.at === this.told.at || told.at === this.sent ? this.at : told.at; // what was sent comes back
    this.told = told;
    this.frame.dataset.mode = modeOf(told.mode);
    this.frame.classList.toggle("large", told.large);
    this.#draw(at);
  }

  get count() {
    return this.told.frames.length;
  }

  /** Whether there is a frame after this one. */
  get open() {
    return this.at < this.count - 1;
  }

  /** The frame in words. */
  says() {
    return this.told.frames[this.at].title;
  }

  /** How long the frame stands while it plays: where there are few, until its words are read. */
  get rest() {
    const { title, notes } = this.told.frames[this.at];
    return this.count > FEW ? 0 : Math.max(this.count > SHORT ? 0 : HELD, WORD * [title, ...notes].join(" ").split(" ").length);
  }

  /** How long this frame stands while it plays, as a share of the usual: the first ones are read; later the quick ones pass, ever faster. */
  get pace() {
    const { playing } = this.player, passed = this.at + 1 - WHOLE;
    return playing && passed > 0 && this.told.frames[this.at].quick && this.open ? FASTER / (FASTER + passed) : 1;
  }

  /** @param {number} at */
  show(at) {
    this.#draw(at);
    this.#rest();
  }

  /** The page hears of a frame once nothing plays: it draws itself anew, and would hold a film up. */
  #rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => (this.player.playing ? this.#rest() : this.tell((this.sent = this.at))), 400);
  }

  step() {
    let next = this.at + 1;
    while (this.player.playing && next < this.count - 1 && this.told.frames[next].same) next += 1;
    this.show(next);
    return new Promise((resolve) => setTimeout(resolve, this.stage.long));
  }

  finish() {
    this.show(this.count - 1);
  }

  begin() {
    this.player.play(false);
    this.show(0);
  }

  /** @param {number} at */
  #draw(at) {
    this.at = Math.max(0, Math.min(this.count - 1, at));
    const { title, notes } = this.told.frames[this.at];
    this.title.textContent = title;
    this.notes.textContent = notes.join(" · ");
    this.stage.speed = this.player.speed / this.pace;
    this.stage.root.style.setProperty("--speed", String(this.stage.speed));
    this.stage.show(FIGURES[this.told.figure](this.told, this.at));
    readable(this.stage.root);
    this.player.mark();
  }

  end() {
    this.player.end();
    clearTimeout(this.resting);
    this.frame.remove();
  }
}

/** In Streamlit: called again at every rerun, with the same element. @param {any} host */
export function staged(host) {
  const place = host.parentElement.querySelector("[data-board]"), { data } = host;
  place.heldHost = host;
  if (place.heldStage) place.heldStage.give(data);
  else place.heldStage = new Staged(place, data, (at) => place.heldHost.setTriggerValue("at", at));
  return () => {
    place.heldStage?.end();
    place.heldStage = null;
  };
}
