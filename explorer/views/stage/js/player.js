// The one player of everything that moves: back, on, play, a slider, the speed; arrow keys and space. A touch pauses it, and it plays only where it is seen.
import { element } from "../../live/js/element.js";

/** What is played, frame by frame. `open` says whether a frame comes after this one; `says` is the frame in a few words;
 * `planned` is how many there may be at most where they come one by one; `rest` is how many milliseconds this frame stands while it plays, at least,
 * and `pace` how long between two frames, as a share of the usual.
 * @typedef {{at: number, count: number, planned?: number, open: boolean, show: (at: number) => unknown, step: () => unknown, finish: () => unknown, begin: () => unknown,
 *   rest?: number, pace?: number, pick?: (by: number) => unknown, free?: () => unknown, says: () => string}} Played */

const BETWEEN = 550; // milliseconds between the end of a motion and the next frame, at normal speed
const SPEEDS = [["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"], ["4", "4 ×"]];

/** A button with a sign, which has a name in words and a key. @param {HTMLElement} place @param {string} sign @param {string} label @param {() => void} press @param {string} [name] */
export function signed(place, sign, label, press, name = "") {
  const button = place.appendChild(element("button", name, sign));
  Object.assign(button, { type: "button", title: label, onclick: press });
  if (!/\p{L}/u.test(sign)) button.setAttribute("aria-label", label);
  return button;
}

export class Player {
  /** @param {HTMLElement} frame which takes keys and touches @param {Played} played @param {string} unit what a frame adds, as in "One token on" */
  constructor(frame, played, unit) {
    this.frame = frame;
    this.played = played;
    this.playing = false;
    this.speed = 1;
    this.seen = true;
    this.timer = /** @type {any} */ (0);
    this.deaf = () => {};
    this.bar = frame.appendChild(element("div", "bar player"));
    this.bar.setAttribute("role", "group");
    this.bar.setAttribute("aria-label", "Player");
    this.button = signed(this.bar, "▶", "Play (space)", () => this.press(), "play");
    signed(this.bar, "◀", `One ${unit} back (←)`, () => this.go(-1));
    signed(this.bar, "▶|", `One ${unit} on (→)`, () => this.go(1));
    signed(this.bar, "▶▶", "To the end (End)", () => this.finish());
    this.slider = this.bar.appendChild(Object.assign(element("input", "moment"), { type: "range", min: "1", max: "1", value: "1" }));
    this.slider.setAttribute("aria-label", unit[0].toUpperCase() + unit.slice(1));
    this.slider.oninput = () => {
      this.play(false);
      played.show(Math.min(Number(this.slider.value), played.count) - 1);
    };
    this.#speeds();
    frame.addEventListener("keydown", (event) => this.#key(event));
    frame.addEventListener("pointerdown", (event) => this.bar.contains(/** @type {Node} */ (event.target)) || this.play(false));
    this.watch = new IntersectionObserver(([entry]) => (this.seen = entry.isIntersecting));
    this.watch.observe(frame);
  }

  /** Take keys from the whole page as well, while nothing on it has the focus. */
  everywhere() {
    const key = (/** @type {KeyboardEvent} */ event) => [document.body, document.documentElement].includes(/** @type {any} */ (event.target)) && this.seen && this.#key(event);
    document.addEventListener("keydown", key);
    this.deaf = () => document.removeEventListener("keydown", key);
  }

  #speeds() {
    const list = this.bar.appendChild(element("select", "speed"));
    list.setAttribute("aria-label", "Speed");
    for (const [value, text] of SPEEDS) list.append(new Option(text, value, value === "1", value === "1"));
    list.onchange = () => (this.speed = Number(list.value));
  }

  /** One frame back or on. @param {number} by */
  go(by) {
    this.play(false);
    return by < 0 ? this.played.show(this.played.at + by) : this.played.step();
  }

  finish() {
    this.play(false);
    return this.played.finish();
  }

  /** Play or rest; after the last frame, once more from the first, which is seen before the next one comes. */
  press() {
    const again = !this.playing && !this.played.open && this.played.count > 1;
    if (again) this.played.show(0);
    this.play(!this.playing, again ? BETWEEN : 0);
  }

  /** Frame after frame, or rest. @param {boolean} on @param {number} [wait] milliseconds until the first: what a hand plays moves at once */
  play(on, wait = Math.max(BETWEEN * (this.played.pace ?? 1), this.played.rest ?? 0) / this.speed) {
    clearTimeout(this.timer);
    this.playing = on && this.played.open;
    this.button.textContent = this.playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.playing ? "Pause (space)" : "Play (space)");
    if (this.playing) this.timer = setTimeout(() => this.#tick(), wait);
  }

  async #tick() {
    if (this.seen && document.visibilityState === "visible") await this.played.step();
    if (this.playing) this.play(true);
  }

  /** The frame is another one. */
  mark() {
    const { at, count, planned = 0 } = this.played;
    Object.assign(this.slider, { max: String(Math.max(1, count, planned)), value: String(at + 1) });
    this.slider.setAttribute("aria-valuetext", this.played.says());
  }

  /** Keys, except in a box that takes them itself. @param {KeyboardEvent} event */
  #key(event) {
    const at = /** @type {HTMLElement} */ (event.target), { key } = event, { played } = this;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || at.matches("input, select") || (key === " " && at.matches("button"))) return;
    /** @type {Record<string, () => unknown>} */
    const acts = {
      ArrowRight: () => this.go(1), ArrowLeft: () => this.go(-1), " ": () => this.press(), Home: () => played.begin(), End: () => this.finish(),
      ...(played.pick && { ArrowDown: () => played.pick?.(1), ArrowUp: () => played.pick?.(-1), Escape: () => played.free?.() }),
    };
    if (!(key in acts)) return;
    event.preventDefault();
    acts[key]();
  }

  end() {
    this.play(false);
    this.watch.disconnect();
    this.deaf();
  }
}
