"""What the page of the three families makes once for every visitor, and the Python that makes it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer import library
from explorer.lessons import families as lesson
from explorer.pages.parts import recorded
from explorer.pages.parts.opening import opened
from explorer.records import Blueprint, Written
from explorer.shells import web
from explorer.shells.lesson import plain, predict
from explorer.text import microworld
from explorer.views import VIEWS

SILENT = {"electra"}  # says nothing about the vocabulary
STORIES = 120  # of which as many are taken as are long enough
ANSWER = 32  # pieces that an encoder-decoder writes at most, before they are read again
HELD = (
    "{start}from explorer.inside.masks import held_losses\nfrom explorer.text import microworld\n"
    f"trace = held_losses(model, [' '.join(s) for s in microworld.stories({STORIES}, 1, 'validation')])"
)


def start(name: str, text: str) -> str:
    """The Python that opens the same model, with the same text."""
    return f"import explorer as ex\nmodel, text = ex.load({name!r}), {text!r}\n"


def code(begin: str, room: str, maker: str, more: str = "") -> str:
    """The Python that makes a record of this page."""
    return f"{begin}from explorer.inside.{room} import {maker}\ntrace = {maker}(model, text{more})"


@st.cache_resource(max_entries=100, show_spinner="Writing an answer …")
def answer(name: str, text: str) -> tuple[int, ...]:
    """What an encoder-decoder writes by itself."""
    import explorer as ex

    model = opened(name)
    *_, last = ex.decode(model, text, max_tokens=ANSWER, candidates=0, cross=False)
    return tuple(int(piece) for piece in last.ids) or (model.start,)


def target(name: str, text: str) -> dict[str, Any]:
    """An encoder-decoder reads its own answer; the others nothing."""
    return {"target": list(answer(name, text))} if opened(name).family == "encoder-decoder" else {}


def said(name: str, text: str) -> str:
    """The same as Python."""
    return "".join(f", target={ids}" for ids in target(name, text).values())


@st.cache_resource(max_entries=100, show_spinner="Reading under four masks …")
def under(name: str, text: str) -> Any:
    """One text under every mask."""
    from explorer.inside.masks import under_masks

    return under_masks(opened(name), text, **target(name, text))


@st.cache_resource(show_spinner="Reading new stories under four masks …")
def held(name: str) -> Any:
    """New stories under every mask."""
    from explorer.inside.masks import held_losses

    return held_losses(opened(name), [" ".join(story) for story in microworld.stories(STORIES, 1, "validation")])


def unmasked() -> None:
    """The recorded trainings with and without the mask, and what they write."""
    name = "unmasked"
    if not recorded.there(name):
        st.info("Not measured yet: `python -m explorer.experiments.unmasked` trains six small decoders and keeps the record.")
        return
    measured = library.result(name)
    again = f"{recorded.START}trace = library.result({name!r})"
    vocabulary = library.recorded(name, Written, "with").size
    predict(lesson.copy_question(measured, vocabulary), "guess.copy", lambda: _trained(measured, again))


def _trained(measured: Any, again: str) -> None:
    """The lines, then what is left of it when there is no future to look at."""
    web.show(VIEWS["curves"], measured, code=again, key="unmasked")
    predict(lesson.writing_question(measured), "guess.writing", _written)


def _written() -> None:
    """Both models go on after the same words."""
    texts = tuple(library.recorded("unmasked", Written, part) for part in ("with", "without"))
    st.markdown("\n".join(f"- **{plain(text.label)}:** {plain(text.prompt)} → *{plain(text.text)}*" for text in texts))
    st.caption("Measure again: `python -m explorer.experiments.unmasked`.")


@st.cache_resource(max_entries=100)
def built(name: str, text: str) -> Any:
    """What a model is built of, with the shapes that it has for this text."""
    from explorer.inside.blueprint import blueprint

    return blueprint(opened(name), text, **target(name, text))


@st.cache_resource(max_entries=100, show_spinner="Reading the sentence …")
def traced(name: str, text: str) -> Any:
    """One trace with all blocks; an encoder-decoder reads its own answer."""
    from explorer.tracing import trace

    return trace(opened(name), text, blocks=True, **target(name, text))


@st.cache_resource(max_entries=100, show_spinner="Asking every layer …")
def lens(name: str, text: str) -> Any:
    """What a model would say after each layer."""
    from explorer.inside.lens import lens as through

    return through(opened(name), text, **target(name, text))


@st.cache_resource(max_entries=100, show_spinner="Following gradients …")
def seen(text: str) -> Any:
    """Who can see whom in one model of each family, and in the two halves of an ELMo."""
    from explorer.inside.gradients import visibility
    from explorer.inside.halves import halves
    from explorer.pages.parts.elmo import elmo

    three = [visibility(opened(one), text) for one in FAMILIES[:2]]
    three.append(visibility(opened(FAMILIES[2]), text, target=text))  # BART restores a text
    return (*three, *halves(elmo(), text))


@st.cache_resource(show_spinner="Forcing wrong words …")
def exposed(name: str) -> Any:
    """Where one wrong piece leads, over new texts."""
    from explorer.inside.exposure import exposure

    return exposure(opened(name), **EXPOSED[name]())


def stories() -> dict[str, Any]:
    """New stories for a model that goes on."""
    return {"texts": [" ".join(story) for story in microworld.stories(60, 1, "validation")]}


def translations() -> dict[str, Any]:
    """New sentence pairs for a model that translates."""
    from explorer.text.microworld.french.pairing import pairs

    held = list(pairs(200, 1, "validation"))
    return {"texts": [one.french for one in held], "sources": [one.english for one in held], "at": 3, "steps": 8}


FAMILIES = ("bert", "gpt2", "bart")
EXPOSED = {"gpt2": stories, "transformer": translations}


@st.cache_resource(max_entries=50, show_spinner="Translating …")
def watched(text: str) -> Any:
    """The translation of a text, with what every step looked at."""
    from explorer.generating.watching import watch

    return watch(opened("transformer"), text, max_tokens=ANSWER)


def block(record: Blueprint, chosen: Mapping[str, Any]) -> None:
    """The formula, the shapes and the parameters of the block that was chosen."""
    part = record.part(chosen["block"])
    st.subheader(part.title, anchor=False)
    st.latex(part.formula)
    st.markdown(f"In: **{part.given}**. Out: **{part.made}**.")
    copies = f", in each of {part.times} layers" if part.times > 1 else ""
    if part.weights:
        rows = "\n".join(f"| {name} | {' × '.join(map(str, shape))} |" for name, shape in part.weights)
        st.markdown(f"| weights{copies} | shape |\n|---|---|\n{rows}")
    same = "equal to" if part.counted == part.expected else "**not equal to**"
    st.markdown(f"Counted in the module: **{part.counted:,}**, {same} {plain(part.written)} = {part.expected:,}.")


def clicked(record: Blueprint, point: Mapping[str, Any]) -> None:
    """Choose the block that was clicked."""
    number = point.get("point_index", -1)
    if point.get("curve_number") == 0 and 0 <= number < len(record.parts):
        st.session_state["blueprint.block"] = record.parts[number].title


def shapes(name: str, text: str) -> str:
    """GPT's three lines with the shapes that they have here."""
    config = opened(name).config
    n, d, vocab = len(opened(name).tokens(text)), config.dim, config.vocab
    return (
        f"Here $U$ is [{n}, {vocab:,}], $W_e$ is [{vocab:,}, {config.embedding_width}], every $h_i$ is [{n}, {d}], there are "
        f"$L = {config.layers}$ blocks, and $p$ is [{n}, {vocab:,}]: a distribution over the vocabulary for each row. Nobody multiplies by "
        "$U$: a row of zeros with a single 1 picks a row of the table."
    )


