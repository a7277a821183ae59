"""Scoring what a model wrote, or answered: BLEU and ROUGE of two texts, and the metrics of labels and grades."""

from __future__ import annotations

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import read
from explorer.app.glossary import say
from explorer.app.lessons.decoding import metric_questions as lesson
from explorer.app.prose import prose
from explorer.errors import ChoiceError
from explorer.training.finetune.metrics import accuracy, correlation, macro_f1, matthews
from explorer.views import VIEWS

PROSE = prose("decoding")


def scored(texts: str, references: str) -> Call:
    """BLEU and ROUGE of the lines of two boxes."""
    return Call(ex.decoding.score_texts, texts.splitlines(), references.splitlines())


@st.fragment
def texts() -> None:
    """Two texts, and how much they share."""
    say(PROSE("BLEU"))
    st.latex(r"\mathrm{BLEU} = \min\left(1, e^{\,1 - r/c}\right)\cdot\Big(\prod_{n=1}^{4} p_n\Big)^{1/4}")
    with st.container(horizontal=True):
        mine = st.text_area("Generated, one sentence on each line", lesson.WRITTEN, key="scored", bind="query-params")
        right = st.text_area("References, one on each line", lesson.REFERENCE, key="reference", bind="query-params")
    read(scored(mine, right))
    web.show(VIEWS["text-scores"], scored(mine, right))


@st.fragment
def labels() -> None:
    """Labels and grades that were predicted, beside the gold ones."""
    say(PROSE("labels"))
    with st.container(horizontal=True):
        predicted = st.text_input("Predicted labels", lesson.SAID, key="said", bind="query-params")
        gold = st.text_input("Gold labels", lesson.GOLD, key="gold", bind="query-params")
    rows = read(partial(of_labels, predicted.split(), gold.split()))
    st.table([{"metric": name, "value": value} for name, value in rows.items()])
    say(PROSE("labels: conclusion"), small=True)


def of_labels(predicted: list[str], gold: list[str]) -> dict[str, str]:
    """The metrics of predicted labels; Spearman's correlation where they are numbers."""
    if not predicted or len(predicted) != len(gold):
        raise ChoiceError(
            f"There are {len(predicted)} predicted and {len(gold)} gold labels. Write equally many of both, separated by spaces."
        )
    scores = {
        "accuracy": accuracy(predicted, gold),
        "macro F1": macro_f1(predicted, gold),
        "Matthews correlation": matthews(predicted, gold),
    }
    most = max(set(gold), key=gold.count)
    scores |= {f"accuracy, always *{most}*": accuracy([most] * len(gold), gold)}
    scores |= {f"Matthews, always *{most}*": matthews([most] * len(gold), gold)}
    rows = {name: f"{value:.3f}" for name, value in scores.items()}
    try:
        rows["Spearman correlation"] = f"{correlation(predicted, gold):.3f}"
    except ValueError:
        rows["Spearman correlation"] = "– (for numbers, such as grades from 0 to 5)"
    return rows


def show_metrics() -> None:
    """Both cards."""
    texts()
    st.subheader("Labels and grades", anchor=False)
    labels()
