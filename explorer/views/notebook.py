"""Views in JupyterLab: the controls as widgets, the picture below them, the caption below that."""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from explorer.errors import unknown
from explorer.errors.kinds import checked
from explorer.views import VIEWS, Choice, Control, Range, View, theme, view_of
from explorer.views.export import ALONE, captioned, themed
from explorer.views.lab import FRAME, Enlarge, Still, display_with_text, theme_of_lab
from explorer.views.view import DRAWN, drawn_of

PLOTLY = "application/vnd.plotly.v1+json"  # what JupyterLab, Notebook and VS Code draw by themselves
NARROWEST = "24em"  # a picture of several side by side


class Shown(widgets.VBox):
    """A view on the screen of a notebook. `figure` is the current picture, `choices` what is chosen."""

    def __init__(self, view: View, record: Any, mode: str, given: dict[str, Any], *, captioned: bool = True) -> None:
        self.view, self.record, self.mode = view, record, mode
        start = view.choices(record, given)
        self.controls = {name: _widget(control, start[name]) for name, control in view.controls(record).items()}
        self.picture, self.enlarge, self.still = widgets.Output(), Enlarge(), Still(FRAME, view.title)
        self.caption, self.words = view.caption if captioned else "", widgets.HTML()
        self._redraw(None)
        for control in self.controls.values():
            control.observe(self._redraw, names="value")
        self.enlarge.observe(self._redraw, names="height")
        row = [*self.controls.values(), self.enlarge, self.still]
        above = widgets.HBox(row, layout={"flex_flow": "row wrap", "align_items": "center"})
        super().__init__([above, self.picture, *([self.words] if self.words.value else [])], layout={"min_width": "0"})
        self.add_class(FRAME)
        if not mode:
            _follow(self)

    @property
    def choices(self) -> dict[str, Any]:
        """What is chosen now."""
        return {name: control.value for name, control in self.controls.items()}

    def _ipython_display_(self) -> None:
        """The picture, and below it what a saved notebook holds of it."""
        text = captioned(self.view.caption, theme.facts_of(self.figure))
        display_with_text(self, title=self.view.title, text=text, stills=(self.still,))

    def _redraw(self, change: object) -> None:
        """Draw again. The figure is sent as data of its own kind: a widget would have to load plotly within two seconds."""
        self.figure = themed(self.view(self.record, **self.choices), self.mode or theme_of_lab().mode)
        spec = {**json.loads(self.figure.to_json()), "config": ALONE}
        high = max(self.figure.layout.height or 450, self.enlarge.height)
        if self.enlarge.height:
            spec["layout"]["height"] = high
        self.picture.layout.min_height = f"{high}px"  # what is below does not jump
        plain_text = f"{self.view.title} (a picture that this viewer cannot draw)"
        shown = {"output_type": "display_data", "data": {PLOTLY: spec, "text/plain": plain_text}, "metadata": {}}
        self.picture.outputs = (shown,)
        facts = theme.facts_of(self.figure)
        self.words.value = _said(self.caption, facts) if self.caption or facts else ""


class Several(widgets.VBox):
    """One view of several records side by side, with one caption. `pictures` are what `show` makes of each record; each is saved alone."""

    def __init__(self, view: View, records: Sequence[Any], mode: str, given: dict[str, Any]) -> None:
        self.view = view
        self.pictures = tuple(Shown(view, record, mode, given, captioned=False) for record in records)
        columns = f"repeat(auto-fit, minmax(min(100%, {NARROWEST}), 1fr))"
        grid = widgets.GridBox(self.pictures, layout={"grid_template_columns": columns, "grid_gap": "12px"})
        super().__init__([grid, widgets.HTML(_said(view.caption))])

    def _ipython_display_(self) -> None:
        """The pictures, and below them what a saved notebook holds of each."""
        stills = [picture.still for picture in self.pictures]
        display_with_text(self, title=self.view.title, text=captioned(self.view.caption), stills=stills)


def _said(caption: str, facts: Sequence[str] = ()) -> str:
    return f"<div style='max-width:60em;line-height:1.5'>{captioned(caption, facts)}</div>"


def _follow(shown: Shown) -> None:
    """Draw the picture again when the notebook turns light or dark, as long as the picture is there."""
    reference = weakref.ref(shown)

    def turned(change: object) -> None:
        there = reference()
        if there is None:
            theme_of_lab().unobserve(turned, names="mode")
        else:
            there._redraw(change)

    theme_of_lab().observe(turned, names="mode")


@checked
def show(view: View | str, record: Any, *, mode: str = "", **choices: Any) -> Shown | Several:
    """Show a view of a record, with its controls. `view` is one of `ex.views` or its name; `choices` are where it starts.

    A list of records is shown side by side, with the caption once.
    `mode` is "light" or "dark"; without it the picture follows the notebook's theme.

    >>> ex.show("place-turns", ex.places("rope")).figure is not None
    True
    """
    view = view if isinstance(view, View) else view_of(view)
    if mode not in ("", *theme.MODES):
        raise unknown("mode", mode, theme.MODES)
    record = drawn_of(record)
    if isinstance(record, list) and record and not any(map(view.fits, record)):
        return Several(view, record, mode, choices)
    return Shown(view, record, mode, choices)


def _views_by_record() -> str:
    """Which views draw which kind of record, a line for each kind."""
    kinds: dict[str, list[str]] = {}
    for name, view in VIEWS.items():
        kinds.setdefault(DRAWN.get(view.fits, "") or "other records", []).append(name)
    lines = [f"    {kind}: {', '.join(names)}" for kind, names in sorted(kinds.items())]
    return "\n".join(
        ["", "", "    Views by the record that they draw (`ex.views.for_(record)` names those of yours):", "", *lines, ""]
    )


show.__doc__ = (show.__doc__ or "").rstrip() + _views_by_record()


def _widget(control: Control, value: Any) -> widgets.Widget:
    wide: dict[str, Any] = {"style": {"description_width": "initial"}, "description": control.label, "value": value}
    if isinstance(control, Choice) and control.ordered:
        return widgets.SelectionSlider(options=list(control.options), layout={"width": "36em"}, **wide)
    if isinstance(control, Choice):
        return widgets.Dropdown(options=list(control.options), **wide)
    if isinstance(control, Range):
        return widgets.IntSlider(min=control.low, max=control.high, **wide)
    return widgets.Checkbox(**wide)
