// The arithmetic of a forward pass on plain arrays. A matrix [row, column] is one Float32Array, row after row; sums are made in doubles.
// Twins: torch.nn.functional.linear, layer_norm, rms_norm, softmax and the activations of explorer/nn/layers.py.

/** y = x Wᵀ + b for every row of x [rows, wide]; `weight` is [out, wide]. Four rows at a time, so that each weight is fetched for four products.
 * @param {Float32Array} x @param {number} wide @param {Float32Array} weight @param {Float32Array | null} bias */
export function linear(x, wide, weight, bias) {
  const rows = x.length / wide, out = weight.length / wide, y = new Float32Array(rows * out), fours = rows - (rows % 4);
  for (let o = 0; o < out; o++) {
    const to = o * wide, shift = bias ? bias[o] : 0;
    for (let row = 0; row < fours; row += 4) {
      let a = shift, b = shift, c = shift, d = shift, at = row * wide;
      for (let i = to; i < to + wide; i++, at++) {
        const w = weight[i];
        a += x[at] * w;
        b += x[at + wide] * w;
        c += x[at + 2 * wide] * w;
        d += x[at + 3 * wide] * w;
      }
      y[row * out + o] = a;
      y[(row + 1) * out + o] = b;
      y[(row + 2) * out + o] = c;
      y[(row + 3) * out + o] = d;
    }
    for (let row = fours; row < rows; row++) y[row * out + o] = shift + dot(x, row * wide, weight, to, wide);
  }
  return y;
}

/** x · w of `wide` numbers from two places. @param {Float32Array} x @param {number} from @param {Float32Array} w @param {number} to @param {number} wide */
function dot(x, from, w, to, wide) {
  let a = 0, b = 0, c = 0, d = 0, i = 0;
  for (; i + 3 < wide; i += 4) {
    a += x[from + i] * w[to + i];
    b += x[from + i + 1] * w[to + i + 1];
    c += x[from + i + 2] * w[to + i + 2];
    d += x[from + i + 3] * w[to + i + 3];
  }
  for (; i < wide; i++) a += x[from + i] * w[to + i];
  return a + b + c + d;
}

/** The sum of two arrays. @param {Float32Array} a @param {Float32Array} b */
export const plus = (a, b) => a.map((value, i) => value + b[i]);

/** An array times a number. @param {Float32Array} a @param {number} by */
export const times = (a, by) => a.map((value) => value * by);

/** Layer normalisation of every row: (x − μ) / √(σ² + ε) · γ + β; without the mean (`centred` false) it is RMSNorm.
 * @param {Float32Array} x @param {number} wide @param {{gain: Float32Array | null, shift: Float32Array | null, epsilon: number, centred: boolean}} norm */
export function normalise(x, wide, { gain, shift, epsilon, centred }) {
  const y = new Float32Array(x.length);
  for (let from = 0; from < x.length; from += wide) {
    let mean = 0, square = 0;
    if (centred) for (let i = 0; i < wide; i++) mean += x[from + i] / wide;
    for (let i = 0; i < wide; i++) square += (x[from + i] - mean) ** 2 / wide;
    const over = 1 / Math.sqrt(square + epsilon);
    for (let i = 0; i < wide; i++) y[from + i] = (x[from + i] - mean) * over * (gain ? gain[i] : 1) + (shift ? shift[i] : 0);
  }
  return y;
}

/** Each row as weights that sum to one; −∞ becomes 0. @param {Float32Array} scores @param {number} wide */
export function softmax(scores, wide) {
  const weights = new Float32Array(scores.length);
  for (let from = 0; from < scores.length; from += wide) {
    let most = -Infinity, sum = 0;
    for (let i = 0; i < wide; i++) most = Math.max(most, scores[from + i]);
    for (let i = 0; i < wide; i++) sum += Math.exp(scores[from + i] - most);
    for (let i = 0; i < wide; i++) weights[from + i] = Math.exp(scores[from + i] - most) / sum;
  }
  return weights;
}

/** The logarithm of the softmax of one row. @param {Float32Array} scores */
export function logSoftmax(scores) {
  let most = -Infinity, sum = 0;
  for (const score of scores) most = Math.max(most, score);
  for (const score of scores) sum += Math.exp(score - most);
  const log = most + Math.log(sum);
  return scores.map((score) => score - log);
}

/** The error function, to 1.2e-7 (a Chebyshev fit to erfc). @param {number} x */
function erf(x) {
  const t = 2 / (2 + Math.abs(x));
  const low = -0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))));
  const erfc = t * Math.exp(-x * x - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * low))));
  return x >= 0 ? 1 - erfc : erfc - 1;
}

export const sigmoid = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x));

/** @type {Record<string, (x: number) => number>} */
export const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  "gelu-tanh": (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x * sigmoid(x),
};

/** f′(x) of each activation, for the backward pass. @type {Record<string, (x: number) => number>} */
export const SLOPES = {
  relu: (x) => Number(x > 0),
  gelu: (x) => 0.5 * (1 + erf(x / Math.SQRT2)) + (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI),
  "gelu-tanh": (x) => {
    const tanh = Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3));
    return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);
  },
  silu: (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x))),
};

/** @type {Record<string, string>} a second product decides what passes */
export const GATED = { swiglu: "silu", geglu: "gelu-tanh" };
