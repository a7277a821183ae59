"""The board in JupyterLab, and what `ex.save` writes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from explorer.errors import ChoiceError, unknown
from explorer.errors.kinds import check_kind, checked
from explorer.records import DecodingStep, Trace
from explorer.views import theme
from explorer.views.board.module import module, style
from explorer.views.board.pack import BUDGET, IN_A_FILE, pack, pack_series
from explorer.views.board.page import page
from explorer.views.board.still import still


class Board(anywidget.AnyWidget):
    """A trace as a board. `view` says where it is: stream, layer, head, station, row and column, and may be set."""

    _esm = module()
    _css = style()
    data = traitlets.Bytes().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    mode = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        traces: Sequence[Trace],
        labels: Sequence[str] = (),
        steps: Sequence[DecodingStep] = (),
        mode: str = "",
        view: dict[str, Any] | None = None,
    ) -> None:
        self.traces, self.labels, self.steps = tuple(traces), tuple(labels), tuple(steps)
        super().__init__(data=self._packed(BUDGET, view), view=view or {}, mode=mode)

    def _packed(self, budget: int, view: dict[str, Any] | None) -> bytes:
        if self.labels:
            return pack_series(self.traces, self.labels, budget=budget)
        return pack(self.traces[0], budget=budget, first=_first(view), steps=self.steps)

    def page(self) -> str:
        """The board as one HTML page, as `ex.save(board, "x.html")` writes it."""
        view = dict(self.view)
        data = self._packed(IN_A_FILE * max(1, len(self.labels)), view)  # a series is as long as it was asked for
        return page(data, title=f"Board: {self.traces[-1].model}", view=view, mode=self.mode or None).decode("utf-8")

    def svg(self) -> str:
        """The weights of the chosen head, standing still."""
        return still(self.traces[-1], dict(self.view))

    def _repr_mimebundle_(self, **given: Any) -> Any:
        """The living board, and the still one where no kernel runs."""
        found = super()._repr_mimebundle_(**given)
        bundle, extra = found if isinstance(found, tuple) else (found, {})
        return {**(bundle or {}), "image/svg+xml": self.svg()}, extra


def _first(view: dict[str, Any] | None) -> tuple[str, int] | None:
    """The layer that a view shows."""
    return (str(view["stream"]), int(view.get("layer", 0))) if view and "stream" in view else None


@checked
def board(
    trace: Trace | Sequence[Trace],
    *,
    labels: Sequence[object] = (),
    steps: Sequence[DecodingStep] = (),
    mode: str = "",
    **view: Any,
) -> Board:
    """A forward pass as one instrument to step through: in JupyterLab, or saved with `ex.save(board, "x.html")`.

    Space plays, the arrow keys step, a click holds a cell, ? lists the keys. Several traces, each with its label, are a series to
    move along with T: one text at several steps of a training, or under several masks. A decoder's text is written again, token by
    token, with D; `steps`, those of the decoding that wrote it, add the best beams. `view` is where the board begins: stream, layer,
    head, station (such as "softmax"), row, col. `mode` is "light" or "dark"; without it the board follows the notebook or
    the reader.

    >>> ex.board(ex.trace(ex.load("bert"), "It was tired.", blocks=True), station="softmax").view["station"]
    'softmax'
    """
    if mode not in ("", *theme.MODES):
        raise unknown("mode", mode, theme.MODES)
    for name in view:
        if name not in VIEW:
            raise unknown("choice of the board", name, VIEW)
        check_kind(name, view[name], str if name in ("stream", "station") else int | None)
    several = not isinstance(trace, Trace) and isinstance(trace, Sequence) and not isinstance(trace, str)
    if several and not trace:
        raise ChoiceError("A series needs at least one trace.")
    traces: list[Any] = [*trace] if several else [trace]  # type: ignore[misc]
    if view and "stream" not in view and isinstance(traces[0], Trace) and traces[0].attention:
        view = {"stream": traces[0].attention[0].stream, "layer": 0, **view}
    named = [str(label) for label in labels] or [str(number) for number in range(1, len(traces) + 1)]
    return Board(traces, named if several else (), tuple(steps), mode, view)


VIEW = ("stream", "layer", "head", "station", "row", "col")
