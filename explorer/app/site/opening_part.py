"""The opening on the front page: what four models expect in each gap of one sentence, recorded; what is typed, they answer in the page."""

from __future__ import annotations

import json
from collections.abc import Mapping

import explorer as ex
from explorer.app.lessons.start.questions import TEXT, WORD
from explorer.app.opening_record import opening_record
from explorer.views.titles import TITLES

PAGES = ["models/bert.html", "learning.html", "models/gpt2.html"]  # to which its doors lead
PART = """<link rel="stylesheet" href="opening.css">
<div id="opening"><p role="status">Opening …</p></div>
<script type="application/json" id="record">{record}</script>
"""


def front_part(files: Mapping[str, str]) -> str:
    """The opening as a part of the front page; nothing where one of its models is not on the site. `files` hold the weights, by model."""
    if not set(TITLES) <= set(files):
        return ""
    record = opening_record({name: ex.load(name, device="cpu") for name in TITLES}, files, TEXT, WORD)
    told = {"record": record | {"script": "live.js"}, "word": WORD, "pages": PAGES}
    return PART.format(record=json.dumps(told, separators=(",", ":")).replace("<", "\\u003c"))
