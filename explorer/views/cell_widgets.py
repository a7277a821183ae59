"""What a cell of a notebook showed before it was run again: those widgets are closed, else the notebook would save them all."""

from __future__ import annotations

from typing import Any

from IPython import get_ipython
from ipywidgets import Widget, widget_serialization

VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN: dict[str, list[Widget]] = {}  # by cell: what it shows
NOW: dict[str, list[Widget]] = {}  # the same for the cell that runs


def note_shown(widget: Widget) -> None:
    """Say that the cell that runs shows this widget; what it showed when it last ran is closed at its end."""
    shell, cell = get_ipython(), _cell()
    if shell is None or not cell:
        return
    if not NOW:
        shell.events.register("post_run_cell", _close_earlier)
    NOW.setdefault(cell, []).append(widget)


def _cell() -> str:
    """The cell that runs, as JupyterLab and VS Code name it; nothing elsewhere."""
    shell = get_ipython()
    parent: dict[str, Any] = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return str(parent.get("metadata", {}).get("cellId", ""))


def _close_earlier(result: object) -> None:
    """Close what no cell shows any more."""
    get_ipython().events.unregister("post_run_cell", _close_earlier)
    earlier = [widget for cell in NOW for widget in SHOWN.get(cell, ())]
    SHOWN.update(NOW)
    NOW.clear()
    still_shown = {widget.model_id for widgets in SHOWN.values() for widget in widgets}
    for widget in earlier:
        _close(widget, still_shown)


def _close(widget: Widget, still_shown: set[str]) -> None:
    """Close a widget and all that is inside it, unless a cell shows it."""
    if widget.model_id is None or widget.model_id in still_shown:
        return
    for part in (*getattr(widget, "children", ()), *map(_opened, getattr(widget, "outputs", ())), *_looks(widget)):
        if isinstance(part, Widget):
            _close(part, still_shown)
    widget.close()


def _looks(widget: Widget) -> list[object]:
    return [getattr(widget, name, None) for name in ("layout", "style")]


def _opened(output: dict[str, Any]) -> object:
    """The widget that is shown inside another one as an output of its own."""
    number = output.get("data", {}).get(VIEW, {}).get("model_id", "")
    return widget_serialization["from_json"](f"IPY_MODEL_{number}", None)
