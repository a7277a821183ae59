"""Lesson 13. What if: switch parts off, remove the mask, move words, and see what changes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import board, web
from explorer.app.call import Call
from explorer.app.controls import asked, model_of, one_of, opened, read, warn_of_unseen
from explorer.app.exercises import predict
from explorer.app.frame import LessonPage, PagePart, asking
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
            parts.whole(label, count - 1, at, f"edit.{label.lower()}") for label, at in (("First", 1), ("Second", 2))
        )
        return (stream, first, second, count)
    layer = parts.whole("Layer", layers - 1, 0, "edit.layer")
    if kind in ("set q, k or v", "scale a unit"):
        traced = read(Call("trace", model_of(name), text, blocks=True, **target(name, text)))
        return (parts.vector_to_set if kind == "set q, k or v" else parts.unit_to_scale)(traced, stream, layer)
    if kind in ("silence a head", "look everywhere alike"):
        return (stream, layer, parts.whole("Head", heads - 1, 0, "edit.head"))
    return (stream, layer)


def silence(chosen: str, layer: int, head: int) -> None:
    """The head that was chosen on the board is the one that is silenced."""
    if chosen == stream:
        st.session_state["edit"] = "silence a head"
        st.session_state["edit.layer"], st.session_state["edit.head"] = layer, head


def one_thing() -> None:
    """Change one thing, and see what follows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = one_of("What", EDITS, "edit", "silence a head")
        where = places(kind)
    edited = changed(name, text, ((kind, where),))
    read(edited)
    board.series(
        {"as it is": edited.attr("before"), "edited": edited.attr("after")}, key="whatif.board", silence=silence,
        first={"stream": stream, "layer": 0, "head": 0, "station": "mix"},
    )  # fmt: skip
    web.show(VIEWS["change"], edited)
    web.show(VIEWS["downstream"], edited)


def each() -> None:
    """Each part alone."""
    call = hurt(name, text)
    predict(lesson.sum_question(read(call)), "guess.sum", partial(web.show, VIEWS["damage"], call))


def fault() -> None:
    """A planted fault to find."""
    at: dict[str, tuple[Any, ...]] = {
        "silence a head": (stream, 0, opened(name).streams[stream][1] - 1),
        "silence feed-forward": (stream, 1),
        "drop ÷ √d": (stream,),
    }
    planted = list(FAULTS)[len(text) % len(FAULTS)]
    what = changed(name, text, ((FAULTS[planted], at[FAULTS[planted]]),))
    moved = VIEWS["downstream"](broken := read(what)).update_layout(title="How far the weights of each head moved")
    st.plotly_chart(export.themed(moved, web.mode()), key="fault.figure", theme=None, config=export.CONFIG)
    shown = partial(web.show, VIEWS["change"], what, key="fault")
    predict(lesson.fault_question(broken, tuple(FAULTS), planted), "guess.fault", shown)


page = LessonPage(
    "What if?",
    "A figure shows what a part *does*. Whether the model *needs* it is another question: change the forward pass, and compare the "
    "output. The weights of the model do not change.",
)
with page.bar:
    name, text = asked()
stream = "encoder" if opened(name).family == "encoder" else "decoder"
plain = read(changed(name, text, ()))
warn_of_unseen(plain.before.source)

page.parts(
    PagePart("Change one thing", one_thing),
    PagePart("Each part alone", each),
    PagePart("Find the fault", fault),
    PagePart("Bring the answer back", partial(parts.patches, name), "Patches"),
    PagePart("What a part writes", partial(parts.vocabulary, name, text, plain.before, stream), "Writes"),
    PagePart("Where a state comes from", partial(parts.ways, name, text), "Ways"),
    asking(lambda: lesson.exercises(read(hurt(name, text))), "whatif.exercise", lesson.DECK, lesson.NOTATION),
)
