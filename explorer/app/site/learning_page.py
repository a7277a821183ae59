"""The page on which a reader trains a small model."""

from __future__ import annotations

from pathlib import Path

from explorer.app.site.documents import document
from explorer.views.learning.figure import TITLE

INTRO = """<h1>{title}</h1>
<p>Your browser trains this model, on short stories, on a text of yours or on a task. Nothing that you type leaves this page.</p>
<link rel="stylesheet" href="learning.css">
<div id="figure"><p role="status">Preparing the texts …</p></div>
<noscript>A model is trained in this page, for which it needs JavaScript.</noscript>
"""


def write(folder: Path) -> None:
    """Write the page."""
    page = document(TITLE, INTRO.format(title=TITLE), scripts=("learning_page.js",))
    (folder / "learning.html").write_text(page, "utf-8")
