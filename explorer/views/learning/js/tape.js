// The backward pass. Every operation is written twice: forward, and how it hands the gradient of its output on to its inputs. A tape notes
// the operations as they are done; going back over it from the loss is the chain rule.
import { ACTIVATIONS, SLOPES } from "../../live/js/maths.js";
import { addProduct, transposed } from "./products.js";

/** @typedef {import("./products.js").Numbers} Numbers */

/** The share of numbers that is left out at each step, and what draws them. @typedef {{rate: number, random: () => number}} Dropout */

/** A matrix [row, wide], row after row; after `Tape.back` also ∂loss/∂ each of its numbers, in `grad`. */
export class Tensor {
  /** @param {Numbers} data @param {number} wide */
  constructor(data, wide) {
    this.data = data;
    this.wide = wide;
    /** @type {Numbers | null} */
    this.grad = null;
  }

  /** The gradient, zero before anything was added to it. @returns {Numbers} */
  get slopes() {
    return (this.grad ??= /** @type {Numbers} */ (new /** @type {any} */ (this.data.constructor)(this.data.length)));
  }
}

export class Tape {
  /** @param {Float32ArrayConstructor | Float64ArrayConstructor} [kind] what numbers are kept as; 64 bits to check the gradients themselves */
  constructor(kind = Float32Array) {
    this.kind = kind;
    /** @type {(() => void)[]} */
    this.backwards = [];
  }

  /** A constant. @param {ArrayLike<number>} data @param {number} wide */
  constant(data, wide) {
    return new Tensor(this.kind.from(data), wide);
  }

  /** The output of an operation: `size` zeros to fill, and what hands its gradient on. @param {number} size @param {number} wide
   * @param {(slopes: Numbers) => void} backward @returns {Tensor} */
  output(size, wide, backward) {
    const y = new Tensor(new this.kind(size), wide);
    this.backwards.push(() => y.grad && backward(y.grad));
    return y;
  }

  /** Every gradient, from the loss back to the weights. @param {Tensor} loss */
  back(loss) {
    loss.slopes[0] = 1;
    while (this.backwards.length) /** @type {() => void} */ (this.backwards.pop())();
  }

  /** y = x Wᵀ + b: ∂x = ∂y W, ∂W = ∂yᵀ x, ∂b = Σ ∂y. @param {Tensor} x @param {Tensor} weight [out, wide] @param {Tensor | null} bias */
  linear(x, weight, bias) {
    const { wide } = weight, out = weight.data.length / wide, rows = x.data.length / wide;
    const y = this.output(rows * out, out, (slopes) => {
      addProduct(slopes, transposed(weight.data, wide), x.slopes, out);
      addProduct(transposed(slopes, out), transposed(x.data, wide), weight.slopes, rows);
      if (bias) addTiles(bias.slopes, slopes);
    });
    if (bias) tile(y.data, bias.data);
    addProduct(x.data, weight.data, y.data, wide);
    return y;
  }

  /** a + b; a shorter b is added again and again: the same positions to each text. @param {Tensor} a @param {Tensor} b */
  plus(a, b) {
    const y = this.output(a.data.length, a.wide, (slopes) => {
      addTiles(a.slopes, slopes);
      addTiles(b.slopes, slopes);
    });
    tile(y.data, b.data);
    addTiles(y.data, a.data);
    return y;
  }

  /** x times a number. @param {Tensor} x @param {number} by */
  times(x, by) {
    const y = this.output(x.data.length, x.wide, (slopes) => {
      const dx = x.slopes;
      for (let i = 0; i < slopes.length; i++) dx[i] += by * slopes[i];
    });
    for (let i = 0; i < y.data.length; i++) y.data[i] = by * x.data[i];
    return y;
  }

  /** a ⊙ b, number by number: a gate. @param {Tensor} a @param {Tensor} b */
  gated(a, b) {
    const y = this.output(a.data.length, a.wide, (slopes) => {
      const da = a.slopes, db = b.slopes;
      for (let i = 0; i < slopes.length; i++) {
        da[i] += slopes[i] * b.data[i];
        db[i] += slopes[i] * a.data[i];
      }
    });
    for (let i = 0; i < y.data.length; i++) y.data[i] = a.data[i] * b.data[i];
    return y;
  }

  /** x with a share of its numbers set to 0 and the others as much larger. @param {Tensor} x @param {Dropout} dropout */
  dropped(x, { rate, random }) {
    return rate ? this.gated(x, this.constant(Float32Array.from(x.data, () => (random() < rate ? 0 : 1 / (1 - rate))), x.wide)) : x;
  }

  /** f(x) of each number: ∂x = f′(x) ∂y. @param {Tensor} x @param {string} name of the activation */
  activated(x, name) {
    const f = ACTIVATIONS[name], slope = SLOPES[name];
    const y = this.output(x.data.length, x.wide, (slopes) => {
      const dx = x.slopes;
      for (let i = 0; i < slopes.length; i++) dx[i] += slopes[i] * slope(x.data[i]);
    });
    for (let i = 0; i < y.data.length; i++) y.data[i] = f(x.data[i]);
    return y;
  }

