"""The browser's side of a notebook's pictures: whether it is light or dark, and the button that enlarges a picture."""

from __future__ import annotations

import functools

import anywidget
import traitlets

from explorer.views.board.module import EXPORTED, FOLDER

THEME = (
    EXPORTED.sub("", (FOLDER / "mode.js").read_text("utf-8"))
    + """
export default { initialize({ model }) {
  const tell = () => { if (model.get("mode") !== modeOf()) { model.set("mode", modeOf()); model.save_changes(); } };
  tell();
  return whenTurned(tell);
} };
"""
)
FRAME = "explorer-picture"  # the class of what fills the screen
ENLARGE = """
export default { render({ model, el }) {
  const button = el.appendChild(document.createElement("button"));
  button.className = "jupyter-button widget-button";
  const frame = () => el.closest(".explorer-picture");
  const turned = () => {
    const large = document.fullscreenElement !== null && document.fullscreenElement === frame();
    button.textContent = large ? "Back" : "Enlarge";
    const height = large ? innerHeight - 80 : 0;  // what the controls need
    if (model.get("height") !== height) { model.set("height", height); model.save_changes(); }
  };
  button.addEventListener("click", () => document.fullscreenElement ? document.exitFullscreen() : frame().requestFullscreen());
  document.addEventListener("fullscreenchange", turned);
  addEventListener("resize", turned);
  turned();
  return () => { document.removeEventListener("fullscreenchange", turned); removeEventListener("resize", turned); };
} };
"""
STYLE = """
.explorer-picture:fullscreen { background: var(--jp-layout-color0, Canvas); padding: 8px 16px; overflow: auto; }
.explorer-picture .jupyter-button { width: auto; height: 24px; line-height: 24px; }
"""


class Theme(anywidget.AnyWidget):
    """What the browser says of the notebook's theme; nothing of it is seen."""

    _esm = THEME
    mode = traitlets.Unicode("light").tag(sync=True)


class Enlarge(anywidget.AnyWidget):
    """A button that fills the screen with the picture around it; `height` is then that of the screen, otherwise 0."""

    _esm, _css = ENLARGE, STYLE
    height = traitlets.Int(0).tag(sync=True)


@functools.cache
def theme_of_lab() -> Theme:
    """The one of this kernel."""
    return Theme()
