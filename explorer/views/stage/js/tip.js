// What an object says, at once: where a pointer is over it, where a finger taps it, or where arrow keys have gone to it.
import { element } from "../../live/js/element.js";

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const ASIDE = 4; // a pixel to the side is as far as so many straight on
const SAYS = "[data-says]";
let at = /** @type {string | null} */ (null); // where the pointer is

/** Objects of a picture that say something (`data-says`) say it in one line above themselves. @param {HTMLElement} frame @param {HTMLElement} picture */
export function tipsOf(frame, picture) {
  const tip = frame.appendChild(element("p", "tip"));
  tip.setAttribute("role", "status");
  /** @param {Element | null} over */
  const tell = (over) => {
    picture.querySelector("[data-read]")?.removeAttribute("data-read");
    tip.hidden = !over;
    if (over) told(tip, /** @type {HTMLElement} */ (over));
  };
  tell(null);
  follow();
  picture.addEventListener("pointerover", (event) => tell(placeOf(event) === at ? null : /** @type {Element} */ (event.target).closest(SAYS))); // what moves below a pointer is not pointed at
  for (const leave of ["pointerleave", "blur"]) picture.addEventListener(leave, () => tell(null));
  picture.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow || !picture.matches(":focus-visible")) return; // after a click the arrows lead from frame to frame
    event.preventDefault();
    event.stopPropagation();
    const next = beside([...picture.querySelectorAll(SAYS)], picture.querySelector("[data-read]"), arrow);
    tell(next);
    next?.setAttribute("data-read", "");
  });
}

/** A picture in which something can be read is a stop for the keyboard. @param {HTMLElement} picture */
export function readable(picture) {
  const reads = Boolean(picture.querySelector(SAYS));
  picture.tabIndex = reads ? 0 : -1;
  picture.setAttribute("role", "group");
  picture.setAttribute("aria-label", reads ? "Picture: arrow keys read its cells" : "Picture");
}

/** @param {PointerEvent} event */
const placeOf = ({ clientX, clientY }) => `${clientX} ${clientY}`;

/** Follow the pointer, once for all pictures. */
function follow() {
  if (at === null) for (const moves of ["pointermove", "pointerdown"]) document.addEventListener(moves, (event) => (at = placeOf(/** @type {PointerEvent} */ (event))), { passive: true });
  at ??= "";
}

/** Write what is said, and put it above its object, within the frame. @param {HTMLElement} tip @param {HTMLElement} over */
function told(tip, over) {
  tip.textContent = over.dataset.says ?? "";
  const frame = /** @type {HTMLElement} */ (tip.parentElement).getBoundingClientRect(), box = over.getBoundingClientRect(), wide = tip.offsetWidth;
  const left = Math.max(0, Math.min(frame.width - wide, box.left + box.width / 2 - frame.left - wide / 2));
  Object.assign(tip.style, { left: `${left}px`, top: `${box.top - frame.top - tip.offsetHeight - 6}px` });
}

/** The nearest object in a direction from this one, if there is one; the first where none was read yet.
 * @param {Element[]} every @param {Element | null} here @param {[number, number]} arrow */
function beside(every, here, [right, down]) {
  if (!here) return every[0] ?? null;
  const [x, y] = centre(here);
  let best = here, least = Infinity;
  for (const one of every) {
    const [across, below] = centre(one), on = (across - x) * right + (below - y) * down, aside = Math.abs((across - x) * down) + Math.abs((below - y) * right);
    if (on > 1 && on + ASIDE * aside < least) [best, least] = [one, on + ASIDE * aside];
  }
  return best;
}

/** @param {Element} one */
function centre(one) {
  const { left, top, width, height } = one.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}
