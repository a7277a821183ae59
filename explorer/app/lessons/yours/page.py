"""Lesson 14. Your model: open any checkpoint, see what can be shown of it, and put it beside a shipped one."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

import explorer as ex
from explorer.analysis.trace import MEMORY, cost
from explorer.app import board, core, hold, hosted
from explorer.app.brought import BOX, LETTERS, agree, agreed, brought_models
from explorer.app.call import Call
from explorer.app.controls import attentive, chosen_model, opened, read, result_of, sentence, trace_of
from explorer.app.exercises import plain
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.guessing import after_answer
from explorer.app.lessons.yours import layers, twin
from explorer.app.lessons.yours import questions as lesson
from explorer.app.lessons.yours.pair import show_pair
from explorer.app.lessons.yours.upload import take_along, uploaded
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.errors import ExplorerError, an
from explorer.records.softmax import softmax

PROSE = prose("yours")
CLASSES = 5  # of which probabilities are written
WHY = {"float32": PROSE("float32"), "bfloat16": PROSE("bfloat16"), "float16": PROSE("float16")}  # in which numbers are computed


def memory_of(module: Any) -> str:
    """How many weights there are, and which memory they take, and why."""
    parts = list(module.parameters())
    weights, taken = sum(part.numel() for part in parts), sum(part.nbytes for part in parts)
    number_type = str(max(parts, key=lambda part: part.numel()).dtype).removeprefix("torch.")
    size = f"{taken / 1e9:.1f} GB" if taken >= 1e9 else f"{taken / 1e6:.1f} MB"
    return PROSE("memory", weights=weights, size=size, bytes=round(taken / weights), why=WHY[number_type])


def report(model: Any, record: Any) -> None:
    """What can be shown of this model, and what a trace of it costs."""
    streams = ", ".join(f"{name}: {layers} layers × {heads} heads" for name, (layers, heads) in model.streams.items())
    match = (
        "Only the attention weights are available, so they cannot be recomputed."
        if record.residual != record.residual
        else f"Recomputed attention weights match its own to **{record.residual:.0e}**."
    )
    kind = an(model.family).replace(" ", " **", 1) + "**"
    longest = min(512, getattr(model, "longest", 512))
    need = cost(model, longest, longest if model.family == "encoder-decoder" else 0)
    said = [PROSE("report", name=plain(model.name), kind=kind, streams=streams, memory=memory_of(model.module), match=match)]
    if need > MEMORY or not core.on():
        said.append(PROSE("trace", longest=longest, megabytes=need / 1e6, limit=MEMORY / 1e6))
    if need > MEMORY:
        said.append("Choose layers: `layers=[0]`.")
    say(" ".join([*said, classified(model, record)]))
    if reason := getattr(model, "without_blocks", ""):
        say(f"What each sub-layer adds to the residual stream is not shown: {plain(reason)}", small=True)
    for note in model.notes:
        st.warning(plain(note))


def classified(model: Any, record: Any) -> str:
    """The probabilities of the classes, where the output layer of this model chooses one of them for a whole text."""
    config = getattr(model.module, "config", None)
    names = [str(name) for _, name in sorted((getattr(config, "id2label", None) or {}).items())]
    scores = record.outputs.get("labels", np.empty(0))
    if (
        scores.shape != (len(names),)
        or len(names) < 2
        or getattr(config, "problem_type", None) not in (None, "single_label_classification")
    ):
        return ""
    shares = softmax(scores)
    best = [f"**{plain(names[n])}** {100 * shares[n]:.1f}%" for n in np.argsort(-shares)[:CLASSES]]
    return PROSE("classified", shares=", ".join(best), more=f", of {len(names)} classes" if len(names) > CLASSES else "")


def asked_models() -> tuple[list[str], str, str]:
    """What is opened, the model of the shelf beside it, and the sentence."""
    given, upload = "", None
    if hosted.uploads():
        with page.opening, st.container(horizontal=True):
            given = st.text_input(
                "Folder or hub name", key=BOX, bind="query-params", placeholder="./my-model or org/model",
                on_change=lambda: agree(st.session_state[BOX].strip()), max_chars=LETTERS,
            )  # fmt: skip
            upload = uploaded()
    with page.beside_title:
        beside = chosen_model([name for name in attentive() if name not in brought_models()], label="Beside it")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = sentence()
    hold.bar(text, read(lambda: opened(beside).tokens(text)))
    return [name for name in (agreed(given.strip()), upload.name if upload else "", beside) if name], beside, text


def opened_models() -> list[Any]:
    """The models that open, each with what can be shown of it."""
    records: list[Any] = []
    for number, name in enumerate(names):
        try:
            model, record = opened(name), result_of(trace_of(name, text))
        except ExplorerError as error:
            st.warning(plain(str(error)))
            continue
        records.append(record)
        if len(names) > 1:
            st.subheader(plain(name), anchor=False)
        if not record.attention:
            say(PROSE("no attention", name=plain(name)))
            continue
        notice(text, name)
        board.show(trace_of(name, text), key=f"yours.board.{number}", first=board.last_head(record))
        report(model, record)
    return records


def classes() -> None:
    """Which architectures open."""
    table = result_of(TABLE)
    say(PROSE("architectures", table=table))
    st.container(key="architectures").dataframe(
        [
            {"class": row.architecture, "family": row.family, "shown": row.way, "weights differ by": row.weights,
             "outputs differ by": row.outputs, "recomputed": row.residual, "edits": ", ".join(row.edits), "reason": row.reason}
            for row in sorted(table.rows, key=lambda row: row.family != "decoder")  # what most visitors bring comes first
        ],
        width="stretch",
    )  # fmt: skip
    after_answer(lesson.perplexity_question(), "guess.perplexity")


TABLE = Call(ex.support_table)
page = LessonPage(PROSE, "" if hosted.uploads() else hosted.CLOSED)
with page.bar:
    names, beside, text = asked_models()
page.parts(
    PagePart("What can be shown of it", opened_models, "Models"),
    PagePart("Two texts or two models", partial(show_pair, names, text), "Side by side"),
    PagePart("Which layers are alike?", partial(layers.show_likeness, names), "Layers", more=True),
    PagePart("Words in the space of a layer", partial(layers.show_space, names), "Space", more=True),
    PagePart("Which architectures open", classes, "Architectures", reads=NOTHING),
    PagePart("Trained or random?", partial(twin.guessing, beside, text), "Random twin"),
    PagePart("Open and closed models", twin.openness, "Openness", more=True),
    PagePart("Take it with you", partial(take_along, beside), "Files", more=True),
    asking(lambda: lesson.exercises(read(trace_of(beside, text))), "yours.exercise", PROSE),
)
