"""A page for each model that runs in a page: its board, and below it what it writes. Its weights lie beside as one file, fetched once."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.corruption.questions import STORY
from explorer.app.lessons.decoding.questions import PROMPT, SOURCE
from explorer.app.site.documents import document
from explorer.errors import FileError
from explorer.models import run_folder
from explorer.models.card_figures import CARD
from explorer.models.shelf import StoredModel
from explorer.models.shelf import models as shelf
from explorer.training.objectives import OBJECTIVES
from explorer.views.board.reading import text_of
from explorer.views.live.figure import live_pack

FAMILIES = {
    "encoder": "Encoders: they read a whole text at once",
    "decoder": "Decoders: they read from left to right, and write",
    "encoder-decoder": "Encoder–decoders: they read one text and write another",
    "bilm": "Two directions, from left to right and from right to left",
    "static": "One vector for each word",
}
OPENING = {"encoder": SENTENCE, "decoder": PROMPT, "bilm": SENTENCE}
PICTURES = {  # what a page shows: its heading, and what to do there
    "board": ("Its board", "Type a sentence: the board reads it at once. Its keys are listed under <b>?</b>."),
    "directions": (
        "Its two directions",
        "Type a sentence: both directions read it at once. Choose a word to see what each expected there.",
    ),
}
PREFIX = "translate: "  # of the one model that does several tasks
FRONT = """<h1>Language models, opened</h1>
<p class="lead">Small language models that run in your browser. Type a sentence and step through the attention of a BERT, a GPT or a T5,
number by number; let one write, and see what it could have written instead.</p>
<p>The models were trained on a generated world of short, simple English stories. They know its few thousand words and nothing else.
A word that they never read is marked †.</p>
"""


@dataclass(frozen=True)
class SiteCard:
    """What the front page says of a model; `page` and the `file` of its weights are empty where it does not run in a page, or had no
    room.
    """

    name: str
    family: str
    size: str
    sentence: str
    page: str
    file: str
    bytes: int


def weight(stored: StoredModel) -> int:
    """The bytes of a model's weights."""
    return (stored.folder / run_folder.WEIGHTS).stat().st_size


def write(folder: Path, names: Sequence[str], room: int, say: Callable[[str], object]) -> tuple[list[SiteCard], list[str]]:
    """Write the pages of these models while there is room; their cards, and the names of those for which there was none."""
    (folder / "models").mkdir()
    cards, omitted = [], []
    for name in names:
        model, stored = ex.load(name, device="cpu"), shelf()[name]
        pack = live_pack(model)
        sent = b"" if pack is None else travelling(pack)
        fits = pack is not None and len(sent) <= room
        if pack is not None and not fits:
            omitted.append(name)
        file = ""
        if fits:
            file = f"{name}.{hashlib.sha256(sent).hexdigest()[:12]}.bin"
            (folder / "models" / file).write_bytes(sent)
            (folder / "models" / f"{name}.html").write_text(_page(model, stored, file, len(sent)), "utf-8")
            room -= len(sent)
            say(f"{name}: {len(sent) / 1e6:.1f} MB")
        cards.append(_card(model, stored, file, len(sent)))
    return cards, omitted


def travelling(pack: bytes) -> bytes:
    """A packed model, compressed: first the low bytes of all weights, then the high ones, which are much alike."""
    head = 4 + int.from_bytes(pack[:4], "little")
    weights = np.frombuffer(pack[head:], np.uint8).reshape(-1, 2)  # a safetensors file of 16 or 32 bits has an even length
    return gzip.compress(pack[:head] + weights[:, 0].tobytes() + weights[:, 1].tobytes(), mtime=0)


def opening_text(model: Any, strategy: str) -> str:
    """What a model reads first: for an encoder-decoder a text of the kind that it was trained on."""
    if model.family in OPENING:
        return OPENING[model.family]
    if strategy == "translation":
        return SOURCE if model.config.start == 0 and model.name == "transformer" else PREFIX + SOURCE
    damaged = ex.corrupt(STORY, strategy, tokenizer=model.tokenizer).source
    return text_of(damaged, model)


def _card(model: Any, stored: StoredModel, file: str, size: int) -> SiteCard:
    page, weights = (quote(f"models/{stored.name}.html"), quote(f"models/{file}")) if file else ("", "")
    return SiteCard(stored.name, model.family, _size_of(model), _sentence_of(stored), page, weights, size)


