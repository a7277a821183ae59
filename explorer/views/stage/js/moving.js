// Objects that keep their identity from frame to frame: what stays moves to its new place, what is new grows out of another object, what goes fades,
// before what is new comes.

/** An object of a frame. `from` is the key of the object that it grows out of; one that `flies` comes from there as it is, without fading in;
 * one that `turns` is moved by its own style.
 * @typedef {{key: string, tag?: string, name?: string, text?: string, from?: string, flies?: boolean, turns?: boolean, style?: Record<string, string>,
 *   is?: Record<string, string | undefined>, press?: () => void, inside?: Thing[]}} Thing */
/** @typedef {{x: number, y: number, wide: number, high: number}} Spot */

export const MOVES = 450, LEAVES = 150; // milliseconds of a motion at normal speed, and until what goes is gone
const SHAPES = ["svg", "path"], EASING = "cubic-bezier(.3, .7, .3, 1)";

/** Whether motion is not wanted. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The objects inside an element. */
export class Moving {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.speed = 1;
    this.known = /** @type {Map<string, any>} */ (new Map()); // the element of each key
    this.turning = /** @type {Set<string>} */ (new Set()); // keys of what its own style moves: nobody asks where it is
    this.moves = /** @type {Animation[]} */ ([]);
    this.waits = 0; // milliseconds until what is new comes
  }

  /** Milliseconds of a motion. */
  get long() {
    return MOVES / this.speed;
  }

  /** Show these objects and no others. @param {Thing[]} things @param {() => void} [settle] what else changes before they move, such as how far a list is scrolled
   * @param {boolean} [still] whether all are at once where they belong: another size is no motion */
  show(things, settle = () => {}, still = false) {
    const before = this.#spots(), gone = new Map(this.known);
    for (const key of keysOf(things)) gone.delete(key);
    for (const move of this.moves) move.cancel(); // they go on from where they were
    this.moves = [];
    this.#join(this.root, things, gone);
    const whole = [...gone].filter(([, old]) => !gone.has(old.parentElement?.closest("[data-key]")?.dataset.key)); // the others go with what holds them
    for (const key of gone.keys()) this.known.delete(key);
    for (const [key, old] of whole) this.#leave(old, before.get(key));
    settle();
    if (still || calm()) return;
    this.waits = whole.length ? LEAVES / this.speed : 0;
    const after = this.#spots();
    for (const thing of things) this.#move(thing, before, after, { x: 0, y: 0 });
  }

  /** The element of an object. @param {string} key */
  at(key) {
    return /** @type {HTMLElement | undefined} */ (this.known.get(key));
  }

  /** Where every object is, from the corner of the root. @returns {Map<string, Spot>} */
  #spots() {
    const { left, top } = this.root.getBoundingClientRect(), zoom = /** @type {any} */ (this.root).currentCSSZoom ?? 1; // 1 where rectangles are not zoomed
    return new Map([...this.known].filter(([key]) => !this.turning.has(key)).map(([key, at]) => {
      const box = at.getBoundingClientRect();
      return [key, { x: (box.left - left) / zoom, y: (box.top - top) / zoom, wide: box.width / zoom, high: box.height / zoom }];
    }));
  }

  /** Elements for objects, in their order: those that are there are used again. @param {any} parent @param {Thing[]} things @param {Map<string, any>} gone */
  #join(parent, things, gone) {
    let last = /** @type {any} */ (null);
    for (const thing of things) {
      const { key, tag = "div" } = thing;
      if (thing.turns) this.turning.add(key);
      const at = this.known.get(key) ?? (SHAPES.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag));
      this.known.set(key, at);
      dressed(at, thing);
      let next = last ? last.nextSibling : parent.firstChild;
      while (next && gone.has(next.dataset?.key)) next = next.nextSibling; // nothing is put in again because of what goes: its motion would end
      if (at !== next) parent.insertBefore(at, next);
      last = at;
      if (thing.inside) this.#join(at, thing.inside, gone);
    }
  }

  /** Take an object away; it fades where it was. @param {any} old @param {Spot} [spot] */
  #leave(old, spot) {
    if (calm() || !spot) return old.remove();
    old.setAttribute("aria-hidden", "true");
    old.removeAttribute("data-key");
    for (const inner of [old, ...old.querySelectorAll("button")]) inner.tabIndex = -1;
    if (!SHAPES.includes(old.localName)) {
      Object.assign(old.style, { position: "absolute", left: `${spot.x}px`, top: `${spot.y}px`, width: `${spot.wide}px`, height: `${spot.high}px`, margin: "0" });
      this.root.append(old);
    }
    old.animate([{ offset: 1, opacity: 0 }], { duration: LEAVES / this.speed, fill: "forwards" }).finished.then(() => old.remove(), () => old.remove());
  }

  /** From where an object was, or from what it grows out of, to where it is. @param {Thing} thing @param {Map<string, Spot>} before @param {Map<string, Spot>} after
   * @param {{x: number, y: number}} carried how far what holds it moves it already */
  #move(thing, before, after, carried) {
    if (thing.turns) return;
    const now = /** @type {Spot} */ (after.get(thing.key)), old = before.get(thing.key), grows = thing.from === undefined ? undefined : before.get(thing.from) ?? after.get(thing.from);
    const source = old ?? grows, whole = source ? { x: source.x - now.x, y: source.y - now.y } : carried;
    const x = whole.x - carried.x, y = whole.y - carried.y, fades = !old && !thing.flies;
    if (fades || Math.abs(x) > 0.5 || Math.abs(y) > 0.5) {
      const begin = { offset: 0, transform: `translate(${x}px, ${y}px)`, ...(fades && { opacity: 0 }) };
      const delay = fades ? this.waits : 0;
      this.moves.push(this.known.get(thing.key).animate([begin], { duration: this.long - delay, delay, fill: "backwards", easing: EASING }));
    }
    for (const inner of thing.inside ?? []) this.#move(inner, before, after, whole);
  }
}

/** The keys of objects, and of those inside them. @param {Thing[]} things @returns {string[]} */
const keysOf = (things) => things.flatMap(({ key, inside = [] }) => [key, ...keysOf(inside)]);

/** What an object is called, says and looks like. @param {any} at @param {Thing} thing */
function dressed(at, { key, name = "", text, style = {}, is = {}, press, inside }) {
  at.dataset.key = key;
  at.setAttribute("class", name);
  if (text !== undefined && !inside && at.textContent !== text) at.textContent = text;
  for (const [property, value] of Object.entries(style)) at.style.setProperty(property, value);
  for (const [attribute, value] of Object.entries(is)) {
    if (value === undefined) at.removeAttribute(attribute);
    else at.setAttribute(attribute, value);
  }
  at.onclick = press ?? null;
}
