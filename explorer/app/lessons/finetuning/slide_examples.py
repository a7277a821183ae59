"""The example texts of the slides: what each task reads of them, and what a model here answers where one learned the task."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.finetuning.prefixes import has_prefixed_model, written
from explorer.app.prose import prose
from explorer.records import Tokens
from explorer.views import theme

PROSE = prose("finetuning")

READS, PROBABLE = "bert", "gpt2"
ENTAILMENT, ACCEPTABLE, TAGS = "entailment", "acceptability", "tags or spans"
EXAMPLES: tuple[tuple[str, str, tuple[str, ...], str], ...] = (  # slide, task, texts, label
    (
        "L0, MultiNLI",
        ENTAILMENT,
        ("Hills and mountains are especially sanctified in Jainism.", "Jainism hates nature."),
        "contradiction",
    ),
    ("L1, GPT", ENTAILMENT, ("The man is in the doorway", "The person is near the door"), "entailment"),
    ("L2, pairs", ENTAILMENT, ("It's a snow day!", "There is snow outside."), "entails"),
    ("L0, CoLA", ACCEPTABLE, ("The wagon rumbled down the road.",), "acceptable"),
    ("L0, CoLA", ACCEPTABLE, ("The car honked down the road.",), "unacceptable"),
    ("L2, sequence labeling and spans", TAGS, ("It is a beautiful winter day in Chicago.",), ""),
)


def show_examples() -> None:
    """A row for each example, and the spans of the last one."""
    say(PROSE("examples", reads=READS, probable=PROBABLE))
    st.table([row(*example) for example in EXAMPLES])
    say(PROSE("examples: conclusion"), small=True)


def row(slide: str, task: str, texts: tuple[str, ...], label: str) -> Mapping[str, str]:
    """One example: its tokens, and what models of this world make of it."""
    tokens = opened(READS).tokens(texts if len(texts) == 2 else texts[0])
    (loss,) = read(Call(ex.analysis.text_losses, model_of(PROBABLE), (" ".join(texts),)))
    answer = read(written(texts[0], "acceptability")) if task == ACCEPTABLE and has_prefixed_model() else ""
    return {
        "slide": slide,
        "task": task,
        "text": plain(" / ".join(texts)),
        "label on the slide": label or "–",
        f"{READS} reads": plain(" ".join(_marked(tokens))),
        f"{PROBABLE}: loss per token": f"{loss:.2f}",
        "t5-tasks writes": plain(answer) or "–",
    }


def _marked(tokens: Tokens) -> list[str]:
    """The tokens, with the dagger of those that the training texts do not have."""
    unseen = tokens.unseen or (False,) * len(tokens)
    return [text + theme.UNSEEN * strange for text, strange in zip(tokens.texts, unseen, strict=True)]
