// The film's clock: it goes while the opening is in view, and stops at any touch, key or click. It never starts again by itself.

const TOUCHES = ["pointerdown", "keydown"];
const SEEN = 0.5; // of the opening, at least, for the film to go on
const STEP = 0.1; // seconds between two frames, at most: what a busy page leaves out is not skipped

export class Film {
  /** @param {HTMLElement} root @param {number} length in seconds @param {{draw: (time: number) => void, ended: (touched: boolean) => void}} told */
  constructor(root, length, told) {
    this.length = length;
    this.told = told;
    this.time = 0;
    this.playing = false;
    this.seen = true;
    this.touching = false; // the hand that stopped it is still there: what it presses does not start it again
    this.watch = new IntersectionObserver(([entry]) => (this.seen = entry.intersectionRatio >= SEEN), { threshold: [0, SEEN, 1] });
    this.watch.observe(root);
    this.touched = () => this.stop(true);
  }

  /** @param {number} [until] seconds, where it stops by itself */
  play(until = this.length) {
    if (this.playing) return;
    this.playing = true;
    if (this.time >= this.length) this.time = 0;
    for (const touch of TOUCHES) addEventListener(touch, this.touched, { capture: true });
    let last = performance.now();
    const frame = (/** @type {number} */ now) => {
      if (!this.playing) return;
      if (this.seen && document.visibilityState === "visible") this.time = Math.min(until, this.time + Math.min(STEP, Math.max(0, (now - last) / 1000)));
      last = now;
      this.told.draw(this.time);
      if (this.time >= until) this.stop(false);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** @param {boolean} touched by a hand, or at its end */
  stop(touched) {
    if (!this.playing) return;
    this.playing = false;
    for (const touch of TOUCHES) removeEventListener(touch, this.touched, { capture: true });
    this.touching = touched;
    for (const left of ["pointerup", "pointercancel", "keyup"]) addEventListener(left, () => setTimeout(() => (this.touching = false)), { capture: true, once: true });
    this.told.ended(touched);
  }

  end() {
    this.stop(true);
    this.watch.disconnect();
  }
}
