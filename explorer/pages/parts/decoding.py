"""The records of the decoding lesson, made once for every visitor, and the Python that makes them again."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.generating import comparing
from explorer.generating.decoding import decode
from explorer.generating.watching import watch
from explorer.pages.parts.opening import opened
from explorer.text.microworld import stories

COMPARING = "import explorer as ex\nfrom explorer.generating import comparing\n"
WATCHING = "import explorer as ex\nfrom explorer.generating.watching import watch\n"
BESIDE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("greedy", "greedy", {}),
    ("beam 5", "beam", {"beams": 5}),
    ("beam 5, no trigram twice", "beam", {"beams": 5, "no_repeat": 3}),
    ("diverse beam, 2 groups", "diverse-beam", {"beams": 4, "groups": 2}),
    ("contrastive", "contrastive", {"top_k": 5, "alpha": 0.6}),
)
DRAWN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("all of the vocabulary", {}),
    ("temperature 0.5", {"temperature": 0.5}),
    ("top k 10", {"top_k": 10}),
    ("top p 0.9", {"top_p": 0.9}),
    ("min p 0.1", {"min_p": 0.1}),
    ("typical p 0.9", {"typical_p": 0.9}),
)


@st.cache_resource(max_entries=200, show_spinner="Writing …")
def steps(name: str, text: str, strategy: str, **options: Any) -> Any:
    """The steps of one decoding."""
    return tuple(decode(opened(name), text, strategy, **options))


def code_of_steps(name: str, text: str, strategy: str, **options: Any) -> str:
    """The Python that makes them."""
    said = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"import explorer as ex\ntrace = tuple(ex.decode(ex.load({name!r}), {text!r}, {strategy!r}{said}))"


@st.cache_resource(max_entries=200, show_spinner="Writing …")
def written(name: str, text: str, label: str, strategy: str, **options: Any) -> Any:
    """What one strategy writes."""
    return comparing.written(opened(name), text, label, strategy, **options)


def beside(name: str, text: str, seed: int, pieces: int) -> Any:
    """What every strategy writes: those that search, then those that draw."""
    searched = [written(name, text, label, strategy, max_tokens=pieces, **options) for label, strategy, options in BESIDE]
    drawn = [written(name, text, label, "sample", max_tokens=pieces, seed=seed, **options) for label, options in DRAWN]
    return tuple([*searched, *drawn])


def code_of_written(name: str, text: str, label: str, strategy: str, **options: Any) -> str:
    """The Python that writes it."""
    said = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"{COMPARING}trace = comparing.written(ex.load({name!r}), {text!r}, {label!r}, {strategy!r}{said})"


def everything(name: str, text: str, among: list[int]) -> Any:
    """Greedy and exhaustive search over the same few pieces and four places."""
    tiny: dict[str, Any] = {"among": among, "max_tokens": 4, "length_penalty": 0.0}
    return tuple(written(name, text, *way, **tiny) for way in (("greedy", "greedy"), ("all of them", "exhaustive")))


def code_of_everything(name: str, text: str, among: list[int]) -> str:
    """The Python that tries them all."""
    made = f"comparing.written(model, {text!r}, way, way, among={among}, max_tokens=4, length_penalty=0.0)"
    return f"{COMPARING}model = ex.load({name!r})\ntrace = tuple({made} for way in ('greedy', 'exhaustive'))"


def code_of_beside(name: str, text: str, seed: int, pieces: int) -> str:
    """The Python that writes them all."""
    ways = [*BESIDE, *((label, "sample", {"seed": seed, **options}) for label, options in DRAWN)]
    made = f"comparing.written(model, {text!r}, label, strategy, max_tokens={pieces}, **options)"
    return f"{COMPARING}model = ex.load({name!r})\nways = {ways}\ntrace = tuple({made} for label, strategy, options in ways)"


@st.cache_resource(max_entries=200, show_spinner="Reading …")
def distribution(name: str, text: str, said: tuple[int, ...]) -> Any:
    """The next piece, after a text and the pieces that were chosen since."""
    return comparing.distribution(opened(name), text, prefix=list(said) or None)


def code_of_distribution(name: str, text: str, said: tuple[int, ...]) -> str:
    """The Python that asks for it."""
    chosen = f", prefix={list(said)}" if said else ""
    return f"{COMPARING}trace = comparing.distribution(ex.load({name!r}), {text!r}{chosen})"


@st.cache_resource(max_entries=100, show_spinner="Watching …")
def watched(name: str, text: str, strategy: str, **options: Any) -> Any:
    """A text as it is written, with all attention."""
    return watch(opened(name), text, strategy, **options)


def code_of_watched(name: str, text: str, strategy: str, **options: Any) -> str:
    """The Python that watches it."""
    said = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"{WATCHING}trace = watch(ex.load({name!r}), {text!r}, {strategy!r}{said})"


@st.cache_resource(max_entries=4, show_spinner="Writing sixteen texts, each in two ways …")
def contest(name: str, count: int = 16) -> Any:
    """Greedy and five beams on the beginnings of new stories."""
    return comparing.contest(opened(name), told(count), beams=(5,))


def told(count: int) -> list[str]:
    """Stories that the models did not read."""
    return [" ".join(story) for story in stories(count, 5, "validation")]


def code_of_contest(name: str, count: int = 16) -> str:
    """The Python that holds the contest."""
    texts = f"texts = [' '.join(story) for story in stories({count}, 5, 'validation')]\n"
    story = "from explorer.text.microworld import stories\n"
    return f"{COMPARING}{story}{texts}trace = comparing.contest(ex.load({name!r}), texts, beams=(5,))"


@st.cache_resource(max_entries=4, show_spinner="Looking for a trap …")
def trap(name: str) -> Any:
    """Where greedy lost most in the contest."""
    return comparing.trap(opened(name), contest(name))


def code_of_trap(name: str) -> str:
    """The Python that finds it."""
    return code_of_contest(name).replace("trace = ", "held = ") + f"\ntrace = comparing.trap(ex.load({name!r}), held)"


def chosen_pieces(key: str) -> tuple[int, ...]:
    """The pieces that the visitor chose, from the address of the page."""
    held = st.query_params.get(key, "")
    return tuple(int(piece) for piece in held.split(".") if piece.isdecimal())


def choose(key: str, pieces: tuple[int, ...]) -> None:
    """Keep the pieces that the visitor chose in the address of the page."""
    if pieces:
        st.query_params[key] = ".".join(map(str, pieces))
    else:
        st.query_params.pop(key, None)
