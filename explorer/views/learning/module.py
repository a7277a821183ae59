"""The JavaScript that trains in a page, joined to one module, with the short texts that it can learn from."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from explorer.views.board.module import ENGINE, LIVE_FOLDER, PLACE, joined_files, style
from explorer.views.board.module import FOLDER as BOARD_FOLDER

FOLDER = Path(__file__).parent / "js"
TEXTS = Path(__file__).parent / "stories.txt"  # written by studies/short_stories.py
BACKWARD = ("products", "tape", "attention", "network", "optimisers")  # the backward pass
TRAINS = (
    "settings",
    "shapes",
    "tasks",
    "reading",
    "batches",
    "training",
    "zipped",
    "answers",
)  # what computes a training with it, in a worker
SHOWS = ("settings", "dials", "curves", "guesses", "moments", "learning")  # what asks it, and shows the answers
TAKEN = (  # from the engine of models in a page
    "ACTIVATIONS, SLOPES, GATED, POSITIONS, bucketOf, Transformer, Tokenizer, openWeights, sentenceOf"
)
STORIES = '/*STORIES*/ { train: "", held: "" }'  # of the texts, in reading.js


@lru_cache(maxsize=1)
def computing() -> str:
    """What computes a training, as the body of a function."""
    taken = f"const {{ {TAKEN} }} = (() => {{\n{joined_files(LIVE_FOLDER, ENGINE)}\nreturn {{ {TAKEN} }};\n}})();"
    train, held = TEXTS.read_text("utf-8").strip().split("\n\n")
    return f"{taken}\n{joined_files(FOLDER, (*BACKWARD, *TRAINS))}".replace(STORIES, json.dumps({"train": train, "held": held}))


@lru_cache(maxsize=1)
def learning_module() -> str:
    """One ES module: `mountLearning` shows a training, and the default export serves the hosts Streamlit and anywidget."""
    engine = f"() => {{\n{computing()}\nreturn {{ answering: trainingAnswers, LiveModel: null }};\n}}"
    asks = joined_files(LIVE_FOLDER, ("engine",)).replace(PLACE, engine)
    asks = (
        f"const {{ Engine }} = (() => {{\n{asks}\nreturn {{ Engine }};\n}})();"  # in functions, where their names are their own
    )
    shows = "\n".join(
        (joined_files(BOARD_FOLDER, ("mode",)), joined_files(LIVE_FOLDER, ("element",)), asks, joined_files(FOLDER, SHOWS))
    )
    return f"{shows}\nexport {{ mountLearning, learningHome as default }};\n"


@lru_cache(maxsize=1)
def learning_style() -> str:
    """The style of a training: that of the board, and its own."""
    return style() + (FOLDER / "learning.css").read_text("utf-8")
