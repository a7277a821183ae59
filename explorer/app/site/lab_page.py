"""The corruption lab as recorded pictures: one text under every strategy of pre-training, as the app draws it."""

from __future__ import annotations

import gzip
import json
from html import escape
from pathlib import Path
from typing import Any

import explorer as ex
from explorer.app.lessons.corruption.questions import STORY
from explorer.app.site.documents import document
from explorer.corruption.strategies import STRATEGIES, entry_of
from explorer.text.sentinels import with_sentinels
from explorer.views import VIEWS, theme
from explorer.views.export import ALONE, captioned, get_plotlyjs, prose
from explorer.views.notices import FILE as NOTICES
from explorer.views.spoken import spoken
from explorer.views.view import READING

MODEL, SEED = "bert", 0
INTRO = """<h1>Corruption lab</h1>
<p>Pre-training hides or damages a text and asks the model for what is missing. Below, one text under {count} strategies: what the model
reads, and which tokens enter the loss. Each picture is one draw, of seed {seed}, with the tokens of <code>{model}</code>.</p>
<blockquote>{text}</blockquote>
"""


def write(folder: Path) -> int:
    """Write the page and its pictures; how many there are."""
    model: Any = ex.load(MODEL, device="cpu")
    tokenizer, options = with_sentinels(model.tokenizer), dict[str, Any](sample=ex.analysis.generator(model, SEED))
    figures: dict[str, Any] = {}
    for name in STRATEGIES:
        given = {key: value for key, value in options.items() if key in entry_of(name).options}
        figures[name] = VIEWS["corruption"](ex.corrupt(STORY, name, tokenizer=tokenizer, seed=SEED, **given))
    _compressed(folder / "plotly.bin", get_plotlyjs())
    (folder / "notices.md").write_text(NOTICES.read_text("utf-8"), "utf-8")
    drawn = {name: _plain(figure) for name, figure in figures.items()}
    _compressed(folder / "corruption.bin", json.dumps({"figures": drawn, "config": ALONE}, ensure_ascii=False))
    (folder / "corruption.html").write_text(_page(figures), "utf-8")
    return len(figures)


def _plain(figure: Any) -> dict[str, Any]:
    """The figure without a look, and its look in light and dark."""
    looks = {mode: theme.look(figure, mode).to_plotly_json() for mode in theme.MODES}
    bare = json.loads(figure.update_layout(template=None).to_json())
    return {"data": bare["data"], "layout": bare["layout"], "looks": json.loads(json.dumps(looks, default=list))}


def _compressed(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def _page(figures: dict[str, Any]) -> str:
    intro = INTRO.format(count=len(figures), seed=SEED, model=MODEL, text=escape(STORY))
    links = " ".join(f'<a href="#{name}">{escape(name)}</a>' for name in figures)
    parts = "".join(_section(name, figure) for name, figure in figures.items())
    caption = f"<details><summary>{READING}</summary>{captioned(VIEWS['corruption'].caption)}</details>"
    lab = f'<div id="lab" data-plotly="plotly.bin" data-pictures="corruption.bin">{parts}</div>'
    body = f'{intro}<p class="places">{links}</p>{caption}{lab}'
    return document("Corruption lab", body, scripts=("lab_page.js",))


def _section(name: str, figure: Any) -> str:
    height = int(figure.layout.height or 450)
    return (
        f'<section id="{name}"><h2>{escape(name)}</h2>{prose(entry_of(name).says)}'
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">'
        f'<div class="picture" data-picture="{name}" style="height:{height}px" role="img" '
        f'aria-label="{escape(spoken(figure))}"></div></div></section>\n'
    )
