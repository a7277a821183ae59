"""`ex.live`: a model that runs in the page, in JupyterLab or in a file: its board, and below it a text that it writes."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from explorer.errors import ChoiceError, unknown
from explorer.errors.kinds import check_kind, checked
from explorer.records import again
from explorer.views import theme
from explorer.views.board.module import module, style
from explorer.views.board.page import page
from explorer.views.board.stations import STATIONS, prose
from explorer.views.packed_module import packed_module


class Live(anywidget.AnyWidget):
    """A model with the sentence that it begins with (`reads`); what is typed is computed in the page, without a kernel."""

    _esm = packed_module(module(live=True))
    _css = style(live=True)
    live = traitlets.Bytes().tag(sync=True)
    reads = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    mode = traitlets.Unicode("").tag(sync=True)
    writes = traitlets.Bool(True).tag(sync=True)

    def __init__(self, name: str, pack: bytes, reads: dict[str, Any], mode: str = "") -> None:
        self.name = name
        super().__init__(live=pack, reads=reads, mode=mode)

    def page(self) -> str:
        """The figure as one HTML page, as `ex.save(figure, "x.html")` writes it."""
        begin = {**self.reads, "view": self.view, "mode": self.mode or None, "writes": self.writes}
        return page(self.live, title=f"{self.name}, live", mount="mountLive", **begin).decode("utf-8")


@checked
def live(model: Any, text: str, *, target: str = "", mode: str = "") -> Live:
    """A model that runs in the page: its board reads what is typed, and below it the model writes, token by token.

    In JupyterLab, or saved with `ex.save(figure, "x.html")`: such a file needs no network and nothing installed. A decoder goes on with
    `text`, greedily, by sampling or with beams; an encoder-decoder writes for `text`, and its board reads `target`, which is what it
    writes greedily where none is given. An encoder has the board alone; an ELMo shows what its two directions expect. `mode` is
    "light" or "dark"; without it the figure follows the notebook or the reader. Our Transformers and ELMos can run in a page; any
    other model is shown by `ex.board(ex.trace(model, text))`.

    >>> ex.live(ex.load("gpt2"), "The dog was hungry, so").name
    'gpt2'
    """
    check_kind("text", text, str)
    if mode not in ("", *theme.MODES):
        raise unknown("mode", mode, theme.MODES)
    pack = live_pack(model)
    if pack is None:
        raise ChoiceError(
            "live takes a Transformer or an ELMo that ex.load or ex.fit made; "
            f"{getattr(model, 'name', type(model).__name__)} does not run in a page. Show it with ex.board(ex.trace(model, text))."
        )
    return Live(model.name, pack, {"text": text, "target": target or None, "edits": []}, mode)


def live_pack(model: Any) -> bytes | None:
    """A model as a page reads it, with the words of the board; None for one that cannot run there."""
    return again.packed_of(
        model, prose=prose(list(STATIONS), detects=getattr(getattr(model, "config", None), "replaced", False))
    )
