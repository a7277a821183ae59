"""Whether the notebook is light or dark: pictures are drawn for it, and drawn again when it changes."""

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


class Theme(anywidget.AnyWidget):
    """What the browser says of the notebook's theme; nothing of it is seen."""

    _esm = THEME
    mode = traitlets.Unicode("light").tag(sync=True)


@functools.cache
def theme_of_lab() -> Theme:
    """The one of this kernel."""
    return Theme()
