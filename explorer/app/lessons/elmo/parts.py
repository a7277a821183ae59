"""The records of the ELMo lab, as calls that the page runs and prints."""

from __future__ import annotations

from collections import Counter, defaultdict

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.cached import cached
from explorer.app.call import Call
from explorer.app.controls import model_of, read, result_of
from explorer.app.glossary import say
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.training.finetune import TASKS
from explorer.views import VIEWS

USES = 60


def traced(text: str) -> Call:
    """One forward pass in both directions."""
    return Call(ex.trace, model_of("elmo"), text)


def letter_filters(word: str) -> Call:
    """What the letter filters find in a word."""
    return Call(ex.analysis.letter_filters, model_of("elmo"), word)


def gated(word: str) -> Call:
    """What the highway layers do with a word."""
    return Call(ex.analysis.highway_gates, model_of("elmo"), word)


def highway() -> None:
    """The highway layers on a word."""
    say(prose("elmo")("highway"))
    word = st.text_input("Word", "fishing", key="highway.word", bind="query-params", width=240)
    read(gated(word))
    notice(word, "elmo", whole=False)
    web.show(VIEWS["highway"], gated(word))


def expected(text: str) -> Call:
    """What both directions predict at every word."""
    return Call(ex.analysis.both_sides, model_of("elmo"), text)


def used(word: str) -> Call:
    """A word in many stories, each with its gold sense."""
    return Call(ex.analysis.contexts, model_of("elmo"), word, Call(ex.microworld.uses, word, USES))


@cached()
def per_word() -> tuple[float, int]:
    """How often the most frequent sense that each word has in the training labels is right for new texts, and on how many uses."""
    task = TASKS["word sense"]
    train, test = task.make(300, "train"), task.make(150, "test")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for label in train.labels:
        counts[label.split(".")[0]][label] += 1
    right = [counts[word].most_common(1)[0][0] == label for label in test.labels if (word := label.split(".")[0]) in counts]
    return sum(right) / len(right), len(right)


def filters() -> list[int]:
    """How many filters of each width read the letters."""
    return [many for _, many in result_of(model_of("elmo")).config.filters]
