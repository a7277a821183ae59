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
    const [begin, end] = entry.data_offsets, from = 8 + size + begin;
    if (8 + size + end > file.byteLength) throw new Error(`The model file is cut off at ${name}. Save it again.`);
    if (!(entry.dtype in WIDTHS)) throw new Error(`The model file holds ${entry.dtype} numbers at ${name}; 16 or 32 bits are read.`);
    const numbers = asFloats(view, from, end - begin, entry.dtype);
    if (!numbers.every(Number.isFinite)) throw new Error(`The weights of ${name} are not all finite numbers. Train the model again, or export it again.`);
    opened.set(name, numbers);
    return numbers;
  };
}

/** @param {DataView} view @param {number} from @param {number} bytes @param {keyof typeof WIDTHS} kind */
function asFloats(view, from, bytes, kind) {
  const count = bytes / WIDTHS[kind], made = new Float32Array(count), bits = new DataView(new ArrayBuffer(4));
  for (let i = 0; i < count; i++) {
    if (kind === "F32") made[i] = view.getFloat32(from + 4 * i, true);
    else if (kind === "BF16") {
      bits.setUint32(0, view.getUint16(from + 2 * i, true) << 16);
      made[i] = bits.getFloat32(0);
    } else made[i] = half(view.getUint16(from + 2 * i, true));
  }
  return made;
}

/** A number of 16 bits: sign, five bits of exponent, ten of fraction. @param {number} bits */
function half(bits) {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
}
