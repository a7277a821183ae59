// Pairs of dimensions as the hands of clocks: each position rotates them a little further, slow pairs less than fast ones.

/** `angles` [position][pair] are in radians; the title names the pair that is `chosen`. @typedef {{angles: number[][], chosen: number}} Turned */

/** @param {Turned} told @param {number} at the position @returns {import("./moving.js").Thing[]} */
export function clocksAt({ angles, chosen }, at) {
  return [{ key: "dials", name: "dials", inside: angles[at].map((angle, pair) => clockOf(angle, pair, at, pair === chosen)) }];
}

/** @param {number} angle @param {number} pair @param {number} at @param {boolean} chosen */
function clockOf(angle, pair, at, chosen) {
  const hands = [["first", 0], ["now", -angle]].map(([name, turned]) => ({ key: `${name} ${pair}`, tag: "i", name: `hand ${name}`, turns: true, style: { transform: `rotate(${turned}rad)` } }));
  const says = `pair ${pair}: position ${at} is rotated by ${((angle * 180) / Math.PI).toFixed(1)}°`;
  return { key: `clock ${pair}`, name: "clock", is: { "data-says": says, "data-chosen": chosen ? "" : undefined }, inside: [{ key: `face ${pair}`, name: "face", inside: hands }, { key: `pair ${pair}`, tag: "span", text: `pair ${pair}` }] };
}
