// A board for a room: the whole screen, or larger type on a page that is shown to one.

const LINE = 98, ABOVE = 118; // dots around a board: of its page, and of its own bar and title

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

/** How high a board may be: to a room, what its page and its own bar and title leave; more for two boards, which are then made smaller. @param {any} board */
export const heightOf = ({ large, presenter, other }) => !large || (other && presenter) ? innerHeight : other ? 1.45 * innerHeight : innerHeight - ABOVE - (presenter ? 0 : LINE);

/** In a room a board hears the keys of the whole page while nothing on it has the focus. @param {any} board @returns {() => void} what ends it */
export function hearRoom(board) {
  const hear = (/** @type {KeyboardEvent} */ event) => board.room && board.seen && [document.body, document.documentElement].includes(/** @type {any} */ (event.target)) && board.key(event);
  document.addEventListener("keydown", hear);
  return () => document.removeEventListener("keydown", hear);
}

/** Whether the page of a board is shown to a room. @param {any} board @param {boolean} room */
export function showRoom(board, room) {
  if (board.room === room) return;
  board.room = room;
  board.size();
}
