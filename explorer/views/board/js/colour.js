// Colours, and matrices as pictures. Every picture is made once and then only copied.

/** @typedef {{light: any, dark: any}} Palettes */
/** @type {Palettes} */
export const PALETTES = /*PALETTES*/ { light: {}, dark: {} };

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** 256 colours between some. @param {string[]} names */
function ramp(names) {
  const stops = names.map(rgb), out = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at)), f = at - low;
    const [r, g, b] = stops[low].map((x, c) => Math.round(x + (stops[low + 1][c] - x) * f));
    out[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return out;
}

/** @typedef {{name: string, paper: string, ink: string, dim: string, none: string, hold: string, q: string, k: string, v: string,
 *   bar: string, above: string, below: string, up: Uint32Array, down: Uint32Array, share: Uint32Array, grey: number, odd: number}} Look */

/** The colours of one mode. @param {"light" | "dark"} mode @returns {Look} */
export function lookOf(mode) {
  const held = PALETTES[mode], middle = held.signed.indexOf(held.paper), dark = mode === "dark";
  const grey = rgb(held.none);
  return { name: mode, paper: held.paper, ink: held.ink, none: held.none, dim: dark ? "#a3adba" : "#5c6470",
    hold: dark ? "#ef9fcb" : "#b0488a", q: dark ? "#4fd1a5" : "#00795a", k: dark ? "#b3b3ff" : "#4b4b9f", v: dark ? "#f0d060" : "#8a6100",
    bar: held.shares[3], above: held.signed.at(-2), below: held.signed[1], up: ramp(held.signed.slice(middle)), down: ramp(held.signed.slice(0, middle + 1).reverse()), share: ramp(held.shares),
    grey: ((255 << 24) | (grey[2] << 16) | (grey[1] << 8) | grey[0]) >>> 0, odd: dark ? 0xff3333cc : 0xff2222bb };
}

/** @typedef {{id: string, a: ArrayLike<number>, r: number, c: number, top: number, share?: boolean, see?: ((i: number, j: number) => boolean) | null,
 *   faint?: number}} Matrix   `top` is the number of the strongest colour; `see` is false where a mask hides a cell */

/** The colour of one number. @param {number} x @param {Matrix} m @param {Look} look @param {number} i @param {number} j */
function tone(x, m, look, i, j) {
  if (!Number.isFinite(x)) return (i + j) % 2 ? look.odd : look.grey; // hatched: NaN or infinite
  if (m.faint && Math.abs(x) < m.faint) return m.share ? look.share[0] : look.up[0];
  if (m.share) return look.share[Math.min(255, Math.round(Math.sqrt(Math.max(0, x) / m.top) * 255))];
  return (x < 0 ? look.down : look.up)[Math.min(255, Math.round((Math.abs(x) / m.top) * 255))];
}

/** A matrix as a picture of one dot for each cell. @param {Matrix} m @param {Look} look */
function painted(m, look) {
  const image = new ImageData(m.c, m.r), dots = new Uint32Array(image.data.buffer);
  for (let i = 0, at = 0; i < m.r; i++)
    for (let j = 0; j < m.c; j++, at++) dots[at] = m.see && !m.see(i, j) ? look.grey : tone(m.a[at], m, look, i, j);
  const canvas = document.createElement("canvas");
  canvas.width = m.c;
  canvas.height = m.r;
  /** @type {any} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
  return canvas;
}

/** Pictures by the name of their matrix. */
export class Pictures {
  constructor() {
    /** @type {Map<string, HTMLCanvasElement>} */
    this.held = new Map();
  }

  /** @param {Matrix} m @param {Look} look */
  of(m, look) {
    const key = `${look.name} ${m.id} ${m.top} ${m.faint ?? 0}`;
    let found = this.held.get(key);
    if (!found) {
      if (this.held.size > 400) this.held.clear();
      found = painted(m, look);
      this.held.set(key, found);
    }
    return found;
  }
}
