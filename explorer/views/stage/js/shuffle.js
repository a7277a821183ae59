// A text whose tokens fly to the positions at which they are read, and below each how far its state changed.

/** @typedef {{name: string, colour: string, shares: (number | null)[], says: string[]}} Change in a way to read: of each token, as a share of the largest */
/** `order` lists which token is read at each position, in the second frame. @typedef {{texts: string[], order: number[], changed: Change[]}} Shuffled */

const HIGH = 32; // pixels of the largest change

/** The tokens in the order of the frame. @param {Shuffled} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function shuffledAt({ texts, order, changed }, at) {
  const read = at ? order : texts.map((_, n) => n);
  const chips = read.map((n) => {
    const bars = changed.map(({ colour, shares }, way) => ({ key: `bar ${n} ${way}`, tag: "i", style: { background: colour, height: `${Math.round(HIGH * (shares[n] ?? 0))}px` } }));
    const below = { key: `bars ${n}`, name: "bars", inside: bars };
    return { key: `chip ${n}`, name: "chip", is: { title: changed.map(({ says }) => says[n]).join("; ") }, inside: [{ key: `word ${n}`, tag: "b", text: texts[n], is: { dir: "auto" } }, ...(bars.length ? [below] : [])] };
  });
  const legend = changed.map(({ name, colour }, way) => ({ key: `entry ${way}`, tag: "span", name: "entry", inside: [{ key: `mark ${way}`, tag: "i", style: { background: colour } }, { key: `says ${way}`, tag: "span", text: name }] }));
  return [{ key: "chips", name: "chips", inside: chips }, { key: "legend", name: "entries", inside: legend }];
}
