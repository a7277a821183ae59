// An encoder and a decoder, one above the other: the one that is walked stands in full, the other small, as it is at that moment.
import { layoutOf, lowered } from "./layout.js";

const CHANNEL = 46; // dots between the two boards, where keys and values come down

/** The other board as a scene of its own: the encoder's last layer, done, above a decoder; or the decoder, still empty, below an encoder.
 * @param {any} board @returns {any} null where a model has one side only */
export function otherOf(board) {
  const { sites, family, tokens } = board.data, below = board.site.stream === "encoder";
  const at = below ? sites.findIndex((/** @type {any} */ s) => s.stream === "decoder") : sites.findLastIndex((/** @type {any} */ s) => s.stream === "encoder");
  if (family !== "encoder-decoder" || at < 0) return null;
  const site = sites[at], head = Math.min(board.head, site.heads - 1), none = /** @type {any[]} */ ([]), { texts, special } = tokens[site.rows];
  return Object.assign(Object.create(board), { at, head, below, step: below ? -1 : site.stations.length - 1, t: 1, rows: texts, cols: texts,
    special: { rows: special, cols: special }, gone: { rows: none, cols: none }, made: null, thumbs: none, held: none, speaks: false,
    other: null, grown: 0, cursor: { row: -1, col: -1 } });
}

/** Both boards in one picture. @param {any} board @param {import("./layout.js").Ask} ask */
export function stack(board, ask) {
  const { other, layout } = board;
  if (!other) return;
  other.layout = null;
  if (layout.kind === "phone") return; // one station at a time
  const size = other.data.sites[other.at].q?.s[2] ?? 0, n = other.rows.length;
  other.layout = layoutOf({ ...ask, small: true, ahead: [], n, m: n, d: size, columns: other.columns, speaks: false, rowLabel: board.wide.other, colLabel: board.wide.other });
  if (other.below) {
    other.edge = layout.high;
    lowered(other.layout, layout.high + CHANNEL / 2);
    layout.high = other.layout.high;
  } else lowered(layout, (other.edge = other.layout.high) + CHANNEL);
}

/** The other board, and where a cross-attention takes its keys and values from. @param {any} painter */
export function drawOther(painter) {
  const { s } = painter, { other } = s, boxes = other.layout.boxes, S = boxes.find((/** @type {any} */ b) => b.id === "S"), from = boxes.findLast((/** @type {any} */ b) => b.y === S.y);
  const crossed = s.site.stream === "cross", { layer } = other.site;
  other.cursor.row = crossed ? s.cursor.col : -1;
  painter.of(other).whole();
  const how = { colour: s.look.dim, most: S.x - 40 };
  painter.write(other.below ? `decoder layer ${layer}: waiting` : `encoder layer ${layer}, done`, 8, S.y - 16 - s.layout.font, { ...how, weight: 700 });
  painter.write("click to open", 8, S.y - 14, how);
  if (crossed) for (const [id, colour] of [["k", s.look.k], ["v", s.look.v]]) painter.ribbon(from, id, colour, CHANNEL);
}

/** Whether a pointer is on the other board. @param {any} board @param {number} y */
export const onOther = ({ other }, y) => Boolean(other?.layout) && y > other.edge === other.below;
