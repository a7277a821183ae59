"""The example texts of the slides: what each task reads of them, and what a model here answers where one learned the task."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning.prefixes import written
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.models.finetuned import FinetunedModel
from explorer.records import Tokens, softmax
from explorer.views import theme

PROSE = prose("finetuning")

READS, PROBABLE = "bert", "gpt2"
LEARNED = 200, 100  # labelled texts, and steps
OWN = ("The dog was tired.", "The dog was not tired.")
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
    show_entailment()
    show_entities()


def show_entailment() -> None:
    """A BERT that learns entailment now, asked about the lectures' pairs and one of the visitor's."""
    st.subheader("Does the second text follow from the first?", anchor=False)
    say(PROSE("entailment", examples=LEARNED[0]))
    with st.container(horizontal=True):
        own = tuple(
            st.text_input(label, text, key=f"entails.{label}", bind="query-params", width=400)
            for label, text in zip(("Premise", "Hypothesis"), OWN, strict=True)
        )
    notice(" ".join(own), READS, whole=False)
    if model := _learned("entailment"):
        pairs = [("yours", own, ""), *((slide, texts, label) for slide, task, texts, label in EXAMPLES if task == ENTAILMENT)]
        st.table([_judged(model, *pair) for pair in pairs])
        say(PROSE("entailment: conclusion"), small=True)


def _judged(model: FinetunedModel, slide: str, texts: tuple[str, ...], label: str) -> Mapping[str, str]:
    """A pair, and how probable the model finds each label."""
    shares = softmax(read(lambda: model.outputs((texts[0], texts[1]))["labels"]))
    words = {name: f"{share:.2f}" for name, share in zip(model.output.labels, shares, strict=True)}
    unseen = theme.UNSEEN * bool(model.tokens((texts[0], texts[1])).unseen_spans)
    return {"slide": slide, "text": plain(" / ".join(texts)) + unseen, "label on the slide": label or "–", **words}


def show_entities() -> None:
    """A BERT that learns entities now, and its tag of every word of the lecture's sentence."""
    st.subheader("Which words are names?", anchor=False)
    text = st.text_input("A sentence to tag", EXAMPLES[-1][2][0], key="text.tagged", bind="query-params", width=620)
    notice(text, READS)
    if model := _learned("entities"):
        (tags,) = read(lambda: model.classify([text]))
        say(" ".join(f"{plain(word)} **{tag}**" for word, tag in tags))
        say(PROSE("tagged: conclusion"), small=True)


def _learned(task: str) -> FinetunedModel | None:
    """The model once it has learned the task: now, or for a visitor before."""
    run = lab.tuned(READS, task, *LEARNED)
    pressed = st.button(f"Train BERT on {task}", type="primary", key=f"examples.{task}")
    return lab.trained(run, f"Learning {task}") if pressed or lab.known(run) else None


def row(slide: str, task: str, texts: tuple[str, ...], label: str) -> Mapping[str, str]:
    """One example: its tokens, and what models of this world make of it."""
    tokens = opened(READS).tokens(texts if len(texts) == 2 else texts[0])
    (loss,) = read(Call(ex.analysis.text_losses, model_of(PROBABLE), (" ".join(texts),)))
    answer = read(written(texts[0], "acceptability")) if task == ACCEPTABLE else ""
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