def _size_of(model: Any) -> str:
    """The layers and heads of a model, and how wide it is."""
    layers = [f"{name}: {layers} layers × {heads} heads" for name, (layers, heads) in model.streams.items() if name != "cross"]
    if model.family == "bilm":
        layers = [f"2 directions × {model.config.layers} LSTM layers"]
    return ", ".join([*layers, f"{model.config.dim} dimensions"])


def _sentence_of(stored: StoredModel) -> str:
    """What the training of a model asks of it."""
    objective = run_folder.described(stored.folder)["plan"].get("objective")
    if not isinstance(objective, str) or objective not in OBJECTIVES:
        raise FileError(f"{stored.folder / run_folder.RUN} names no objective that is known here. Leave {stored.name} out.")
    return OBJECTIVES[objective].sentence


def _page(model: Any, stored: StoredModel, file: str, size: int) -> str:
    plan = run_folder.described(stored.folder)["plan"]
    begin = {
        "file": quote(file),
        "text": opening_text(model, str(plan.get("strategy", ""))),
        "target": None,
        "writes": True,
        "view": {"station": "softmax"},
    }
    shown, does = PICTURES["directions" if model.family == "bilm" else "board"]
    head = f"<h1>{escape(stored.name)}</h1>\n<p>{escape(_sentence_of(stored))} {does}</p>\n"
    figure = (
        f'<link rel="stylesheet" href="../live.css">\n<h2>{shown}</h2>\n<div id="figure">{_fetching(size)}</div>\n'
        f"<noscript>A model runs in this page, for which it needs JavaScript.</noscript>\n"
        f'<script type="application/json" id="begin">{json.dumps(begin).replace("<", chr(92) + "u003c")}</script>\n'
    )
    card = f"<details><summary>How it was trained and measured</summary><pre>{escape(_text_of_card(stored))}</pre></details>"
    return document(f"{stored.name}, live", head + figure + card, up="../", scripts=("live_page.js",))


def _fetching(size: int) -> str:
    return f'<p role="status">Fetching the weights, {size / 1e6:.1f} MB …</p>'


def _text_of_card(stored: StoredModel) -> str:
    path = stored.folder / CARD
    return path.read_text("utf-8", errors="replace") if path.is_file() else "This model has no card."


def front(cards: Sequence[SiteCard], notebooks: Mapping[str, str], opening: str = "") -> str:
    """The front page: the opening, what the site is, every model as a card, and the ways to the rest."""
    groups = "".join(_group(title, [card for card in cards if card.family == family]) for family, title in FAMILIES.items())
    lab = (
        '<h2>Corruption lab</h2><p><a href="corruption.html">One text under every strategy</a>: what pre-training hides, and what '
        "the model must predict.</p>"
    )
    train = '<h2>Training</h2><p><a href="learning.html">Train a small model yourself</a>, step by step, in your browser.</p>'
    rows = "".join(f'<li><a href="notebooks/{quote(name)}.html">{escape(title)}</a></li>' for name, title in notebooks.items())
    noted = f"<h2>Notebooks</h2><p>The lessons as Python, run, with their pictures.</p><ul>{rows}</ul>" if rows else ""
    scripts = ("opening_page.js",) if opening else ()
    return document("Pre-training explorer", f"{opening}{FRONT}{groups}{train}{lab}{noted}", scripts=scripts)


def _group(title: str, cards: Sequence[SiteCard]) -> str:
    boxes = "".join(_box(card) for card in cards)
    return f'<h2>{escape(title)}</h2><div class="cards">{boxes}</div>\n' if cards else ""


def _box(card: SiteCard) -> str:
    writes = f' <a href="{card.page}#decoder">Let it write</a>' if card.page and "decoder" in card.family else ""
    opens = "See both directions" if card.family == "bilm" else "Open its board"
    ways = (
        f'<p class="ways"><a href="{card.page}">{opens}</a>{writes} <span>{card.bytes / 1e6:.1f} MB</span></p>'
        if card.page
        else '<p class="ways"><span>In the app only: explorer app</span></p>'
    )
    return (
        f'<section class="card"><h3>{escape(card.name)}</h3><p class="size">{escape(card.size)}</p>'
        f"<p>{escape(card.sentence)}</p>{ways}</section>"
    )
