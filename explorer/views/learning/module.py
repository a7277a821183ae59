"""The JavaScript that trains in a page, joined to one module, with the short texts that it can learn from."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from explorer.views.board.module import ENGINE, HOMES, LIVE_FOLDER, PLACE, board_files, joined_files, stage, style
from explorer.views.board.stations import STATIONS, prose

FOLDER = Path(__file__).parent / "js"
DIALS = Path(__file__).parent / "dials.json"  # the settings of a training and their values
TEXTS = Path(__file__).parent / "stories.txt"  # written by studies/short_stories.py
BACKWARD = ("products", "tape", "attention", "network", "optimisers")  # the backward pass
TRAINS = (
    "settings",
    "shapes",
    "tasks",
    "reading",
    "batches",
    "zipped",
    "training",
    "answers",
)  # what computes a training with it, in a worker
SHOWS = (
    "settings",
    "dials",
    "curves",
    "guesses",
    "moments",
    "opened",
    "links",
    "runs",
    "learning",
)  # what asks it, and shows the answers
TAKEN = (  # from the engine of models in a page
    "ACTIVATIONS, SLOPES, GATED, POSITIONS, bucketOf, Transformer, Tokenizer, openWeights, sentenceOf, LiveModel, ANSWERS"
)
BOARD = "modeOf, whenTurned, element, Engine, LiveBoard"  # from what shows a model in a page
STORIES = '/*STORIES*/ { train: "", held: "" }'  # of the texts, in reading.js
SET = "/*DIALS*/ {}"  # of the settings, in settings.js
PROSE = "/*PROSE*/ {}"  # of what a board says, in training.js


@lru_cache(maxsize=1)
def computing() -> str:
    """What computes a training, as the body of a function."""
    taken = _own(TAKEN, joined_files(LIVE_FOLDER, ENGINE))
    train, held = TEXTS.read_text("utf-8").strip().split("\n\n")
    said = {STORIES: {"train": train, "held": held}, PROSE: prose(list(STATIONS))}
    joined = _files((*BACKWARD, *TRAINS))
    for place, filling in said.items():
        joined = joined.replace(place, json.dumps(filling))
    return f"{taken}\n{joined}"


@lru_cache(maxsize=1)
def learning_module() -> str:
    """One ES module: `mountLearning` shows a training, and the default export serves the hosts Streamlit and anywidget."""
    engine = f"() => {{\n{computing()}\nreturn {{ answering: trainingAnswers, LiveModel }};\n}}"
    homes = joined_files(LIVE_FOLDER, tuple(name for name in HOMES if name != "homes")).replace(PLACE, engine)
    board = f"{board_files()}\n{_own('element, Engine, LiveBoard', f'{stage()}{homes}')}"
    shows = f"{_own(BOARD, board)}\n{_files(SHOWS)}"
    return f"{shows}\nexport {{ mountLearning, learningHome as default }};\n"


def _files(names: tuple[str, ...]) -> str:
    """Files of this folder as one, with the settings."""
    return joined_files(FOLDER, names).replace(SET, DIALS.read_text("utf-8").strip())


def _own(names: str, script: str) -> str:
    """These names of a script; all others are its own."""
    return f"const {{ {names} }} = (() => {{\n{script}\nreturn {{ {names} }};\n}})();"


@lru_cache(maxsize=1)
def learning_style() -> str:
    """The style of a training: that of the board, and its own."""
    return style(live=True) + (FOLDER / "learning.css").read_text("utf-8")