  /** Rows of a table: each gives its gradient back to the row that it came from. @param {Tensor} table @param {ArrayLike<number>} ids */
  gathered(table, ids) {
    const { wide } = table;
    const y = this.output(ids.length * wide, wide, (slopes) => {
      const to = table.slopes;
      for (let n = 0; n < ids.length; n++) for (let i = 0; i < wide; i++) to[ids[n] * wide + i] += slopes[n * wide + i];
    });
    for (let n = 0; n < ids.length; n++) y.data.set(table.data.subarray(ids[n] * wide, (ids[n] + 1) * wide), n * wide);
    return y;
  }

  /** [row, wide] as [wide, row]. @param {Tensor} x */
  transposed(x) {
    const rows = x.data.length / x.wide, y = this.output(x.data.length, rows, (slopes) => addTiles(x.slopes, transposed(slopes, rows)));
    y.data.set(transposed(x.data, x.wide));
    return y;
  }

  /** x̂ γ + β with x̂ = (x − μ) / σ: ∂x = (∂x̂ − mean ∂x̂ − x̂ · mean(∂x̂ x̂)) / σ. RMSNorm (`centred` false) has no μ, and no mean of ∂x̂.
   * @param {Tensor} x @param {{gain: Tensor | null, shift: Tensor | null, epsilon: number, centred: boolean}} norm */
  normalised(x, { gain, shift, epsilon, centred }) {
    const { wide } = x, unit = new this.kind(x.data.length), deviation = new this.kind(x.data.length / wide);
    const y = this.output(x.data.length, wide, (slopes) => {
      if (shift) addTiles(shift.slopes, slopes);
      for (let row = 0; row < deviation.length; row++) normBack(slopes, unit, row * wide, x, gain, deviation[row], centred);
    });
    for (let row = 0, from = 0; from < unit.length; row++, from += wide) {
      let mean = 0, square = 0;
      if (centred) for (let i = from; i < from + wide; i++) mean += x.data[i] / wide;
      for (let i = from; i < from + wide; i++) square += (x.data[i] - mean) ** 2 / wide;
      deviation[row] = Math.sqrt(square + epsilon);
      for (let i = from; i < from + wide; i++) unit[i] = (x.data[i] - mean) / deviation[row];
      for (let i = 0; i < wide; i++) y.data[from + i] = unit[from + i] * (gain ? gain.data[i] : 1) + (shift ? shift.data[i] : 0);
    }
    return y;
  }

  /** The mean over rows of −Σ y log p, with p the softmax of the row: ∂scores = (p − y) / rows. y is 1 at the label; with smoothing ε it is 1 − ε there,
   * and ε is shared by all tokens. @param {Tensor} scores [row, vocab] @param {ArrayLike<number>} labels @param {number} [smoothing] */
  crossEntropy(scores, labels, smoothing = 0) {
    const { wide, data } = scores, chances = new this.kind(data.length), shared = smoothing / wide;
    const loss = this.output(1, 1, ([slope]) => {
      const to = scores.slopes, each = slope / labels.length;
      for (let i = 0; i < chances.length; i++) to[i] += each * (chances[i] - shared);
      for (let n = 0; n < labels.length; n++) to[n * wide + labels[n]] -= each * (1 - smoothing);
    });
    let total = 0; // in a double: the loss itself may be kept in 32 bits
    for (let n = 0, from = 0; n < labels.length; n++, from += wide) {
      let most = -Infinity, sum = 0;
      for (let i = from; i < from + wide; i++) most = Math.max(most, data[i]);
      for (let i = from; i < from + wide; i++) sum += chances[i] = Math.exp(data[i] - most);
      for (let i = from; i < from + wide; i++) chances[i] /= sum;
      total += Math.log(sum) + most - (1 - smoothing) * data[from + labels[n]];
      if (smoothing) for (let i = from; i < from + wide; i++) total -= shared * data[i];
    }
    loss.data[0] = total / labels.length;
    return loss;
  }
}

/** One row of the gradient of a norm. @param {Numbers} slopes @param {Numbers} unit x̂ @param {number} from @param {Tensor} x @param {Tensor | null} gain
 * @param {number} deviation σ @param {boolean} centred */
function normBack(slopes, unit, from, x, gain, deviation, centred) {
  const { wide } = x, dx = x.slopes, dgain = gain?.slopes;
  let mean = 0, along = 0;
  for (let i = 0, at = from; i < wide; i++, at++) {
    const slope = slopes[at] * (gain ? gain.data[i] : 1);
    if (dgain) dgain[i] += slopes[at] * unit[at];
    mean += slope / wide;
    along += (slope * unit[at]) / wide;
  }
  if (!centred) mean = 0;
  for (let i = 0, at = from; i < wide; i++, at++) dx[at] += (slopes[at] * (gain ? gain.data[i] : 1) - mean - unit[at] * along) / deviation;
}

/** Write x into y again and again. @param {Numbers} y @param {Numbers} x */
function tile(y, x) {
  for (let from = 0; from < y.length; from += x.length) y.set(x, from);
}

/** Add every stretch of x onto y, as long as y is. @param {Numbers} y @param {Numbers} x */
function addTiles(y, x) {
  for (let from = 0; from < x.length; from += y.length) for (let i = 0; i < y.length; i++) y[i] += x[from + i];
}
