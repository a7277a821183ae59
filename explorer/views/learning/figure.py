"""`ex.learning`: a small model that is trained in the page, in JupyterLab or in a file."""

from __future__ import annotations

import anywidget
import traitlets

from explorer.errors import unknown
from explorer.errors.kinds import checked
from explorer.views import theme
from explorer.views.board.page import written_page
from explorer.views.learning.module import learning_module, learning_style

TITLE = "Train a model in this page"
FAMILIES = ("decoder", "encoder", "encoder-decoder")
TASKS = ("copy", "reverse", "sort", "addition", "modular", "parity", "dyck", "two-sum")


class LearningFigure(anywidget.AnyWidget):
    """A training that runs in the page, with the settings that it begins with (`begin`); no kernel computes anything."""

    _esm = learning_module()
    _css = learning_style()
    begin = traitlets.Dict().tag(sync=True)

    def page(self) -> str:
        """The figure as one HTML page, as `ex.save(figure, "x.html")` writes it."""
        options, look = {**self.begin, "title": TITLE}, learning_style()
        page = written_page(b"", options, title=TITLE, mount="mountLearning", script=learning_module(), look=look)
        return page.decode("utf-8")


@checked
def learning(data: str = "stories", *, family: str = "decoder", mode: str = "") -> LearningFigure:
    """A small model that is trained in the page: started, paused, taken one step further and back to any moment, with every dial in reach.

    In JupyterLab, or saved with `ex.save(figure, "x.html")`: such a file needs no network and nothing installed. `data` is what it reads
    first: "stories" (3,000 short texts of the microworld, of about 290 words), "own" (a text that you paste) or a task whose answer is
    known, for example "sort" or "addition". `family` is "decoder", "encoder" or "encoder-decoder". *Save the model* writes a .zip
    that `ex.load` opens. `mode` is "light" or "dark"; without it the figure follows the notebook or the reader.

    >>> ex.learning("reverse", family="encoder-decoder").begin["settings"]["family"]
    'encoder-decoder'
    """
    for what, given, known in (("data", data, ("stories", "own", *TASKS)), ("family", family, FAMILIES)):
        if given not in known:
            raise unknown(what, given, known)
    if mode not in ("", *theme.MODES):
        raise unknown("mode", mode, theme.MODES)
    batch = 32 if family == "encoder" else 16  # of masked tokens there are fewer
    return LearningFigure(
        begin={"settings": {"family": family, "batch": batch, "source": {"data": data}}, "mode": mode or None}
    )
