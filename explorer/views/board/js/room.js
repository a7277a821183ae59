// A board for a room: the whole screen, or larger type on a page that is shown to one.

/** Fill the screen, or give it back. @param {any} board */
export function fillScreen(board) {
  if (board.presenter) {
    if (document.fullscreenElement) void document.exitFullscreen();
    return present(board, false);
  }
  present(board, true);
  board.asking = true;
  const asked = board.parts.frame.requestFullscreen?.() ?? Promise.reject(new Error("full screen is not available here"));
  const answered = () => void (board.asking = false);
  asked.finally(answered).then(() => screenFilled(board), () => {});
}

/** The browser filled the screen or gave it back, perhaps after the presenter was already done with it. @param {any} board */
export function screenFilled(board) {
  if (board.asking) return;
  const root = /** @type {ShadowRoot | Document} */ (board.parts.frame.getRootNode());
  const full = root.fullscreenElement === board.parts.frame;
  if (full && !board.presenter) void document.exitFullscreen();
  if (!full && board.presenter) present(board, false);
}

/** @param {any} board @param {boolean} on */
function present(board, on) {
  board.presenter = on;
  board.parts.frame.classList.toggle("presenter", on);
  board.size();
}

/** Whether the page of a board is shown to a room. @param {any} board @param {boolean} room */
export function showRoom(board, room) {
  if (board.room === room) return;
  board.room = room;
  board.size();
}
