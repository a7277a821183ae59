// A model as one file, a .zip without compression of the three files of a model folder: config.json, tokenizer.json and the weights as
// safetensors. `ex.load("model.zip")` opens it in Python, and so does this page.
import { openWeights } from "../../live/js/weights.js";

/** @typedef {[name: string, content: Uint8Array]} Entry */

const FILE = 0x04034b50, LISTED = 0x02014b50, END = 0x06054b50, DATE = 0x5a21; // marks of the format, and 1 January 2025: the same file for the same model

/** CRC-32 of some bytes. @param {Uint8Array} bytes */
function checksum(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** Numbers of 2 and 4 bytes, one after the other. @param {[size: 2 | 4, value: number][]} fields */
export function numbersOf(fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0)), view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** Files as one .zip. @param {Entry[]} entries */
export function zipped(entries) {
  const parts = /** @type {Uint8Array[]} */ ([]), list = /** @type {Uint8Array[]} */ ([]);
  let at = 0;
  for (const [name, content] of entries) {
    const letters = new TextEncoder().encode(name), size = content.length;
    /** @type {[2 | 4, number][]} */
    const about = [[2, 20], [2, 0], [2, 0], [2, 0], [2, DATE], [4, checksum(content)], [4, size], [4, size], [2, letters.length], [2, 0]];
    const head = numbersOf([[4, FILE], ...about]);
    list.push(numbersOf([[4, LISTED], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), letters);
    parts.push(head, letters, content);
    at += head.length + letters.length + size;
  }
  const listed = list.reduce((sum, part) => sum + part.length, 0);
  const end = numbersOf([[4, END], [2, 0], [2, 0], [2, entries.length], [2, entries.length], [4, listed], [4, at], [2, 0]]);
  return joinedBytes([...parts, ...list, end]);
}

/** @param {Uint8Array[]} parts */
export function joinedBytes(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The files of a .zip that `zipped` wrote. @param {Uint8Array} bytes @returns {Map<string, Uint8Array>} */
export function unzipped(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), files = /** @type {Map<string, Uint8Array>} */ (new Map());
  let at = 0;
  while (at + 30 <= bytes.length && view.getUint32(at, true) === FILE) {
    const size = view.getUint32(at + 18, true), letters = view.getUint16(at + 26, true), from = at + 30 + letters + view.getUint16(at + 28, true);
    const content = bytes.slice(from, from + size), name = new TextDecoder().decode(bytes.subarray(at + 30, at + 30 + letters));
    if (view.getUint16(at + 8, true) || content.length < size || checksum(content) !== view.getUint32(at + 14, true)) throw new Error(`${name} in this file is damaged or cut off. Save the model again.`);
    files.set(name, content);
    at = from + size;
  }
  if (!files.size || at + 4 > bytes.length) throw new Error("This is not a whole file of a model that was saved here. Save the model again.");
  return files;
}

/** The weights as a safetensors file. @param {Map<string, import("./tape.js").Tensor>} weights @param {import("./shapes.js").Shape[]} shapes */
export function safetensors(weights, shapes) {
  const header = /** @type {Record<string, any>} */ ({ __metadata__: { format: "pt" } }), parts = /** @type {Uint8Array[]} */ ([]);
  let at = 0;
  for (const [name, rows, wide] of shapes) {
    const numbers = Float32Array.from(/** @type {any} */ (weights.get(name)).data), bytes = new Uint8Array(numbers.buffer);
    header[name] = { dtype: "F32", shape: rows ? [rows, wide] : [wide], data_offsets: [at, at + bytes.length] };
    parts.push(bytes);
    at += bytes.length;
  }
  const text = JSON.stringify(header), head = new TextEncoder().encode(text + " ".repeat((8 - (new TextEncoder().encode(text).length % 8)) % 8));
  return joinedBytes([numbersOf([[4, head.length], [4, 0]]), head, ...parts]);
}

/** The weights of a safetensors file by their names. @param {Uint8Array} bytes @param {import("./shapes.js").Shape[]} shapes @returns {Map<string, Float32Array>} */
export function weightsIn(bytes, shapes) {
  const weight = openWeights(/** @type {ArrayBuffer} */ (bytes.slice().buffer));
  return new Map(shapes.map(([name]) => [name, weight(name) ?? new Float32Array(0)]));
}
