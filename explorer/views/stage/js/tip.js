// What an object says, at once, where a pointer is over it or a finger taps it.
import { element } from "../../live/js/element.js";

/** Objects of a picture that say something (`data-says`) say it in one line above themselves. @param {HTMLElement} frame @param {HTMLElement} picture */
export function tipsOf(frame, picture) {
  const tip = frame.appendChild(element("p", "tip"));
  tip.hidden = true;
  picture.addEventListener("pointerover", ({ target }) => {
    const over = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest("[data-says]"));
    tip.hidden = !over;
    if (over) tell(tip, over);
  });
  picture.addEventListener("pointerleave", () => (tip.hidden = true));
}

/** Write what is said, and put it above its object, within the frame. @param {HTMLElement} tip @param {HTMLElement} over */
function tell(tip, over) {
  tip.textContent = over.dataset.says ?? "";
  const frame = /** @type {HTMLElement} */ (tip.parentElement).getBoundingClientRect(), box = over.getBoundingClientRect(), wide = tip.offsetWidth;
  const left = Math.max(0, Math.min(frame.width - wide, box.left + box.width / 2 - frame.left - wide / 2));
  Object.assign(tip.style, { left: `${left}px`, top: `${box.top - frame.top - tip.offsetHeight - 6}px` });
}
