"""The lecture's sentence, in all its spellings: what to expect of it, computed from the models that are there."""

from __future__ import annotations

import re

import streamlit as st

from explorer.app.cached import cached
from explorer.app.controls import WARNING, opened, result_of, trace_of
from explorer.app.lessons import SENTENCE
from explorer.records import softmax

SPELLINGS = re.compile(r"The animal (didn['’´]t|did not) cross the street because it was too (tired|wide) ?\.?")
NOUNS = ("animal", "street")
FILLS, SUPERVISED = "bert", "bert-told"


def is_lectured(text: str) -> bool:
    """Whether a text is the lecture's sentence, with either reason.

    >>> is_lectured(LECTURED), is_lectured("The animal did not cross the street because it was too wide"), is_lectured("A dog.")
    (True, True, False)
    """
    return SPELLINGS.fullmatch(text.strip()) is not None


def warn_of_lectured(text: str) -> None:
    """Say what to expect of the lecture's sentence."""
    if is_lectured(text):
        st.info(expected_of(text.strip()))


@cached()
def expected_of(text: str) -> str:
    """What models make of the lecture's sentence: which noun one fills in, and where the head attends that was trained to find it."""
    chances = " and ".join(f"*{noun}* {share:.2f}" for noun, share in filled(text).items())
    first, here = (f"*{attended(each)}*" for each in (SENTENCE, text))
    return (
        f"{WARNING} Where *the [MASK]* takes the place of *it*, {FILLS} gives {chances}. "
        f"The supervised head of {SUPERVISED} attends from *it* to {first} in the opening sentence, here to {here}. "
        "[Tired or wide?](heads?part=tired-or-wide) asks several models about both reasons."
    )


def filled(text: str) -> dict[str, float]:
    """The probability of each noun in the place of *it*."""
    model = opened(FILLS)
    vocabulary = model.tokenizer.vocabulary
    tokens = model.tokens(text.replace(" it ", f" the {model.tokenizer.text_of(vocabulary.mask)} "))
    row = softmax(model.logits(tokens)[list(tokens.ids).index(vocabulary.mask)])
    return {noun: float(row[model.tokenizer.core.token_to_id(noun)]) for noun in NOUNS}


def attended(text: str) -> str:
    """The token to which the supervised head attends most from *it*."""
    trace = result_of(trace_of(SUPERVISED, text))
    texts = trace.source.texts
    weights = trace.at("encoder", opened(SUPERVISED).config.layers - 1).weights[0, texts.index("it")]
    return str(texts[int(weights.argmax())])
