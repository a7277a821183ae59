// How gradients become an update, as torch.optim defines it.

/** @typedef {import("./tape.js").Tensor} Tensor */
/** @typedef {import("./products.js").Numbers} Numbers */

/** The length of all gradients as one vector. @param {Tensor[]} weights */
function gradientNorm(weights) {
  let sum = 0;
  for (const { grad } of weights) if (grad) for (let i = 0; i < grad.length; i++) sum += grad[i] * grad[i];
  return Math.sqrt(sum);
}

/** Make longer gradients as long as `most`, as clip_grad_norm_ does; how long they were. @param {Iterable<Tensor>} weights @param {number} most */
export function clipGradients(weights, most) {
  const every = [...weights], norm = gradientNorm(every), by = most / (norm + 1e-6);
  if (by < 1) for (const { grad } of every) if (grad) for (let i = 0; i < grad.length; i++) grad[i] *= by;
  return norm;
}

/** Arrays of zeros beside each weight: what an optimiser remembers. @param {Tensor} weight @param {Map<Tensor, Numbers>} known @returns {Numbers} */
function remembered(weight, known) {
  const numbers = known.get(weight) ?? /** @type {Numbers} */ (new /** @type {any} */ (weight.data.constructor)(weight.data.length));
  known.set(weight, numbers);
  return numbers;
}

/** AdamW: w ← w − η λ w − η m̂ / (√v̂ + ε), with means m of the gradients and v of their squares. */
export class AdamW {
  /** @param {Iterable<Tensor>} weights @param {{rate?: number, betas?: [number, number], epsilon?: number, decay?: number}} [settings] */
  constructor(weights, { rate = 1e-3, betas = [0.9, 0.999], epsilon = 1e-8, decay = 0.01 } = {}) {
    this.weights = [...weights];
    this.rate = rate;
    this.betas = betas;
    this.epsilon = epsilon;
    this.decay = decay;
    this.count = 0;
    /** @type {Map<Tensor, Numbers>} */
    this.means = new Map();
    /** @type {Map<Tensor, Numbers>} */
    this.squares = new Map();
  }

  /** One update by the gradients, which are then forgotten. */
  step() {
    const [a, b] = this.betas, { rate, epsilon, decay } = this;
    this.count++;
    const first = 1 - a ** this.count, second = Math.sqrt(1 - b ** this.count);
    for (const weight of this.weights) {
      const { data, grad } = weight;
      if (!grad) continue;
      const m = remembered(weight, this.means), v = remembered(weight, this.squares);
      for (let i = 0; i < data.length; i++) {
        m[i] = a * m[i] + (1 - a) * grad[i];
        v[i] = b * v[i] + (1 - b) * grad[i] * grad[i];
        data[i] -= rate * (decay * data[i] + m[i] / first / (Math.sqrt(v[i]) / second + epsilon));
      }
      weight.grad = null;
    }
  }
}

/** Stochastic gradient descent: w ← w − η b, with b = momentum · b + (g + λ w). */
export class SGD {
  /** @param {Iterable<Tensor>} weights @param {{rate?: number, momentum?: number, decay?: number}} [settings] */
  constructor(weights, { rate = 0.1, momentum = 0, decay = 0 } = {}) {
    this.weights = [...weights];
    this.rate = rate;
    this.momentum = momentum;
    this.decay = decay;
    /** @type {Map<Tensor, Numbers>} */
    this.means = new Map();
  }

  /** One update by the gradients, which are then forgotten. */
  step() {
    for (const weight of this.weights) {
      const { data, grad } = weight;
      if (!grad) continue;
      const b = remembered(weight, this.means);
      for (let i = 0; i < data.length; i++) {
        b[i] = this.momentum * b[i] + grad[i] + this.decay * data[i];
        data[i] -= this.rate * b[i];
      }
      weight.grad = null;
    }
  }
}
