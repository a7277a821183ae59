// Random numbers between 0 and 1 from a seed: the same that numpy.random.default_rng(seed).random() gives, so that a seed draws here what
// it draws in Python. SeedSequence and PCG64, as numpy/random/bit_generator.pyx and numpy/random/src/pcg64 have them.

const [A, TIMES_A, B, TIMES_B] = [0x43b0d7e5, 0x931e8875, 0x8b51f9dd, 0x58f38ded], [LEFT, RIGHT] = [0xca01f9dd, 0x4973f715];
const TIMES = 0x2360ed051fc65da44385df649fccf645n, [ALL, HALF] = [(1n << 128n) - 1n, (1n << 64n) - 1n];

/** A word of 32 bits, mixed with a constant that grows with every call. @param {number} constant @param {number} times */
function hashing(constant, times) {
  return (/** @type {number} */ value) => {
    value ^= constant;
    constant = Math.imul(constant, times);
    value = Math.imul(value, constant);
    return (value ^ (value >>> 16)) >>> 0;
  };
}

/** Eight words of 32 bits from a seed below 2³² (SeedSequence.generate_state). @param {number} seed */
function wordsOf(seed) {
  const mixed = hashing(A, TIMES_A), pool = [seed, 0, 0, 0].map(mixed);
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++)
      if (from !== to) {
        const value = (Math.imul(LEFT, pool[to]) - Math.imul(RIGHT, mixed(pool[from]))) >>> 0;
        pool[to] = (value ^ (value >>> 16)) >>> 0;
      }
  const drawn = hashing(B, TIMES_B);
  return Array.from({ length: 8 }, (_, n) => BigInt(drawn(pool[n % 4])));
}

/** A function that gives the next random number in [0, 1). @param {number} seed a whole number below 2³² */
export function randomFrom(seed) {
  const words = wordsOf(seed), pair = (/** @type {number} */ n) => (words[n + 1] << 32n) | words[n];
  const begin = (pair(0) << 64n) | pair(2), odd = ((((pair(4) << 64n) | pair(6)) << 1n) | 1n) & ALL;
  let state = ((odd + begin) * TIMES + odd) & ALL;
  return () => {
    state = (state * TIMES + odd) & ALL;
    const turn = state >> 122n, folded = (state >> 64n) ^ (state & HALF);
    return Number((((folded >> turn) | (folded << (64n - turn))) & HALF) >> 11n) / 2 ** 53;
  };
}
