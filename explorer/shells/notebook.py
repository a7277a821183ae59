"""Views in JupyterLab: the controls as widgets, the picture below them, the caption below that."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from explorer.errors import unknown
from explorer.shells.export import prose, themed
from explorer.views import VIEWS, Choice, Control, Range, View, theme


class Shown(widgets.VBox):
    """A view on the screen of a notebook. `figure` is the picture as it stands, `choices` what is chosen."""

    def __init__(self, view: View, record: Any, mode: str, given: dict[str, Any]) -> None:
        self.view, self.record, self.mode = view, record, mode
        start = view.choices(record, given)
        self.controls = {name: _widget(control, start[name]) for name, control in view.controls(record).items()}
        self.figure = go.FigureWidget(self._drawn())
        for control in self.controls.values():
            control.observe(self._redraw, names="value")
        row = widgets.HBox(list(self.controls.values()), layout={"flex_flow": "row wrap"})
        super().__init__(
            [row, self.figure, widgets.HTML(f"<div style='max-width:60em;line-height:1.5'>{prose(view.caption)}</div>")]
        )

    @property
    def choices(self) -> dict[str, Any]:
        """What is chosen now."""
        return {name: control.value for name, control in self.controls.items()}

    def _drawn(self) -> go.Figure:
        figure = themed(self.view(self.record, **self.choices), self.mode)
        for trace in figure.data:
            if trace.type == "heatmap":  # a notebook's messages are JSON, which has no NaN; None is drawn as the same gap
                trace.z = np.where(np.isnan(np.asarray(trace.z)), None, trace.z)
        return figure

    def _redraw(self, change: object) -> None:
        fresh = self._drawn()
        with self.figure.batch_update():
            if [t.type for t in self.figure.data] == [t.type for t in fresh.data]:
                for old, new in zip(self.figure.data, fresh.data, strict=True):
                    old.update(new.to_plotly_json(), overwrite=True)
            else:
                self.figure.data = []
                self.figure.add_traces(list(fresh.data))
            self.figure.layout = fresh.layout


def show(view: View | str, record: Any, *, mode: str = "light", **choices: Any) -> Shown:
    """Show a view of a record, with its controls. `view` is one of `ex.views` or its name; `choices` are where it starts."""
    if isinstance(view, str):
        if view not in VIEWS:
            raise unknown("view", view, VIEWS)
        view = VIEWS[view]
    if not isinstance(view, View):
        raise unknown("view", view, VIEWS)
    if mode not in theme.MODES:
        raise unknown("mode", mode, theme.MODES)
    return Shown(view, record, mode, choices)


def _widget(control: Control, value: Any) -> widgets.Widget:
    wide: dict[str, Any] = {"style": {"description_width": "initial"}, "description": control.label, "value": value}
    if isinstance(control, Choice):
        return widgets.Dropdown(options=list(control.options), **wide)
    if isinstance(control, Range):
        return widgets.IntSlider(min=control.low, max=control.high, **wide)
    return widgets.Checkbox(**wide)
