"""The browser's side of a notebook's pictures: light or dark, the button that enlarges one, and the image that is saved of it.

JupyterLab saves the widgets of a notebook as they are, and draws them again without a kernel. A code host and a page that nbconvert
made draw none. So every picture that a cell shows is followed by the same picture as an image, and every question by the answer that it
was given as text; a style of ours hides both in JupyterLab, below what they repeat.
"""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets
from IPython.display import DisplayHandle, display

from explorer.views.board.module import EXPORTED, FOLDER
from explorer.views.cell_widgets import note_shown

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
.jupyter-widgets-disconnected::before { display: none !important; }
"""
START = "data:image/png;base64,"
COLOURS = 256
PAINT = """
const SETTLED = 600;  // milliseconds without a change
const SCALE = 1;  // dots for each point
const SVG = "http://www.w3.org/2000/svg";
const EXCHANGED = "invert(1) hue-rotate(180deg)";  // light and dark, with their hues, a colour bar as well
const isDark = ([red, green, blue, solid]) => solid > 128 && red + green + blue < 384;
function colourOf(graph) {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  pen.fillStyle = graph._fullLayout.paper_bgcolor;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
}
async function painted(graph) {
  const layers = [...graph.querySelectorAll(".svg-container > svg.main-svg")];
  const [width, height] = [layers[0].width.baseVal.value, layers[0].height.baseVal.value];
  const all = document.createElementNS(SVG, "svg");
  all.setAttribute("width", width);
  all.setAttribute("height", height);
  all.append(...layers.map((layer) => layer.cloneNode(true)));
  all.querySelectorAll(".hoverlayer, .draglayer").forEach((hover) => hover.remove());
  all.querySelectorAll("text").forEach((text) => { text.style.whiteSpace = "pre"; });
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(all));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * SCALE), Math.round(height * SCALE)];
  const pen = canvas.getContext("2d");
  pen.fillStyle = graph._fullLayout.paper_bgcolor;
  if (isDark(colourOf(graph))) pen.filter = EXCHANGED;  // a page and a code host are light
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}
export default { render({ model, el }) {
  el.style.display = "none";
  if (!document.querySelector(".jp-Notebook")) return;  // elsewhere no style would hide the image
  let waiting = 0;
  const keep = async () => {
    const graph = el.closest("." + model.get("frame"))?.querySelector(".js-plotly-plot");
    if (!graph?.querySelector(".svg-container > svg.main-svg") || graph._fullLayout._has("gl3d") || document.fullscreenElement) return;
    model.send({ image: await painted(graph) });  // no state, which a saved notebook would hold once more
  };
  const later = () => { clearTimeout(waiting); waiting = setTimeout(() => keep().catch(() => {}), SETTLED); };
  const watch = new MutationObserver((changes) => {
    if (changes.some(({ target }) => !target.closest?.(".hoverlayer"))) later();
  });
  const begin = () => {
    const frame = el.closest("." + model.get("frame"));
    if (!frame) { waiting = setTimeout(begin, 100); return; }
    watch.observe(frame, { childList: true, subtree: true });
    later();
  };
  begin();
  return () => { clearTimeout(waiting); watch.disconnect(); };
} };
"""


OUTPUT = ".jp-OutputArea-child"
HIDDEN = "explorer-still"  # with a number: the class of what is followed by so many images of its pictures
MOST = 6


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


def _hidden(number: int) -> str:
    """What hides the output that comes so many after a picture."""
    return f"{OUTPUT}:has(.{HIDDEN}-{number})" + f" + {OUTPUT}" * number + " { display: none; }"


HIDING = "\n".join(map(_hidden, range(1, MOST + 1)))


class Below(anywidget.AnyWidget):
    """What fills an output that comes below another one in its cell, for readers without widgets; nothing of it is seen."""

    _esm, _css = "export default { render({ el }) { el.style.display = 'none'; } };", HIDING

    def __init__(self, **given: Any) -> None:
        self.below = list[DisplayHandle]()
        super().__init__(**given)

    def put_below(self) -> None:
        """Add an output to the cell."""
        self.below.append(display({"text/plain": ""}, raw=True, display_id=True))

    def keep(self, data: dict[str, str], metadata: dict[str, Any] | None = None) -> None:
        """Put this into the outputs that were added."""
        for handle in self.below:
            handle.update(data, raw=True, metadata=metadata or {})


class Still(Below):
    """What draws the picture of its frame as an image, light also where the notebook is dark."""

    _esm = PAINT
    frame = traitlets.Unicode("").tag(sync=True)

    def __init__(self, frame: str, title: str) -> None:
        self.title = title
        super().__init__(frame=frame)
        self.on_msg(lambda _, drawn, __: self.keep_image(str(drawn.get("image", ""))))

    def keep_image(self, address: str) -> None:
        """Put an image, given by its address, below the picture."""
        if address.startswith(START):
            data = {"image/png": fewer_bytes(address.removeprefix(START)), "text/plain": self.title}
            self.keep(data, {"image/png": {"alt": self.title}})


def fewer_bytes(png: str) -> str:
    """The same image with at most 256 colours, in base64 as it was given: about a third of the bytes."""
    try:
        from PIL import Image
    except ImportError:
        return png
    image, smaller = Image.open(io.BytesIO(base64.b64decode(png))), io.BytesIO()
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(smaller, "PNG", optimize=True)
    return min(png, base64.b64encode(smaller.getvalue()).decode(), key=len)


def display_with_text(shown: Any, *, title: str, text: str, stills: Sequence[Below] = ()) -> None:
    """Show a widget, which is saved as its text (HTML) and, below it, the images of its pictures or what was answered."""
    note_shown(shown)
    for number in range(1, min(len(stills), MOST) + 1):
        shown.add_class(f"{HIDDEN}-{number}")
    display({**shown._repr_mimebundle_(), "text/html": text, "text/plain": title}, raw=True)
    for still in stills[:MOST]:
        still.put_below()
