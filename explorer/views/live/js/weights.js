// The weights of a model from a safetensors file: a header in JSON, then the numbers, 16 or 32 bits each.

const WIDTHS = { F16: 2, BF16: 2, F32: 4 };

/** A function that gives the weights of a name as 32-bit numbers, or null where the file has none. @param {ArrayBuffer} file
 * @returns {(name: string) => Float32Array | null} */
export function openWeights(file) {
  const view = new DataView(file);
  const size = file.byteLength >= 8 ? Number(view.getBigUint64(0, true)) : Infinity;
  if (size > file.byteLength - 8) throw new Error("The model file is cut off. Save it again.");
  /** @type {Record<string, {dtype: keyof typeof WIDTHS, shape: number[], data_offsets: [number, number]}>} */
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, size)));
  /** @type {Map<string, Float32Array>} */
  const opened = new Map();
  return (name) => {
    const known = opened.get(name);
    if (known) return known;
    const entry = header[name];
    if (!entry) return null;
    const [begin, end] = entry.data_offsets ?? [], from = 8 + size + begin, width = WIDTHS[entry.dtype];
    if (8 + size + end > file.byteLength) throw new Error(`The model file is cut off at ${name}. Save it again.`);
    if (!width) throw new Error(`The model file holds ${entry.dtype} numbers at ${name}; 16 or 32 bits are read.`);
    if (!Array.isArray(entry.shape) || !(begin >= 0) || end - begin !== entry.shape.reduce((all, rows) => all * rows, width)) throw new Error(`The model file is damaged at ${name}. Save it again.`);
    const numbers = asFloats(file.slice(from, from + end - begin), entry.dtype);
    if (!finite(numbers)) throw new Error(`The weights of ${name} are not all finite numbers. Train the model again, or export it again.`);
    opened.set(name, numbers);
    return numbers;
  };
}

/** The weights of a name, of which none may be missing. @param {(name: string) => Float32Array | null} weight */
export const required = (weight) => (/** @type {string} */ name) => {
  const numbers = weight(name);
  if (!numbers) throw new Error(`The model file lacks the tensor ${name}. Export the model again.`);
  return numbers;
};

/** @param {ArrayBuffer} bytes @param {keyof typeof WIDTHS} kind */
function asFloats(bytes, kind) {
  const native = /** @type {any} */ (globalThis).Float16Array;
  if (kind === "F32") return new Float32Array(bytes);
  if (kind === "F16" && native) return new Float32Array(new native(bytes)); // most browsers know these numbers, and read them three times as fast
  const held = new Uint16Array(bytes), made = new Float32Array(held.length), bits = new Uint32Array(made.buffer);
  const table = (halves ??= new Float32Array(65536).map((_, of) => half(of)));
  for (let i = 0; i < held.length; i++) {
    if (kind === "BF16") bits[i] = held[i] << 16;
    else made[i] = table[held[i]];
  }
  return made;
}

/** @type {Float32Array | null} */
let halves = null; // every number of 16 bits that there is: looking one up takes a tenth of computing it

/** Whether no number is infinite or none: 0 times such a one is not 0. @param {Float32Array} numbers */
function finite(numbers) {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += numbers[i] * 0;
  return sum === 0;
}

/** A number of 16 bits: sign, five bits of exponent, ten of fraction. @param {number} bits */
function half(bits) {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
}
