// A text whose tokens fly to the positions at which they are read, and below each how far its state changed.

/** @typedef {{name: string, colour: string, shares: (number | null)[], says: string[]}} Change in a way to read: of each token, as a share of the largest */
/** `order` lists which token is read at each position, in the second frame; a wall is `large`, and shows both orders.
 * @typedef {{texts: string[], order: number[], changed: Change[], large: boolean}} Shuffled */

const HIGH = 32, LARGE = 56; // pixels of the largest change, on a page and on a wall
const LINE = 150; // letters that a line of a wall has room for

/** The tokens in the order of the frame; on a wall below those in their own, and from each a line to its new place.
 * @param {Shuffled} told @param {number} at @returns {import("./moving.js").Thing[]} */
export function shuffledAt({ texts, order, changed, large }, at) {
  const own = texts.map((_, n) => n), read = at ? order : own, wide = texts.map((text) => [...text].length + 2), every = sum(wide), high = large ? LARGE : HIGH;
  const chips = read.map((n) => {
    const bars = changed.map(({ colour, shares }, way) => ({ key: `bar ${n} ${way}`, tag: "i", style: { background: colour, height: `${shares[n] === null || !at ? 0 : Math.max(2, Math.round(high * shares[n]))}px` } })); // nothing has changed before they fly; a change of 0 is a line
    const below = { key: `bars ${n}`, name: "bars", inside: bars };
    return { key: `chip ${n}`, name: "chip", style: { "flex-grow": String(wide[n]) }, is: { "data-says": changed.map(({ says }) => says[n]).join("; ") }, inside: [{ key: `word ${n}`, tag: "b", text: texts[n], is: { dir: "auto" } }, ...(bars.length ? [below] : [])] };
  });
  const legend = changed.map(({ name, colour }, way) => ({ key: `entry ${way}`, tag: "span", name: "entry", inside: [{ key: `mark ${way}`, tag: "i", style: { background: colour } }, { key: `says ${way}`, tag: "span", text: name }] }));
  const below = [{ key: "chips", name: "chips", inside: chips }, { key: "legend", name: "entries", inside: legend }];
  if (!large || every > LINE) return below;
  const above = own.map((n) => ({ key: `own ${n}`, name: "chip", style: { "flex-grow": String(wide[n]) }, inside: [{ key: `own word ${n}`, tag: "b", text: texts[n], is: { dir: "auto" } }] }));
  const middle = (/** @type {number[]} */ row, /** @type {number} */ n) => (100 * (sum(row.slice(0, row.indexOf(n)).map((one) => wide[one])) + wide[n] / 2)) / every;
  const ways = own.map((n) => ({ key: `way ${n}`, tag: "path", name: "way", turns: true, is: { d: `M${middle(own, n)} 0C${middle(own, n)} 50 ${middle(read, n)} 50 ${middle(read, n)} 100`, "vector-effect": "non-scaling-stroke" } }));
  const lines = { key: "ways", tag: "svg", name: "ways", turns: true, is: { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, inside: ways };
  return [{ key: "both", name: "both", style: { "--letters": String(every) }, inside: [{ key: "own", name: "chips", inside: above }, lines, below[0]] }, below[1]];
}

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, one) => total + one, 0);
