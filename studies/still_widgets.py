"""What a notebook's widgets show, as pictures and text: the outputs of a run, so that they outlast its kernel.

A picture with controls becomes an image with what was chosen below it, a question its text with an empty circle before each answer.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from nbformat import NotebookNode
from nbformat.v4 import new_output
from PIL import Image, ImageChops

from explorer.errors import ChoiceError
from explorer.views import export
from explorer.views.notebook import PLOTLY

WIDGET = "application/vnd.jupyter.widget-view+json"
STATES = "application/vnd.jupyter.widget-state+json"
SCALE = 2  # dots for each point of a picture, as export draws it
KEPT = (1.5, 1.25, 1.0)  # of these dots, as many as the limit of a page allows
COLOURS = 256  # of a picture whose file shall be a third of the size
SEEN = 48  # of 255: a larger change of a dot's red, green or blue would be seen
PRESSED = ("ButtonModel", "AnyModel")  # a page has nothing to press, and a board comes with its own picture
PROSE = '<div class="explorer" style="max-width:60em;line-height:1.5">'
States = Mapping[str, Mapping[str, Any]]


def stilled(notebook: NotebookNode) -> NotebookNode:
    """The same notebook, run, with an image or text in the place of every widget."""
    states = notebook.metadata.pop("widgets", {}).get(STATES, {}).get("state", {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [new for output in cell.outputs for new in _still(output, states)]
    return notebook


def _still(output: NotebookNode, states: States) -> Iterator[NotebookNode]:
    """What is put in the place of one output."""
    data = output.get("data", {})
    if WIDGET not in data:
        yield picture(data) if PLOTLY in data else output
    elif "image/svg+xml" in data:  # the board says itself how it looks when it stands still
        yield new_output("display_data", {name: data[name] for name in ("image/svg+xml", "text/plain")})
    else:
        yield from _widget(data[WIDGET]["model_id"], states)


def _widget(number: str, states: States) -> Iterator[NotebookNode]:
    """What one widget and those inside it show, from top to bottom; what stands between two pictures is one text."""
    texts: list[str] = []
    for shown in _parts(number, states):
        if isinstance(shown, str):
            texts.append(shown)
            continue
        yield from _prose(texts)
        texts.clear()
        yield shown
    yield from _prose(texts)


def _prose(texts: Sequence[str]) -> Iterator[NotebookNode]:
    if texts:
        plain = re.sub(r"<[^>]+>", " ", "\n".join(texts)).strip()
        yield new_output("display_data", {"text/html": f"{PROSE}{''.join(texts)}</div>", "text/plain": plain})


def _parts(number: str, states: States) -> Iterator[str | NotebookNode]:
    """The texts (HTML) and pictures of a widget."""
    model = states[number]
    state, kind = model["state"], model["model_name"]
    if kind in ("VBoxModel", "HBoxModel", "GridBoxModel"):
        inside = [part for child in state["children"] for part in _parts(child.removeprefix("IPY_MODEL_"), states)]
        yield from [" · ".join(map(str, inside))] if kind == "HBoxModel" and inside else inside
    elif kind == "OutputModel":
        yield from (new for output in state["outputs"] for new in _still(NotebookNode(output), states))
    elif kind in ("HTMLModel", "HTMLMathModel"):
        yield from [state["value"]] if state["value"] else []
    elif kind == "RadioButtonsModel":
        yield (
            "<ul style='list-style:none'>"
            + "".join(f"<li>○ {escape(label)}</li>" for label in state["_options_labels"])
            + "</ul>"
        )
    elif kind == "TextModel":
        yield f"<p>____ ({escape(state['placeholder'])})</p>"
    elif kind in ("DropdownModel", "SelectionSliderModel"):
        yield f"{escape(state['description'])}: <em>{escape(state['_options_labels'][state['index']])}</em>"
    elif kind in ("IntSliderModel", "CheckboxModel"):
        value = {True: "yes", False: "no"}.get(state["value"], state["value"]) if kind == "CheckboxModel" else state["value"]
        yield f"{escape(state['description'])}: <em>{value}</em>"
    elif kind in PRESSED:
        return
    elif "_widget_data" in state:  # its numbers went from the kernel to the screen, and are held nowhere
        yield "<p><em>Here a picture grows while the notebook runs. A file cannot hold it.</em></p>"
    else:
        raise ChoiceError(f"A {kind} has no still form. Add it to still_widgets.py.")


def picture(data: Mapping[str, Any]) -> NotebookNode:
    """A plotly picture as an image with all its dots."""
    image = base64.b64encode(export.redrawn(data[PLOTLY])).decode("ascii")
    title = data.get("text/plain", "").split(" (a picture")[0]
    return new_output("display_data", {"image/png": image, "text/plain": title}, metadata={"image/png": {"alt": title}})


def fitted(notebook: NotebookNode, limit: int) -> NotebookNode:
    """The same notebook with its images in fewer dots: as many as fit into so many letters, or the fewest that can be read."""
    outputs = [drawn for cell in notebook.cells for drawn in cell.get("outputs", ()) if "image/png" in drawn.get("data", {})]
    drawn = [Image.open(io.BytesIO(base64.b64decode(png.data["image/png"]))).convert("RGB") for png in outputs]
    small: list[str] = []
    for kept in KEPT:
        small = [base64.b64encode(_shrunk(image, kept)).decode("ascii") for image in drawn]
        if sum(map(len, small)) <= limit:
            break
    for output, png, image in zip(outputs, small, drawn, strict=True):
        output.data["image/png"] = png
        output.metadata.setdefault("image/png", {})["width"] = image.width // SCALE
    return notebook


def _shrunk(large: Image.Image, kept: float) -> bytes:
    """The same image in fewer dots, and in few colours where none of them changes so much that it is seen."""
    size = (round(kept * (large.width // SCALE)), round(kept * (large.height // SCALE)))
    image = large.resize(size, Image.Resampling.LANCZOS)
    few = image.quantize(COLOURS, dither=Image.Dither.NONE)
    most = int(np.asarray(ImageChops.difference(image, few.convert("RGB"))).max())
    out = io.BytesIO()
    (few if most <= SEEN else image).save(out, "PNG", optimize=True)
    return out.getvalue()
