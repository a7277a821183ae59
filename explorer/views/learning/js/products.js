// Products of matrices, where a training spends most of its time. Both are written for speed: eight sums at a time, so that each number
// that is fetched is used several times.

/** @typedef {Float32Array | Float64Array} Numbers */

/** c += a bᵀ, with a [rows, wide], b [columns, wide] and c [rows, columns]. @param {Numbers} a @param {Numbers} b @param {Numbers} c @param {number} wide */
export function addProduct(a, b, c, wide) {
  const rows = a.length / wide, columns = b.length / wide, pairs = rows - (rows % 2), fours = columns - (columns % 4);
  for (let j = 0; j < fours; j += 4) for (let i = 0; i < pairs; i += 2) addTile(a, b, c, wide, columns, i, j);
  for (let i = 0; i < rows; i++) for (let j = i < pairs ? fours : 0; j < columns; j++) c[i * columns + j] += dotted(a, i * wide, b, j * wide, wide);
}

/** Two rows of a with four rows of b. @param {Numbers} a @param {Numbers} b @param {Numbers} c @param {number} wide @param {number} columns @param {number} i @param {number} j */
function addTile(a, b, c, wide, columns, i, j) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
  const a0 = i * wide, a1 = a0 + wide, b0 = j * wide, b1 = b0 + wide, b2 = b1 + wide, b3 = b2 + wide;
  for (let p = 0; p < wide; p++) {
    const u = a[a0 + p], v = a[a1 + p], w0 = b[b0 + p], w1 = b[b1 + p], w2 = b[b2 + p], w3 = b[b3 + p];
    s0 += u * w0;
    s1 += u * w1;
    s2 += u * w2;
    s3 += u * w3;
    t0 += v * w0;
    t1 += v * w1;
    t2 += v * w2;
    t3 += v * w3;
  }
  const first = i * columns + j, second = first + columns;
  c[first] += s0;
  c[first + 1] += s1;
  c[first + 2] += s2;
  c[first + 3] += s3;
  c[second] += t0;
  c[second + 1] += t1;
  c[second + 2] += t2;
  c[second + 3] += t3;
}

/** a · b of `wide` numbers from two places. @param {Numbers} a @param {number} from @param {Numbers} b @param {number} to @param {number} wide */
export function dotted(a, from, b, to, wide) {
  let sum = 0;
  for (let p = 0; p < wide; p++) sum += a[from + p] * b[to + p];
  return sum;
}

/** y += by · x of `wide` numbers from two places. @param {Numbers} y @param {number} to @param {number} by @param {Numbers} x @param {number} from @param {number} wide */
export function addScaled(y, to, by, x, from, wide) {
  for (let p = 0; p < wide; p++) y[to + p] += by * x[from + p];
}

/** [rows, wide] as [wide, rows]. @template {Numbers} T @param {T} x @param {number} wide @returns {T} */
export function transposed(x, wide) {
  const rows = x.length / wide, y = /** @type {T} */ (new /** @type {any} */ (x.constructor)(x.length));
  for (let i = 0; i < rows; i++) for (let p = 0; p < wide; p++) y[p * rows + i] = x[i * wide + p];
  return y;
}
