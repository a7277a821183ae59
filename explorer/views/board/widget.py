"""The board in JupyterLab, and what `ex.save` writes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from explorer.errors import ChoiceError, ExplorerError, unknown
from explorer.errors.kinds import checked
from explorer.records import DecodingStep, Trace, again
from explorer.views import theme
from explorer.views.board.module import module, style
from explorer.views.board.pack import BUDGET, IN_A_FILE, pack, pack_series
from explorer.views.board.page import page
from explorer.views.board.place import check_view
from explorer.views.board.request import answered, offers, refusal_of
from explorer.views.board.stations import STATIONS, prose
from explorer.views.board.still import still


class Board(anywidget.AnyWidget):
    """A trace as a board. `view` says where it is: stream, layer, head, station, row and column, and may be set.

    Where its model is given, hands may change what it reads and how it looks: it runs once more, and `traces` holds the result.
    """

    _esm = module()
    _css = style()
    data = traitlets.Bytes().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    mode = traitlets.Unicode("").tag(sync=True)
    asks = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        traces: Sequence[Trace],
        labels: Sequence[str] = (),
        steps: Sequence[DecodingStep] = (),
        mode: str = "",
        view: dict[str, Any] | None = None,
        model: Any = None,
    ) -> None:
        self.traces, self.labels, self.steps = tuple(traces), tuple(labels), tuple(steps)
        self.model, self.before = model, [(self.traces, self.steps)]
        super().__init__(data=self._packed(BUDGET, view), view=view or {}, mode=mode, asks=offers(self.traces[0], model))
        if model is not None:
            self.on_msg(lambda _, request, __: self.answer(request))

    def answer(self, request: dict[str, Any]) -> None:
        """Do what a hand asked for: {"what": "mask", "row": 3}; "undo" goes one step back. Why it cannot be done is said on the board."""
        try:
            if request.get("what") == "undo":
                self.before = self.before[:-1] or self.before
            else:
                self.before = [*self.before, ((answered(self.traces[0], self.model, request),), ())]
        except ExplorerError as error:
            return self.send({"refused": refusal_of(error)})
        self.traces, self.steps = self.before[-1]
        self.data = self._packed(BUDGET, dict(self.view))
        return None

    def _packed(self, budget: int, view: dict[str, Any] | None) -> bytes:
        if self.labels:
            return pack_series(self.traces, self.labels, budget=budget)
        return pack(self.traces[0], budget=budget, first=_first(view), steps=self.steps)

    def page(self) -> str:
        """The board as one HTML page, as `ex.save(board, "x.html")` writes it."""
        view = dict(self.view)
        if live := self._live():
            return page(
                live,
                title=f"Board: {self.model.name}",
                mount="mountLive",
                **self._sentence(),
                view=view,
                mode=self.mode or None,
            ).decode()
        data = self._packed(IN_A_FILE * max(1, len(self.labels)), view)  # a series is as long as it was asked for
        return page(data, title=f"Board: {self.traces[-1].model}", view=view, mode=self.mode or None).decode("utf-8")

    def _live(self) -> bytes | None:
        """The model itself, where it can run in the page and reads the sentence of the trace there as it was traced."""
        last = self.traces[-1]
        if self.model is None or len(self.traces) > 1 or last.edits:
            return None
        packed = again.packed_of(self.model, prose=prose(list(STATIONS), detects=last.top is None))
        if packed is None or not np.array_equal(self.model.tokens(self._sentence()["text"]).ids, last.source.ids):
            return None
        return packed

    def _sentence(self) -> dict[str, Any]:
        """What the model read, written again from its tokens."""
        trace, decode = self.traces[-1], self.model.tokenizer.decode
        target = None if trace.target is None else decode([*trace.target.ids[1:].tolist()])
        return {"text": decode(trace.source.ids.tolist()).replace(" ' ", "'"), "target": target}

    def svg(self) -> str:
        """The weights of the chosen head, standing still."""
        return still(self.traces[-1], dict(self.view))

    def _repr_mimebundle_(self, **given: Any) -> Any:
        """The living board, and the still one where no kernel runs."""
        bundles = super()._repr_mimebundle_(**given)
        bundle, extra = bundles if isinstance(bundles, tuple) else (bundles, {})
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
    model: Any = None,
    **view: Any,
) -> Board:
    """A forward pass as one instrument to step through: in JupyterLab, or saved with `ex.save(board, "x.html")`.

    Space plays, the arrow keys step, a click holds a cell, ? lists the keys. Several traces, each with its label, are a series to
    move along with T: one text at several steps of a training, or under several masks. A decoder's text is written again, token by
    token, with D; `steps`, those of the decoding that wrote it, add the best beams. `view` is where the board begins: stream, layer,
    head, station (such as "softmax"), row, col, and what it holds and how it is looked at: held (pairs of row and column), moment,
    written (rows), words, hidden (no special tokens) and threshold. `mode` is "light" or "dark"; without it the board follows the
    notebook or the reader. With its `model`, tokens can be masked, replaced and forced, heads silenced, and the model run again on
    edited weights.

    >>> ex.board(ex.trace(ex.load("bert"), "It was tired.", blocks=True), station="softmax").view["station"]
    'softmax'
    """
    if mode not in ("", *theme.MODES):
        raise unknown("mode", mode, theme.MODES)
    check_view(view)
    several = not isinstance(trace, Trace) and isinstance(trace, Sequence) and not isinstance(trace, str)
    if several and not trace:
        raise ChoiceError("A series needs at least one trace.")
    traces: list[Any] = [*trace] if several else [trace]  # type: ignore[misc]
    if view and "stream" not in view and isinstance(traces[0], Trace) and traces[0].attention:
        view = {"stream": traces[0].attention[0].stream, "layer": 0, **view}
    named = [str(label) for label in labels] or [str(number) for number in range(1, len(traces) + 1)]
    if model is not None and (several or not hasattr(model, "tokens")):
        raise ChoiceError("model is the model of one trace, for example ex.load('bert'); a series has none to run again.")
    return Board(traces, named if several else (), tuple(steps), mode, view, model)
