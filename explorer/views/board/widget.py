"""The board in JupyterLab, and what `ex.save` writes of it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from explorer.errors import ChoiceError, ExplorerError, repeated, unknown
from explorer.errors.kinds import checked
from explorer.records import DecodingStep, Trace, again
from explorer.views import theme
from explorer.views.board.beams import moments
from explorer.views.board.module import module, style
from explorer.views.board.pack import BUDGET, IN_A_FILE, pack, pack_series
from explorer.views.board.page import page
from explorer.views.board.place import check_place, check_view
from explorer.views.board.reading import texts_of
from explorer.views.board.request import answered, offers, reads_again, refusal_of
from explorer.views.board.stations import STATIONS, prose
from explorer.views.board.still import still
from explorer.views.cell_widgets import note_shown
from explorer.views.packed_module import packed_module


class Board(anywidget.AnyWidget):
    """A trace as a board. `view` says where it is: stream, layer, head, station, row and column, and may be set.

    Where its model is given, hands may change what it reads and how it looks: a small model of ours runs in the page itself, which
    needs no kernel, and another one runs here once more. `traces` holds the result.
    """

    _esm = packed_module(module(live=True))
    _css = style()
    data = traitlets.Bytes().tag(sync=True)
    live = traitlets.Bytes().tag(sync=True)
    reads = traitlets.Dict().tag(sync=True)
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
        self._traces, self.labels, self.steps = tuple(traces), tuple(labels), tuple(steps)
        self.model, self.before = model, [(self._traces, self.steps)]
        live = self._run_in_the_page()
        shown = live or {"data": self._packed(BUDGET, view), "asks": offers(self._traces[0], model)}
        super().__init__(view=view or {}, mode=mode, **shown)  # all in its first message: a busy kernel can lose a second one
        self._shown = self.reads
        if not live and model is not None:
            self.on_msg(lambda _, request, __: self.answer(request))

    def _run_in_the_page(self) -> dict[str, Any]:
        """The model itself and what it reads, where it can run in the page and reads there what was traced; else nothing."""
        last = self._traces[-1]
        texts = None if self.model is None or self.labels or not last.attention else texts_of(last, self.model)
        if texts is None:
            return {}
        live = again.packed_of(self.model, prose=prose(list(STATIONS), detects=last.top is None))
        if not live:
            return {}
        return {"live": live, "reads": {**texts, "edits": []}, "asks": {"decoding": moments(last, self.steps)}}

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What is shown: one trace, or those of a series. What was typed and edited in the page is traced when it is asked for."""
        if self.live and self.reads != self._shown:
            self._traces, self.steps = (reads_again(self._traces[0], self.model, self.reads),), ()
            self._shown = self.reads
        return self._traces

    def answer(self, request: dict[str, Any]) -> None:
        """Do what a hand asked for: {"what": "mask", "row": 3}; "undo" goes one step back. Why it cannot be done is said on the board."""
        try:
            if request.get("what") == "undo":
                self.before = self.before[:-1] or self.before
            else:
                self.before = [*self.before, ((answered(self.traces[0], self.model, request),), ())]
        except ExplorerError as error:
            return self.send({"refused": refusal_of(error)})
        self._traces, self.steps = self.before[-1]
        self.data = self._packed(BUDGET, dict(self.view))
        return None

    def _packed(self, budget: int, view: dict[str, Any] | None) -> bytes:
        if self.labels:
            return pack_series(self.traces, self.labels, budget=budget)
        return pack(self.traces[0], budget=budget, first=_first(view), steps=self.steps)

    def page(self) -> str:
        """The board as one HTML page, as `ex.save(board, "x.html")` writes it."""
        view, mode = dict(self.view), self.mode or None
        if self.live:
            title, begin = f"Board: {self.model.name}", {**self.reads, **self.asks}
            return page(self.live, title=title, mount="mountLive", **begin, view=view, mode=mode).decode()
        data = self._packed(IN_A_FILE * max(1, len(self.labels)), view)  # a series is as long as it was asked for
        return page(data, title=f"Board: {self.traces[-1].model}", view=view, mode=mode).decode("utf-8")

    def svg(self) -> str:
        """The weights of the chosen head, standing still."""
        return still(self.traces[-1], dict(self.view))

    def _repr_mimebundle_(self, **given: Any) -> Any:
        """The living board, and the still one where no kernel runs; as HTML it is seen in a notebook that nobody has trusted yet, too."""
        note_shown(self)
        bundles = super()._repr_mimebundle_(**given)
        bundle, extra = bundles if isinstance(bundles, tuple) else (bundles, {})
        drawn = self.svg()
        image = f'<img alt="A board: its first picture" src="data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}">'
        return {
            **(bundle or {}),
            "image/svg+xml": drawn,
            "text/html": image,
            "text/plain": "A board. Trust the notebook to see it.",
        }, extra


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
    edited weights; one of ours also reads whatever is typed on its board, in a file as well.

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
        view = {"stream": traces[0].attention[0].stream, "layer": traces[0].attention[0].layer, **view}
        check_place(view, traces[0])
    named = [label if isinstance(label, str) else repeated(label) for label in labels] or [
        str(number) for number in range(1, len(traces) + 1)
    ]
    if model is not None and (several or not hasattr(model, "outputs_many")):
        raise ChoiceError("model is the model of one trace, for example ex.load('bert'); a series has none to run again.")
    return Board(traces, named if several else (), tuple(steps), mode, view, model)
