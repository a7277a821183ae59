// One picture fades into another where a leap has no motion of its own: to another layer, head, station or moment.
const FADE = 120; // milliseconds

/** What is seen now fades into what comes. @param {any} board */
export function fade(board) {
  const { canvas } = board.parts, going = Boolean(board.fading);
  if (board.cuts() || !board.layout || !canvas.width) return;
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d")).drawImage(canvas, 0, 0);
  board.fading = { copy, begin: 0 };
  const frame = () => {
    if (!board.fading) return;
    board.draw();
    requestAnimationFrame(frame);
  };
  if (!going) requestAnimationFrame(frame);
}

/** What was seen before, fainter and fainter over what is drawn now. @param {any} board @param {CanvasRenderingContext2D} g */
export function faded(board, g) {
  board.fading.begin ||= performance.now(); // from the first frame on, however long it took to draw
  const { copy, begin } = board.fading, { canvas } = board.parts, rest = 1 - (performance.now() - begin) / FADE;
  if (rest <= 0 || copy.width !== canvas.width || copy.height !== canvas.height) return void (board.fading = null);
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.globalAlpha = Math.min(1, rest);
  g.drawImage(copy, 0, 0);
  g.globalAlpha = 1;
}
