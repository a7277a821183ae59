"""One system at a time: what it changed, its figures, the picture of its idea, and what it can do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

import explorer as ex
from explorer.analysis.capabilities import TEXT
from explorer.analysis.masks import losses_of
from explorer.app import board, recorded, web
from explorer.app.cached import cached
from explorer.app.call import Call
from explorer.app.controls import at_the_source, model_of, one_of, opened, read, trace_of
from explorer.app.exercises import plain
from explorer.app.glossary import lead, say
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import questions as lesson
from explorer.app.lessons.training.systems_questions import (
    COPYING,
    COUNTED,
    IDEAS,
    OWN,
    beside_copying,
    beside_counting,
    new_tokens,
    over_seeds,
    teacher_of,
)
from explorer.models.card_figures import command, every_seed, shipped_figures
from explorer.models.presets import PRESETS
from explorer.models.store import models
from explorer.training.interpolation import fresh
from explorer.views import VIEWS

SHORT = ("mlm", "nsp", "sbo", "f1", "bleu")
SHARE = 0.3  # the masking rate: one sentence is short
SEED = 7  # of ELECTRA's draws: the generator replaces several tokens of the story
STORIES, WORDS = 16, 40  # that are read with new words, and how much of each


def show_system(text: str, shelf: dict[str, Path]) -> None:
    """Choose a system; see its idea at work on the visitor's sentence."""
    name = one_of("System", shelf, "system")
    model = read(partial(opened, name))
    as_preset = as_its_preset(name, model.preset)
    idea = OWN.get(name) or (IDEAS.get(model.preset) if as_preset else None)
    if idea is not None:
        say_rest = lead(idea.says)
    draw = PICTURES.get(model.preset)
    if draw is not None and as_preset and name not in OWN:
        draw(name, text)
    if idea is not None:
        say_rest()
        with st.container(horizontal=True):
            _figures(shelf[name], idea.figures)
            _figures(shelf[name], idea.new, ", new words", "test")
        say(over_seeds(every_seed(shelf[name]), idea.figures, command(shelf[name])), small=True)
        say(idea.caution, small=True)
    if idea is not None and idea.new == COUNTED:
        _on_new_words(name, shelf[name])
    elif idea is not None and idea.new == COPYING:
        say(beside_copying(shipped_figures(shelf[name], "test")))
    elif note := lesson.new_words(*(shipped_figures(shelf[name], split) for split in ("validation", "test"))):
        say(note, small=True)
    say(f"**{plain(name)}**, {model.family}, tried now, with greedy decoding:")
    rows = lab.able(shelf[name], None, TEXT)
    st.table(rows)
    say(lesson.classify_note(rows, shipped_figures(shelf[name])), small=True)
    say("You may conclude what this model is *for*. You may not conclude how good it is from one text.", small=True)


def as_its_preset(name: str, preset: str) -> bool:
    """Whether a model was trained for what its preset asks for; of one without a plan that is not known to be otherwise."""
    return lab.plan(lab.shelf()[name]).get("objective") in (None, PRESETS[preset].objective)


def _figures(folder: Path, names: tuple[str, ...], whose: str = "", split: str = "validation") -> None:
    """The figures of its card; a model without one has none, for a check inside its training had few texts."""
    figures = shipped_figures(folder, split)
    for name in names:
        if name in figures:
            st.metric(spoken(name) + whose, f"{figures[name]:.3g}")


def _on_new_words(name: str, folder: Path) -> None:
    """What becomes of a decoder in stories with words that training never had, beside a model that counts."""
    if comparison := beside_counting(shipped_figures(folder, "test")):
        say(f"{comparison} {new_tokens(*_losses(name), STORIES)}")


@cached("Reading stories with new words …")
def _losses(name: str) -> tuple[np.ndarray, np.ndarray]:
    """−log P of the tokens that training never had, in stories with new words, and of all others."""
    model = opened(name)
    stories = (" ".join(story) for story in fresh(lab.corpus_of(lab.shelf()[name]), STORIES))
    rows = [model.tokens(" ".join(story.split()[:WORDS])) for story in stories]
    losses, unseen = [], []
    for tokens, outputs in zip(rows, model.outputs_many(rows), strict=True):
        losses.append(losses_of(outputs["lm"][:-1], tokens.ids[1:]))
        unseen.append(np.array(tokens.unseen or [False] * len(tokens))[1:])
    every, new = np.concatenate(losses), np.concatenate(unseen)
    return every[new], every[~new]