COSTS = {"by length": "by_length", "with and without a cache": "saving"}


def costs(name: str, size: str, maker: str) -> Any:
    """What a layer spends by length, or what a cache spares, at the size that was chosen."""
    from explorer.inside import costs as priced

    return getattr(priced, maker)(config_of(name, size), name if size == HERE else size)


def config_of(name: str, size: str) -> Any:
    """The shape of the model on this page, or of a published one."""
    from explorer.nn.presets import configure

    return opened(name).config if size == HERE else configure(*PUBLISHED[size])


HERE = "this model"
PUBLISHED = {"BERT base": ("bert", "base", 30_522), "GPT-2 base": ("gpt2", "base", 50_257)}


def once(text: str) -> str:
    """What the encoder does once, and the decoder at every step, in numbers."""
    from explorer.inside import costs as priced

    config, record = opened("transformer").config, watched(text)
    source, written = len(record.trace.source), len(record.rows)
    first = priced.encoding(config, source)
    scores = priced.vocabulary(config, 1) / priced.deciding(config, 1, source)
    each = [priced.deciding(config, place, source) for place in range(1, written + 1)]
    return (
        f"The encoder reads {source} pieces **once**: {first / 1e6:.2f} million multiply-adds. Then the decoder runs **{written} times**, "
        f"{each[0] / 1e6:.2f} to {each[-1] / 1e6:.2f} million each with a cache, {scores:.0%} of the first "
        f"for the scores of {config.vocab:,} pieces. "
        "The keys and values of the source are made once; each step only brings a new query to them."
    )


def half(name: str) -> float:
    """The length at which the pairs cost as much as the rest of a layer of this model."""
    from explorer.inside import costs as priced

    return priced.half(opened(name).config)


def priced(name: str, size: str, maker: str) -> str:
    """The Python that prices a layer."""
    begin = "from explorer.inside import costs\n"
    if size == HERE:
        return f"import explorer as ex\n{begin}trace = costs.{maker}(ex.load({name!r}).config, {name!r})"
    made = ", ".join(map(repr, PUBLISHED[size]))
    more = "from explorer.nn.presets import configure\n"
    return f"import explorer as ex\n{begin}{more}trace = costs.{maker}(configure({made}), {size!r})"


SEEN = (
    "import explorer as ex\nfrom explorer.inside.halves import halves\nfrom explorer.pages.parts.elmo import elmo\ntext = {text!r}\n"
    "three = [ex.visibility(ex.load(name), text) for name in ('bert', 'gpt2')] + [ex.visibility(ex.load('bart'), text, target=text)]\n"
    "trace = (*three, *halves(elmo(), text))"
)


def show_exposed(name: str) -> None:
    """The chances as lines, and a few texts to read."""
    record = exposed(name)
    begin = "import explorer as ex\nfrom explorer.inside.exposure import exposure\nfrom explorer.pages.parts.families import EXPOSED\n"
    code = f"{begin}trace = exposure(ex.load({name!r}), **EXPOSED[{name!r}]()).curves"
    web.show(VIEWS["curves"], record.curves, code=code, key=f"exposed.{name}", beside=_caution)
    rows = zip(record.begins, record.slips, record.own, record.ends, strict=True)
    head = "| beginning | forced | it goes on by itself | as it was written |\n|---|---|---|---|\n"
    st.markdown(head + "\n".join("| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows))


def _caution(chosen: Mapping[str, Any]) -> None:
    """What the third line does not say."""
    st.markdown(
        "**Caution.** The third line asks for the very piece that was written. A model that goes on by itself may write another good text, "
        "or the right one a place later: that counts as wrong here. Read the texts below before you call it lost."
    )
