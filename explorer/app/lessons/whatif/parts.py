"""What if, further parts: vectors and units set by hand, patches, writes to the vocabulary, and where a state comes from."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, result_of, target_of
from explorer.app.exercises import plain
from explorer.app.glossary import lead, say
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.errors import ChoiceError, ExplorerError
from explorer.records import Trace
from explorer.views import VIEWS, theme

PROSE = prose("whatif")
TEXTS, SEED = 60, 11  # stories in which a unit is looked for

WAYS = {"zeros": 0.0, "half as long": 0.5, "twice as long": 2.0, "reversed": -1.0}
EXAMPLES = {  # by family: the word that differs, the rest of the text, and the answers that it decides between
    "encoder": (("Anna", "Tom"), " was hungry, so [MASK] ate an apple.", ("she", "he")),
    "decoder": (("Sara", "Ben"), " was tired because", (" she", " he")),
    "encoder-decoder": (("The dog", "The cat"), " was tired.", (" dog", " cat")),
}


def whole(label: str, last: int, start: int, key: str) -> int:
    """A whole number from 0 to `last`; it is kept in the address."""
    if not 0 <= st.session_state.get(key, 0) <= last:
        del st.session_state[key]  # of another model or a longer text
    return int(st.number_input(label, 0, last, min(start, last), key=key, bind="query-params", width=100 + 7 * len(label)))


def unit_to_scale(trace: Trace, stream: str, layer: int) -> tuple[str, int, int, float]:
    """Which hidden unit is multiplied by what: at first, the most active one is switched off."""
    units = trace.block(stream, layer, "feed-forward").units
    assert units is not None
    unit = whole("Unit", units.shape[1] - 1, int(abs(units).max(axis=0).argmax()), "edit.unit")
    factor = st.number_input("Factor", -50.0, 50.0, 0.0, 0.5, key="edit.factor", bind="query-params", width=190)
    return stream, layer, unit, float(factor)


def vector_to_set(trace: Trace, stream: str, layer: int) -> tuple[str, str, int, int, int, list[float]]:
    """Which vector is written, and its numbers: its own ones, changed in a way that is chosen, and open to be typed over."""
    which = st.segmented_control("Vector", ("q", "k", "v"), default="q", required=True, key="edit.which", bind="query-params")
    vectors = getattr(trace.at(stream, layer), which)
    head = whole("Edited head", vectors.shape[0] - 1, 0, "edit.vector_head")
    position = whole("Position", vectors.shape[1] - 1, 1, "edit.position")
    way = st.selectbox("Set to", tuple(WAYS), key="edit.way", bind="query-params", width=200)
    numbers = " ".join(f"{WAYS[way] * float(value):.4g}" for value in vectors[head, position])
    typed = st.text_input(
        "Numbers",
        numbers,
        key=f"edit.{stream}.{which}.{layer}.{head}.{position}.{way}.{trace.model}",
        bind="query-params",
        width=420,
    )
    return which, stream, layer, head, position, read(partial(numbers_of, typed))


def numbers_of(typed: str) -> list[float]:
    """Numbers with spaces or commas between them."""
    try:
        return [float(part) for part in typed.replace(",", " ").split()]
    except ValueError:
        raise ChoiceError(
            f"{theme.plain(typed)!r} is not a list of numbers. Write numbers separated by spaces or commas."
        ) from None


def shown(view: str, call: Call, **options: Any) -> None:
    """A view of what a call makes; where it cannot, one line says why, and the page goes on."""
    try:
        result_of(call)
    except ExplorerError as error:
        st.info(plain(str(error)))
        return
    web.show(VIEWS[view], call, **options)


def patches(name: str) -> None:
    """The sweep of patches over two texts of one's own."""
    say_rest = lead(PROSE("patched"))
    model = opened(name)
    known = model.tokenizer.vocabulary.mask
    mask = "" if known is None else model.tokenizer.text_of(known)
    firsts, rest, answers = EXAMPLES[model.family]
    rest = rest.replace("[MASK]", mask or "[MASK]")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = [st.text_input(f"{label} text", first + rest, key=f"patch.{label}.{model.family}", bind="query-params")
                 for label, first in zip(("Clean", "Changed"), firsts, strict=True)]  # fmt: skip
        pair = [st.text_input(label, answer, key=f"patch.{label}.{model.family}", bind="query-params", width=170)
                for label, answer in zip(("Answer", "Other answer"), answers, strict=True)]  # fmt: skip
    for written in texts:
        notice(written, name)
    more = {"target": texts[0], "row": 1} if model.family == "encoder-decoder" else {}
    shown("patching", Call(ex.analysis.patch_sweep, model_of(name), *texts, answers=tuple(pair), **more))
    say_rest()


def vocabulary(name: str, text: str, trace: Trace, stream: str) -> None:
    """What a head, looking at one token, or a unit writes to the vocabulary."""
    say(PROSE("written"))
    layers, heads = opened(name).streams[stream]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = st.segmented_control(
            "Part", ("head", "unit"), default="head", required=True, key="writes.part", bind="query-params"
        )
        layer = whole("Layer", layers - 1, layers - 1, "writes.layer")
        if part == "head":
            head = whole("Head", heads - 1, 0, "writes.head")
            position = whole("Position", len(trace.axes(stream)[1]) - 1, 1, "writes.position")
            call = Call(
                ex.analysis.head_writes,
                model_of(name),
                text,
                layer=layer,
                head=head,
                position=position,
                **target_of(opened(name), text),
            )
        else:
            unit = whole("Unit", getattr(opened(name).config, "hidden", 10_000) - 1, 0, "writes.unit")
            call = Call(ex.analysis.unit_writes, model_of(name), layer=layer, unit=unit)
    shown("writes", call)
    if part == "unit":
        say(PROSE("fires", texts=TEXTS))
        texts = Call(ex.microworld.texts, TEXTS, SEED, "test")
        shown("unit-firings", Call(ex.analysis.unit_firings, model_of(name), texts, layer=layer, unit=unit))


def ways(name: str, text: str) -> None:
    """The ways of information into one state."""
    say(PROSE("flows"))
    shown("flow", Call(ex.analysis.information_flow, model_of(name), text, **target_of(opened(name), text)))