def spoken(name: str) -> str:
    """The name of a figure as it is printed: short forms in capitals."""
    words = [word.upper() if word.strip(",") in SHORT else word for word in name.split()]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def show_recorded(result: str, name: str, text: str) -> None:
    """A recorded comparison, whatever the sentence."""
    recorded.show({result: ""})
    recorded.again(result, f"ablations {result}")


def idea_call(what: str, name: str, text: str) -> Call:
    """The call that shows the idea of a system on a sentence."""
    model = model_of(name)
    if what == "detection":
        return Call(ex.detect, model, text, rate=SHARE, seed=SEED)
    if what == "gaps":
        return Call(ex.corruption.gap_sentences, text, tokenizer=model.attr("tokenizer"))
    strategy = {"boundaries": "spanbert", "copied": "mlm"}.get(what, what)
    hidden = Call(ex.corrupt, text, strategy, tokenizer=model.attr("tokenizer"), rate=SHARE)
    if what in ("bart", "t5"):
        return hidden
    if what == "boundaries":
        return Call(ex.analysis.guess_spans, model, hidden)
    return Call(ex.analysis.teacher_and_student, model_of(teacher_of(name)), model, hidden)


def needs_story(what: str, text: str) -> str:
    """Why a picture opens with a story instead of the sentence of the page; nothing where it does not."""
    if what == "gaps" and text.count(".") < 2:
        return "a gap needs sentences around it."
    if what == "detection" and text == SENTENCE:
        return (
            "this model was trained on stories, and finds less in one sentence alone. Change the sentence, and it reads yours."
        )
    return ""


def own(what: str, view: str, name: str, text: str) -> None:
    """The picture that belongs to one system alone."""
    if why := needs_story(what, text):
        text = TEXT
        say(f"The picture shows a story instead of the sentence above: {why}", small=True)
    if what == "copied" and teacher_of(name) not in models():
        st.info(f"The teacher of *{plain(name)}* is not here, so the two cannot be compared.")
        return
    read(idea_call(what, name, text))
    web.show(VIEWS[view], idea_call(what, name, text), key="system")


def show_detection(name: str, text: str) -> None:
    """What a discriminator predicts for the sentence, and how it learned to."""
    own("detection", "detection", name, text)
    if not lab.read_steps(lab.shelf()[name]):
        st.info(f"*{plain(name)}* did not keep a record of its training, so it has no curves.")
        return
    by_pieces = Call(ex.lesson, "training").attr("systems").attr("by_pieces")
    web.show(VIEWS["curves"], Call(by_pieces, lab.steps_of(name), _each(name)), key="by tokens")


@cached()
def _each(name: str) -> float:
    """How many tokens a step of its training reads (approx.)."""
    return round(lab.budget(lab.shelf()[name], 1).pieces, 1)


def attention(view: str, name: str, text: str) -> None:
    """A view of attention."""
    read(trace_of(name, text))
    web.show(VIEWS[view], trace_of(name, text), key="system")


def walk(station: str, name: str, text: str) -> None:
    """A layer on the board, at the station by which this system differs from others."""
    read(trace_of(name, text))
    board.show(trace_of(name, text), key=f"system.board.{opened(name).preset}", first={"station": station})


def crossing(name: str, text: str) -> None:
    """The cross-attention of a translator, on what it writes for the sentence."""
    watched = Call(ex.decoding.watch, model_of(name), text)
    read(watched)
    call = Call(ex.trace, model_of(name), text, target=Call(list, watched.attr("steps").item(-1).attr("ids")), blocks=True)
    board.show(call, key="system.board", first=at_the_source(name))


PICTURES: dict[str, Callable[[str, str], None]] = {
    "transformer": crossing,
    "gpt": partial(attention, "masks"),
    "gpt2": partial(walk, "norm1"),
    "bart": partial(own, "bart", "corruption"),
    "t5": partial(own, "t5", "corruption"),
    "bert": partial(show_recorded, "next-sentence"),
    "roberta": partial(show_recorded, "masks"),
    "spanbert": partial(own, "boundaries", "boundaries"),
    "electra": show_detection,
    "distilbert": partial(own, "copied", "copied"),
    "deberta": partial(attention, "terms"),
    "llama": partial(walk, "norm1"),
    "olmo": partial(walk, "norm1"),
    "olmo2": partial(walk, "inner1"),
    "pegasus": partial(own, "gaps", "gap-sentences"),
}
