"""Lesson 13. What if: switch parts off, lift the mask, move words, and see what changes."""

from typing import Any

import numpy as np
import streamlit as st

import explorer as ex
from explorer.lessons import whatif as lesson
from explorer.pages.parts.opening import asked, one_of, opened, read, warn_of_unseen
from explorer.shells import export, web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS


@st.cache_resource(max_entries=100, show_spinner="Reading twice …")
def changed(name: str, text: str, edits: tuple[tuple[str, tuple[Any, ...]], ...]) -> Any:
    """A text read without and with edits, each given by its name and its places."""
    made = [EDITS[what](*where) for what, where in edits]
    return ex.change(opened(name), text, made, **target(name, text))


@st.cache_resource(max_entries=50, show_spinner="Silencing each part in turn …")
def hurt(name: str, text: str) -> Any:
    """Each part silenced alone."""
    return ex.damage(opened(name), text, **target(name, text))


def target(name: str, text: str) -> dict[str, str]:
    """An encoder-decoder writes the text anew."""
    return {"target": text} if opened(name).family == "encoder-decoder" else {}


def swapped(stream: str, first: int, second: int, count: int) -> Any:
    """Two words that have changed places."""
    order = np.arange(count)
    order[[first, second]] = order[[second, first]]
    return ex.MovePositions(stream, order)


EDITS: dict[str, Any] = {
    "silence a head": ex.SilenceHead,
    "silence attention": lambda stream, layer: ex.SilenceLayer(stream, layer, "attention"),
    "silence feed-forward": lambda stream, layer: ex.SilenceLayer(stream, layer, "feed-forward"),
    "look everywhere alike": ex.Uniform,
    "lift the mask": lambda stream, count: ex.SetMask(stream, np.ones((count, count), bool)),
    "forbid the future": lambda stream, count: ex.SetMask(stream, np.tril(np.ones((count, count), bool))),
    "drop ÷ √d": ex.NoScale,
    "no positions": ex.NoPositions,
    "swap two words": swapped,
}
FAULTS = {
    "head 0 of layer 0 is dead": "silence a head",
    "layer 1 has no feed-forward": "silence feed-forward",
    "÷ √d was forgotten": "drop ÷ √d",
}


def places(kind: str) -> tuple[Any, ...]:
    """Where the edit is made: layer, head or words, as this kind needs."""
    layers, heads = opened(name).streams[stream]
    count = len(plain.before.axes(stream)[0])
    if kind in ("drop ÷ √d", "no positions"):
        return (stream,)
    if kind in ("lift the mask", "forbid the future"):
        return (stream, count)
    if kind == "swap two words":
        first, second = (
            int(st.number_input(label, 0, count - 1, start, key=label)) for label, start in (("First", 1), ("Second", 2))
        )
        return (stream, first, second, count)
    layer = int(st.number_input("Layer", 0, layers - 1, 0, key="edit.layer"))
    if kind in ("silence a head", "look everywhere alike"):
        return (stream, layer, int(st.number_input("Head", 0, heads - 1, 0, key="edit.head")))
    return (stream, layer)


st.title("What if?")
st.markdown(
    "A picture shows what a part *does*. Whether the model *needs* it is another question: change the run, and look at what comes "
    "out. The model itself stays as it is."
)
name, text = asked()
stream = "encoder" if opened(name).family == "encoder" else "decoder"
plain = read(lambda: changed(name, text, ()))
FAULT_AT: dict[str, Any] = {"silence a head": (stream, 0, 0), "silence feed-forward": (stream, 1), "drop ÷ √d": (stream,)}
warn_of_unseen(plain.before.source)

st.header("Change one thing", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = one_of("What", EDITS, "edit", "silence a head")
    where = places(kind)
record = read(lambda: changed(name, text, ((kind, where),)))
lines = f"import explorer as ex\nmodel = ex.load({name!r})\n"
code = f"{lines}trace = ex.change(model, {text!r}, [ex.{type(record.edits[0]).__name__}(…)])"
web.show(VIEWS["change"], record, code=code)
web.show(VIEWS["downstream"], record, code=code)

st.header("Each part alone", divider="blue")
known = read(lambda: hurt(name, text))
predict(
    lesson.sum_question(known),
    "guess.sum",
    lambda: web.show(VIEWS["damage"], known, code=f"{lines}trace = ex.damage(model, {text!r})"),
)

st.header("Find the fault", divider="blue")
planted = list(FAULTS)[len(text) % len(FAULTS)]
broken = read(lambda: changed(name, text, ((FAULTS[planted], FAULT_AT[FAULTS[planted]]),)))
picture = export.themed(VIEWS["downstream"](broken).update_layout(title="How far the weights of each head moved"), web.mode())
st.plotly_chart(picture, key="fault.figure", theme=None)
question = lesson.fault_question(broken, tuple(FAULTS), planted)
predict(question, "guess.fault", lambda: web.show(VIEWS["change"], broken, code=code, key="fault"))

exercises(lesson.exercises(known), "whatif.exercise")
deck(lesson.DECK, lesson.NOTATION)
