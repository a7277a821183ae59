"""The file of a homework: its steps with live boards, pictures, questions and notes, and what writes the hand-in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any

import explorer as ex
from explorer.app.homework.collecting import HomeworkStep
from explorer.app.lesson_plan import LessonPlan
from explorer.app.markup import marked_up
from explorer.models.store import models
from explorer.records import Exercise
from explorer.records.answering import wanted_form
from explorer.views import export
from explorer.views.board.module import module, style
from explorer.views.board.page import HEAD
from explorer.views.letters import POLICY, UNPACK, filled, packed
from explorer.views.live.figure import live_pack
from explorer.views.notices import notices

HERE = Path(__file__).parent
ROOM = 16_000_000  # bytes of all models: what a mail takes
FORMAT = "pre-training explorer hand-in 1"


def homework_of(plan: LessonPlan, steps: Sequence[HomeworkStep], say: Callable[[str], object] = lambda line: None) -> bytes:
    """A lesson, whose steps were collected, as a file for home; `say` hears what had no room."""
    content, packs = _content(plan, steps, say)
    identity = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
    parts = {
        "TITLE": escape(plan.title),
        "POLICY": POLICY,
        "STYLE": style(live=True) + (HERE / "homework.css").read_text("utf-8"),
        "UNPACK": UNPACK,
        "SCRIPT": (HERE / "homework.js").read_text("utf-8"),
        "MODELS": "".join(_letters(f"model-{number}", pack) for number, pack in enumerate(packs)),
        "MODULE": _letters("module", module(live=True)) if packs else "",
        "PLOTLY": _held("plotly", export.packed_plotly()) if any(step.pictures for step in steps) else "",
        "CONTENT": _letters("content", json.dumps(content | {"id": identity, "format": FORMAT}, ensure_ascii=False)),
        "NOTICES": notices("plotly.js"),
    }
    return filled(PAGE, parts).encode("utf-8", "replace")


def _letters(name: str, content: str | bytes) -> str:
    return _held(name, packed(content))


def _held(name: str, letters: str) -> str:
    """Something packed, as a part of the page."""
    return f'<script type="text/plain" id="{name}">{letters}</script>\n'


def _content(
    plan: LessonPlan, steps: Sequence[HomeworkStep], say: Callable[[str], object]
) -> tuple[dict[str, Any], list[bytes]]:
    """What the file shows, as plain values, and the models of its boards."""
    packs: dict[str, bytes] = {}
    boards: dict[tuple[str, str], int] = {}  # a sentence that a model reads, and the step that shows it
    shown = []
    for number, each in enumerate(steps, 1):
        board = (each.model, each.text)
        opens = each.board and bool(each.text) and board not in boards and _fits(each.model, packs, say)
        if opens:
            boards[board] = number
        begin = {"pack": list(packs).index(each.model), "text": each.text, "model": each.model} if opens else None
        shown.append(_plain(each) | {"board": begin, "earlier": boards.get(board, 0) if each.board and not opens else 0})
    said = {"title": plan.title, "concluded": marked_up(_sentence(plan.concluded)), "not": marked_up(plan.not_concluded)}
    return {**said, "steps": shown, "config": export.ALONE}, list(packs.values())


def _fits(name: str, packs: dict[str, bytes], say: Callable[[str], object]) -> bool:
    """Whether a model runs in the file; it is packed when it first does."""
    if name in packs:
        return True
    pack = live_pack(ex.load(name, device="cpu")) if name in models() else None
    if pack is None:
        return False
    if sum(map(len, packs.values())) + len(pack) > ROOM:
        say(f"The boards of {name} are left out: all models together may have {ROOM / 1e6:.0f} MB.")
        return False
    packs[name] = pack
    return True


def _plain(each: HomeworkStep) -> dict[str, Any]:
    """A step as plain values."""
    return {
        "title": each.title,
        "do": marked_up(each.step.do),
        "ask": _sentence(each.step.ask).replace("*", ""),
        "guesses": [_question(item) for item in each.guesses],
        "exercises": [_question(item) for item in each.exercises],
        "pictures": [export.in_both_looks(spec) | {"says": spec["says"]} for spec in each.pictures],
    }


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _question(item: Exercise) -> dict[str, Any]:
    """A question with all that its answers are judged by."""
    return {
        "question": marked_up(item.question),
        "plain": unescape(re.sub(r"<[^>]+>", "", marked_up(item.question))),
        "options": [[option, marked_up(option)] for option in item.options],
        "answer": item.answer,
        "shown": marked_up(item.shown),
        "why": marked_up(item.why),
        "digits": item.digits,
        "form": wanted_form(item),
    }


PAGE = (
    HEAD
    + """@STYLE@</style>
</head>
<body>
<main id="homework"><noscript>This page needs JavaScript.</noscript></main>
@CONTENT@@MODELS@@MODULE@@PLOTLY@<script type="module">
@UNPACK@
@SCRIPT@
</script>
@NOTICES@
</body>
</html>
"""
)
