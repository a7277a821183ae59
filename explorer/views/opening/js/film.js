// The film's clock: it goes while the opening is in view, and stops at any touch, key or click. It never starts again by itself after that.

const TOUCHES = ["pointerdown", "keydown"];
const HANDS = [...TOUCHES, "click", "input", "wheel"]; // who did any of these is there, and the film leaves it to them to go on
const SEEN = 0.5; // of the opening, at least, for the film to go on
const STEP = 0.1; // seconds between two frames, at most: what a busy page leaves out is not skipped

export class Film {
  /** @param {HTMLElement} root @param {number} length in seconds @param {{draw: (time: number) => void, ended: (touched: boolean) => void,
   * waited: (part: number) => void}} told */
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
    this.alone = true; // no hand was there since the page opened
    this.hand = () => (this.alone = false);
    for (const kind of HANDS) addEventListener(kind, this.hand, { capture: true, passive: true });
    root.addEventListener("pointermove", ({ movementX, movementY }) => (movementX || movementY) && this.hand());
  }

  /** @param {number} [until] seconds, where it stops by itself */
  play(until = this.length) {
    if (this.playing) return;
    this.playing = true;
    if (this.time >= this.length) this.time = 0;
    for (const touch of TOUCHES) addEventListener(touch, this.touched, { capture: true });
    this.#pass((seconds) => {
      if (!this.playing) return false;
      this.time = Math.min(until, this.time + seconds);
      this.told.draw(this.time);
      if (this.time >= until) this.stop(false);
      return this.playing;
    });
  }

  /** Tell how much of a wait is over, until all of it is or a hand is there. @param {number} seconds */
  wait(seconds) {
    let passed = 0;
    this.#pass((more) => {
      passed += more;
      this.told.waited(this.alone ? Math.min(1, passed / seconds) : 0);
      return this.alone && passed < seconds;
    });
  }

  /** Frame by frame, the seconds in which the film was seen. @param {(seconds: number) => boolean} told whether there is more to come */
  #pass(told) {
    let last = performance.now();
    const frame = (/** @type {number} */ now) => {
      const seen = this.seen && document.visibilityState === "visible", seconds = Math.min(STEP, Math.max(0, (now - last) / 1000));
      last = now;
      if (told(seen ? seconds : 0)) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** @param {boolean} touched by a hand, or at its end */
  stop(touched) {
    if (touched) this.alone = false;
    if (!this.playing) return;
    this.playing = false;
    for (const touch of TOUCHES) removeEventListener(touch, this.touched, { capture: true });
    this.touching = touched;
    for (const left of ["pointerup", "pointercancel", "keyup"]) addEventListener(left, () => setTimeout(() => (this.touching = false)), { capture: true, once: true });
    this.told.ended(touched);
  }

  end() {
    this.stop(true);
    for (const kind of HANDS) removeEventListener(kind, this.hand, { capture: true });
    this.watch.disconnect();
  }
}
