"""Whether the notebook is light or dark: pictures are drawn for it, and drawn again when it changes."""

from __future__ import annotations

import functools

import anywidget
import traitlets

MODULE = """
const mode = () => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false" ? "dark" : "light";
  return (vscodeThemeKind || "").includes("dark") ? "dark" : "light";
};
export default { initialize({ model }) {
  const tell = () => { if (model.get("mode") !== mode()) { model.set("mode", mode()); model.save_changes(); } };
  const watch = new MutationObserver(tell);
  watch.observe(document.body, { attributes: true });
  tell();
  return () => watch.disconnect();
} };
"""


class Theme(anywidget.AnyWidget):
    """What the browser says of the notebook's theme; nothing of it is seen."""

    _esm = MODULE
    mode = traitlets.Unicode("light").tag(sync=True)


@functools.cache
def theme_of_lab() -> Theme:
    """The one of this kernel."""
    return Theme()
