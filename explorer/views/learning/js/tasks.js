// Tasks whose answer is known: a text that is drawn, and what is right for it. A model that learned one gives the whole answer (exact match).

/** A random number in [0, 1). @typedef {() => number} Random */
/** @typedef {{title: string, says: string, longest: number, draw: (random: Random) => [string[], string[]]}} Task `longest`: tokens of question and answer */

/** Random numbers from a seed (mulberry32): a text is drawn in no time. @param {number} seed @returns {Random} */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number below `count`. @param {Random} random @param {number} count */
export const below = (random, count) => Math.floor(random() * count);

const LETTERS = "abcdefghij".split("");
/** @param {Random} random @param {number} count @param {string[]} [of] */
const several = (random, count, of = LETTERS) => Array.from({ length: count }, () => of[below(random, of.length)]);
const digits = (/** @type {number} */ number) => String(number).split("");

/** Brackets that are closed as they should be, or half of the time the same in any order. @param {Random} random @returns {[string[], string[]]} */
function dyck(random) {
  const row = /** @type {string[]} */ ([]), size = 12;
  for (let open = 0; row.length < size; ) {
    const left = size - row.length, opens = open === 0 || (open < left && random() < 0.5);
    row.push(opens ? "(" : ")");
    open += opens ? 1 : -1;
  }
  if (random() < 0.5) shuffle(row, random);
  let depth = 0, good = true;
  for (const sign of row) good = (depth += sign === "(" ? 1 : -1) >= 0 && good;
  return [row, [good ? "yes" : "no"]];
}

/** Another order, each as probable (Fisher and Yates). @template T @param {T[]} row @param {Random} random */
function shuffle(row, random) {
  for (let n = row.length - 1; n > 0; n--) {
    const other = below(random, n + 1);
    [row[n], row[other]] = [row[other], row[n]];
  }
  return row;
}

/** Five different numbers and a sum: the two that add up to it, and no other two do. @param {Random} random @returns {[string[], string[]]} */
function twoSum(random) {
  for (;;) {
    const numbers = shuffle(Array.from({ length: 20 }, (_, n) => n), random).slice(0, 5), sum = numbers[0] + numbers[1];
    const pairs = numbers.flatMap((a, i) => numbers.slice(i + 1).filter((b) => a + b === sum));
    if (pairs.length > 1) continue;
    const shown = shuffle([...numbers], random), answer = shown.filter((n) => n === numbers[0] || n === numbers[1]);
    return [[...shown.map(String), "sum", String(sum)], answer.map(String)];
  }
}

/** @type {Record<string, Task>} */
export const TASKS = {
  copy: { title: "Copy", says: "Eight letters, and the same again.", longest: 16, draw: (random) => {
    const row = several(random, 8);
    return [row, row];
  } },
  reverse: { title: "Reverse", says: "Eight letters, and the same in reverse order.", longest: 16, draw: (random) => {
    const row = several(random, 8);
    return [row, [...row].reverse()];
  } },
  sort: { title: "Sort", says: "Eight letters, and the same in alphabetical order.", longest: 16, draw: (random) => {
    const row = several(random, 8);
    return [row, [...row].sort()];
  } },
  addition: { title: "Addition", says: "Two two-digit numbers and their sum, the ones first, as in adding by hand.", longest: 8, draw: (random) => {
    const a = below(random, 100), b = below(random, 100), two = (/** @type {number} */ n) => digits(n).reverse().concat("0").slice(0, 2);
    return [[...two(a), "+", ...two(b)], [...digits(a + b).reverse(), "0", "0"].slice(0, 3)];
  } },
  modular: { title: "Addition modulo 23", says: "Two numbers below 23, and the remainder of their sum divided by 23.", longest: 4, draw: (random) => {
    const a = below(random, 23), b = below(random, 23);
    return [[String(a), "+", String(b)], [String((a + b) % 23)]];
  } },
  parity: { title: "Parity", says: "Eight bits, and the parity after each of them: 1 while the number of ones is odd.", longest: 16, draw: (random) => {
    const row = several(random, 8, ["0", "1"]);
    let odd = 0;
    return [row, row.map((bit) => String((odd ^= Number(bit))))];
  } },
  dyck: { title: "Brackets (Dyck)", says: "Twelve brackets: is each of them closed, in the right order?", longest: 13, draw: dyck },
  "two-sum": { title: "Two-sum", says: "Five numbers and a sum: which two of them add up to it?", longest: 9, draw: twoSum },
};
