"""One system at a time: what it changed, its figures, the picture of its idea, and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.abilities import TEXT
from explorer.corruption.counting import gap_sentences
from explorer.corruption.strategies import corrupt
from explorer.guessing import copied, detect, guess_spans
from explorer.lessons.systems import IDEAS, by_pieces
from explorer.pages.parts import recorded
from explorer.pages.parts import training as lab
from explorer.pages.parts.opening import one_of, opened, read, traced
from explorer.shells import web
from explorer.shells.lesson import plain
from explorer.views import VIEWS

SHORT = ("mlm", "nsp", "sbo", "f1")
SHARE = 0.3  # so much is hidden in the sentence: one sentence is short


def section(text: str, shelf: dict[str, Path]) -> None:
    """Choose a system; see its idea at work on the visitor's sentence."""
    name = one_of("System", shelf, "system")
    model = opened(name)
    idea = IDEAS.get(model.preset)
    if idea is not None:
        st.markdown(idea.says)
        _figures(shelf[name], idea.figures)
        st.caption(idea.caution)
    draw = PICTURES.get(model.preset)
    if draw is not None:
        draw(name, text)
    st.markdown(f"**{plain(name)}**, {model.family}, asked now, greedily:")
    st.table(lab.able(shelf[name], None, TEXT))
    st.caption("You may conclude what this model is *for*. You may not conclude how good it is from one text.")


def _figures(folder: Path, names: tuple[str, ...]) -> None:
    """What the last check of its training found."""
    steps = [step for step in lab.read_steps(folder) if step.metrics]
    found = steps[-1].metrics if steps else {}
    with st.container(horizontal=True):
        for name in names:
            if name in found:
                st.metric(spoken(name), f"{found[name]:.3g}")


def spoken(name: str) -> str:
    """The name of a figure as it is said: short forms in capitals."""
    words = [word.upper() if word.strip(",") in SHORT else word for word in name.split()]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def measured(result: str, name: str, text: str) -> None:
    """A comparison that was recorded, whatever the sentence."""
    if recorded.there(result):
        recorded.show({result: ""})
    else:
        st.info(f"Not measured yet. `python -m explorer.experiments.worth {result}` does it.")


@st.cache_resource(max_entries=100, show_spinner="Asking the model …")
def asked(what: str, name: str, text: str) -> Any:
    """What a system makes of a sentence, in its own way."""
    model = opened(name)
    if what == "detection":
        return detect(model, text, rate=SHARE)
    if what == "gaps":
        return gap_sentences(text, tokenizer=model.tokenizer)
    made = corrupt(text, {"boundaries": "spanbert", "copied": "mlm"}[what], tokenizer=model.tokenizer, rate=SHARE)
    if what == "boundaries":
        return guess_spans(model, made)
    return copied(opened(teacher_of(name)), model, made)


def teacher_of(name: str) -> str:
    """Who taught a model; nobody for most."""
    return str((lab.plan(lab.shelf()[name]).get("teacher") or {}).get("name", ""))


CODE = {
    "detection": "trace = ex.detect(ex.load({name!r}), {text!r}, rate={share})",
    "boundaries": "from explorer.guessing import guess_spans\nmodel = ex.load({name!r})\n"
    "trace = guess_spans(model, ex.corrupt({text!r}, 'spanbert', tokenizer=model.tokenizer, rate={share}))",
    "copied": "from explorer.guessing import copied\nmodel = ex.load({name!r})\n"
    "trace = copied(ex.load({teacher!r}), model, ex.corrupt({text!r}, 'mlm', tokenizer=model.tokenizer, rate={share}))",
    "gaps": "from explorer.corruption.counting import gap_sentences\n"
    "trace = gap_sentences({text!r}, tokenizer=ex.load({name!r}).tokenizer)",
}


def own(what: str, view: str, name: str, text: str) -> None:
    """The picture that belongs to one system alone."""
    text = TEXT if what == "gaps" and text.count(".") < 2 else text  # a gap needs sentences around it
    code = lab.START + CODE[what].format(name=name, text=text, share=SHARE, teacher=teacher_of(name))
    web.show(VIEWS[view], read(lambda: asked(what, name, text)), code=code, key="system")


def found(name: str, text: str) -> None:
    """What a discriminator says of the sentence, and how it came to find what it finds."""
    own("detection", "detection", name, text)
    folder = lab.shelf()[name]
    steps, each = lab.read_steps(folder), _each(name)
    reading = "from explorer.lessons.systems import by_pieces\nfrom explorer.training.steps import steps_of\n"
    code = f"{lab.START}{reading}trace = by_pieces(tuple(steps_of(ex.models()[{name!r}].folder)), {each!r})"
    web.show(VIEWS["curves"], by_pieces(steps, each), code=code, key="by pieces")


@st.cache_data(show_spinner=False)
def _each(name: str) -> float:
    """How many pieces a step of its training reads, about."""
    return round(lab.budget(lab.shelf()[name], 1).pieces, 1)


def trace_of(view: str, name: str, text: str) -> None:
    """A view of attention."""
    code = f"{lab.START}trace = ex.trace(ex.load({name!r}), {text!r}, blocks=True)"
    web.show(VIEWS[view], read(lambda: traced(name, text)), code=code, key="system")


PICTURES: dict[str, Callable[[str, str], None]] = {
    "bert": partial(measured, "next-sentence"),
    "roberta": partial(measured, "masks"),
    "spanbert": partial(own, "boundaries", "boundaries"),
    "electra": found,
    "distilbert": partial(own, "copied", "copied"),
    "deberta": partial(trace_of, "terms"),
    "llama": partial(trace_of, "walk"),
    "olmo": partial(trace_of, "walk"),
    "olmo2": partial(trace_of, "walk"),
    "pegasus": partial(own, "gaps", "gap-sentences"),
}
