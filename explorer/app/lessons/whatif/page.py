"""Lesson 13. What if: switch parts off, remove the mask, move words, and see what changes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import asked, model_of, one_of, opened, read, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.whatif import parts
from explorer.app.lessons.whatif import questions as lesson
from explorer.views import VIEWS, export


def changed(name: str, text: str, edits: tuple[tuple[str, tuple[Any, ...]], ...]) -> Call:
    """A text read without and with edits, each given by its name and its arguments."""
    return Call("change", model_of(name), text, [EDITS[what](*where) for what, where in edits], **target(name, text))


def hurt(name: str, text: str) -> Call:
    """Each part silenced alone."""
    return Call("damage", model_of(name), text, **target(name, text))


def target(name: str, text: str) -> dict[str, str]:
    """An encoder-decoder also reads the text as its target."""
    return {"target": text} if opened(name).family == "encoder-decoder" else {}


def swapped(stream: str, first: int, second: int, count: int) -> Call:
    """Two words with their positions swapped."""
    order = list(range(count))
    order[first], order[second] = order[second], order[first]
    return Call("MovePositions", stream, Call("np.array", order))


def everywhere(count: int) -> Call:
    """A mask that forbids nothing."""
    return Call("np.ones", (count, count), "bool")


EDITS: dict[str, Callable[..., Call]] = {
    "silence a head": partial(Call, "SilenceHead"),
    "silence attention": lambda stream, layer: Call("SilenceLayer", stream, layer, "attention"),
    "silence feed-forward": lambda stream, layer: Call("SilenceLayer", stream, layer, "feed-forward"),
    "look everywhere alike": partial(Call, "Uniform"),
    "set q, k or v": partial(Call, "SetVector"),
    "scale a unit": partial(Call, "SetUnit"),
    "lift the mask": lambda stream, count: Call("SetMask", stream, everywhere(count)),
    "forbid the future": lambda stream, count: Call("SetMask", stream, Call("np.tril", everywhere(count))),
    "drop ÷ √d": partial(Call, "NoScale"),
    "no positions": partial(Call, "NoPositions"),
    "swap two words": swapped,
}
FAULTS = {
    "the last head of layer 0 is dead": "silence a head",
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
    layer = parts.whole("Layer", layers - 1, 0, "edit.layer")
    if kind in ("set q, k or v", "scale a unit"):
        traced = read(Call("trace", model_of(name), text, blocks=True, **target(name, text)))
        return (parts.vector_to_set if kind == "set q, k or v" else parts.unit_to_scale)(traced, stream, layer)
    if kind in ("silence a head", "look everywhere alike"):
        return (stream, layer, parts.whole("Head", heads - 1, 0, "edit.head"))
    return (stream, layer)


st.title("What if?")
st.markdown(
    "A figure shows what a part *does*. Whether the model *needs* it is another question: change the forward pass, and compare the "
    "output. The weights of the model do not change."
)
name, text = asked()
stream = "encoder" if opened(name).family == "encoder" else "decoder"
plain = read(changed(name, text, ()))
last_head = opened(name).streams[stream][1] - 1
FAULT_AT: dict[str, Any] = {
    "silence a head": (stream, 0, last_head),
    "silence feed-forward": (stream, 1),
    "drop ÷ √d": (stream,),
}
warn_of_unseen(plain.before.source)

st.header("Change one thing", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = one_of("What", EDITS, "edit", "silence a head")
    where = places(kind)
edited = changed(name, text, ((kind, where),))
read(edited)
web.show(VIEWS["change"], edited)
web.show(VIEWS["downstream"], edited)

st.header("Each part alone", divider="blue")
known = read(hurt(name, text))
predict(lesson.sum_question(known), "guess.sum", partial(web.show, VIEWS["damage"], hurt(name, text)))

st.header("Find the fault", divider="blue")
planted = list(FAULTS)[len(text) % len(FAULTS)]
fault = changed(name, text, ((FAULTS[planted], FAULT_AT[FAULTS[planted]]),))
broken = read(fault)
picture = export.themed(VIEWS["downstream"](broken).update_layout(title="How far the weights of each head moved"), web.mode())
st.plotly_chart(picture, key="fault.figure", theme=None, config=export.CONFIG)
question = lesson.fault_question(broken, tuple(FAULTS), planted)
predict(question, "guess.fault", partial(web.show, VIEWS["change"], fault, key="fault"))

st.header("Bring the answer back", divider="blue")
parts.patches(name)

st.header("What a part writes", divider="blue")
parts.vocabulary(name, text, plain.before, stream)

st.header("Where a state comes from", divider="blue")
parts.ways(name, text)

exercises(lesson.exercises(known), "whatif.exercise")
deck(lesson.DECK, lesson.NOTATION)
