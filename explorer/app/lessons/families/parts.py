"""The records of the page of the three families, as calls that it runs and prints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import core, frame, hold, recorded, web
from explorer.app.cached import cached
from explorer.app.call import Call, CallPart, Expression
from explorer.app.controls import at_the_source, model_of, opened, read, result_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.guessing import after_answer
from explorer.app.lessons.families import published_questions
from explorer.app.lessons.families import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.errors import ChoiceError
from explorer.models.transformer import TransformerModel
from explorer.nn.config import Config
from explorer.nn.layers import GATED
from explorer.nn.positions import POSITIONS
from explorer.records import Blueprint, Exercise
from explorer.records.families import Exposure, Part
from explorer.views import VIEWS
from explorer.views.board.place import addressed

PROSE = prose("families")

SILENT = {"electra"}  # says nothing about the vocabulary
STORIES = 120  # of which as many are taken as are long enough
FEW = 12  # of which the loss with and without activation is measured
ANSWER = 32  # tokens that an encoder-decoder writes at most, before they are read again


@cached("Writing an answer …")
def answer(name: str, text: str) -> tuple[int, ...]:
    """What an encoder-decoder generates."""
    model = opened(name)
    *_, last = ex.decode(model, text, max_tokens=ANSWER, candidates=0, cross=False)
    return tuple(int(token) for token in last.ids) or (model.start,)


def target(name: str, text: str) -> dict[str, Any]:
    """An encoder-decoder reads its own answer; the others nothing."""
    return {"target": list(answer(name, text))} if opened(name).family == "encoder-decoder" else {}


def under(name: str, text: str) -> Call:
    """One text under every mask."""
    return Call(ex.analysis.under_masks, model_of(name), text, **target(name, text))


def held_out_losses(name: str) -> Call:
    """New stories under every mask."""
    return Call(ex.analysis.held_losses, model_of(name), Call(ex.microworld.texts, STORIES, 1, "validation"))


def unmasked() -> None:
    """The recorded trainings with and without the mask, and what they write."""
    name = "unmasked"
    vocabulary = result_of(recorded.call(name, "with")).size
    writing = lesson.writing_question(result_of(recorded.call(name)))
    web.show(
        VIEWS["curves"], recorded.call(name), key=name,
        question=(lesson.copy_question(result_of(recorded.call(name)), vocabulary), "guess.copy"),
        below=partial(after_answer, writing, "guess.writing", _written),
    )  # fmt: skip


def _written() -> None:
    """Both models go on after the same words."""
    texts = tuple(result_of(recorded.call("unmasked", part)) for part in ("with", "without"))
    st.markdown("\n".join(f"- **{plain(text.label)}:** {plain(text.prompt)} → *{plain(text.text)}*" for text in texts))
    st.caption("Measure again: `python -m studies.unmasked`.")


def built(name: str, text: str) -> Call:
    """What a model is built of, with the shapes that it has for this text."""
    return Call(ex.analysis.blueprint, model_of(name), text, **target(name, text))


def traced(name: str, text: str) -> Call:
    """One trace with all blocks; an encoder-decoder reads its own answer."""
    return Call(ex.trace, model_of(name), text, blocks=True, **target(name, text))


def lens(name: str, text: str) -> Call:
    """What a model would say after each layer."""
    return Call(ex.lens, model_of(name), text, **target(name, text))


def seen(text: str) -> tuple[Any, ...]:
    """Who can see whom in one model of each family, and in the two halves of an ELMo."""
    three = [Call(ex.visibility, model_of(name), text) for name in FAMILIES[:2]]
    three.append(Call(ex.visibility, model_of(FAMILIES[2]), text, target=text))  # BART restores a text
    halves = Call(ex.analysis.elmo_visibility, model_of("elmo"), text)
    return (*three, halves.item(0), halves.item(1))


def exposed(name: str) -> Call:
    """What one wrong token does, over new texts."""
    return Call(ex.analysis.exposure_bias, model_of(name), **EXPOSED[name]())


def stories() -> dict[str, Any]:
    """New stories for a model that goes on."""
    return {"texts": Call(ex.microworld.texts, 60, 1, "validation")}


def translations() -> dict[str, Any]:
    """New sentence pairs for a model that translates."""
    french, english = (Call(ex.microworld.sentences_in, language, 200, 1, "validation") for language in ("french", "english"))
    return {"texts": french, "sources": english, "at": 3, "steps": 8}


FAMILIES = ("bert", "gpt2", "bart")
EXPOSED = {"gpt2": stories, "transformer": translations}


def source_first() -> dict[str, object]:
    """Where the board of a translation opens."""
    return at_the_source("transformer")


def watched(text: str) -> Call:
    """The translation of a text, with what every step looked at."""
    return Call(ex.decoding.watch, model_of("transformer"), text, max_tokens=ANSWER)


def masks(name: str, text: str) -> dict[str, CallPart]:
    """The same text as it is read under every mask, by the name of the mask."""
    call = under(name, text)
    return {mask: call.attr("traces").item(mask) for mask in result_of(call).traces}


def translated(text: str) -> Call:
    """One pass of the translator over a text and all that it wrote."""
    written = Call(list, watched(text).attr("steps").item(-1).attr("ids"))
    return Call(ex.trace, model_of("transformer"), text, target=written, blocks=True)


def block(record: Blueprint, chosen: Mapping[str, Any]) -> None:
    """The formula, the shapes and the parameters of the block that was chosen."""
    part = record.part(chosen["block"])
    st.subheader(part.title, anchor=False)
    st.latex(part.formula)
    say(f"In: **{part.given}**. Out: **{part.made}**.")
    copies = f", in each of {part.times} layers" if part.times > 1 else ""
    if part.weights:
        rows = "\n".join(f"| {name} | {' × '.join(map(str, shape))} |" for name, shape in part.weights)
        say(f"| weights{copies} | shape |\n|---|---|\n{rows}")
    say(counted(part))
    if part.kind == "feed-forward" and part.weights:
        say(activation(record.model))
    if (place := on_board(part, record)) is not None:
        st.button("See it on the board", key="blueprint.board", on_click=show_on_board, args=(place,))


def activation(name: str) -> str:
    """What the function between the two matrices of a feed-forward layer is for, measured where its layers would be linear without it."""
    config = config_here(name)
    says = PROSE("activation", d=config.dim)
    if config.family == "encoder-decoder" or config.activation in GATED or config.replaced:
        return says
    stories = Call(ex.microworld.texts, FEW, 1, "validation")
    usual, linear = read(Call(ex.analysis.losses_without_activation, model_of(name), stories)).mean(1)
    return f"{says} {PROSE('activation: measured', texts=FEW, usual=usual, linear=linear)}"


NORM_STATIONS = {"post": ("post1", "post2"), "pre": ("norm1", "norm2"), "inside": ("inner1", "inner2")}
POSITION_STATIONS = {"add": "x", "rotate": "turn", "bias": "bias", "score": "bias"}
BLOCKS = {"attention": "qkv", "cross-attention": "qkv", "feed-forward": "units", "sum": "x"}


def on_board(part: Part, record: Blueprint) -> dict[str, Any] | None:
    """Where the board shows a block, in the first layer, and the output layer after the last; None of what it does not show."""
    block = part.name.rpartition(" ")[2]  # of a norm: the block beside it
    station = _station(part, block, record)
    if not station:
        return None
    stream = record.family if part.name == "vocabulary" else part.stream
    if (
        record.family == "encoder-decoder"
        and block in ("cross-attention", "feed-forward", "vocabulary")
        and stream != "encoder"
    ):
        stream = "cross"
    layer = opened(record.model).streams[stream][0] - 1 if part.name == "vocabulary" else 0
    return {"stream": stream, "layer": layer, "head": 0, "station": station}


def _station(part: Part, block: str, record: Blueprint) -> str:
    """The station of a block; empty where it has none."""
    if part.name == "positions":
        slots = POSITIONS[opened(record.model).config.positions].slots
        return next((station for slot, station in POSITION_STATIONS.items() if slot in slots), "")
    if part.kind == "norm" and block in BLOCKS:
        return NORM_STATIONS[record.place][block == "feed-forward"]
    if part.name == "vocabulary":
        return "next"
    return BLOCKS.get(part.kind, "") if part.formula != "0" else ""  # a model may have no feed-forward layers


def show_on_board(place: dict[str, Any]) -> None:
    """Open the board of this page at a place."""
    count = len(st.session_state.get(hold.SHOWN, hold.NOTHING)[0])
    row = hold.held_row()
    st.query_params["families.board"] = addressed(place | {"row": count // 2 if row is None else row, "col": 0})
    st.session_state["inside"] = "Part by part"
    frame.choose("residual-stream")
    web.again(VIEWS["blueprint"])


def counted(part: Part) -> str:
    """The parameters of a block as they are counted in the module, and by the formula."""
    if not part.counted and not part.expected:
        return f"Parameters here: **0** ({plain(part.written)})."
    same = "equal to" if part.counted == part.expected else "**not equal to**"
    return f"Counted in the module: **{part.counted:,}**, {same} {plain(part.written)} = {part.expected:,}."


def clicked(record: Blueprint, point: Mapping[str, Any]) -> None:
    """Choose the block that was clicked."""
    number = point.get("point_index", -1)
    if point.get("curve_number") == 0 and 0 <= number < len(record.parts):
        st.session_state["blueprint.block"] = record.parts[number].title


def beyond(config: Config) -> str:
    """What this model computes at its input and output that GPT's three lines leave out."""
    parts = {
        "multiplies $UW_e$ by $\\sqrt d$": config.embedding_scale,
        "adds segment embeddings to $h_0$": config.segments > 0,
        "normalises $h_0$": config.embedding_norm,
        "applies a last layer norm to $h_L$": config.final_norm,
        "multiplies $h_L$ by $1/\\sqrt d$ before $W_e^\\top$": config.scaled_head,
        "transforms $h_L$ (linear, activation, layer norm) before $W_e^\\top$": config.head_transform,
        "adds a bias to the scores": config.head_bias,
        "has no $W_p$": not {"add"} & POSITIONS[config.positions].slots,
    }
    more = [what for what, there in parts.items() if there]
    return f"\n\nGPT's three lines leave out that this model {', '.join(more)}." if more else ""


def config_here(name: str) -> Config:
    """The shape of a model that opens as one of ours."""
    model = opened(name)
    if not isinstance(model, TransformerModel):
        raise ChoiceError(
            f"{name} is computed by Hugging Face's own class, whose parts are not counted here. Choose a model of a kind that is built "
            "here."
        )
    return model.config


def shapes(name: str, text: str) -> str:
    """GPT's three lines with the shapes that they have here."""
    config = config_here(name)
    n, d, vocab = len(opened(name).tokens(text)), config.dim, config.vocab
    return PROSE("shapes", n=n, vocab=vocab, config=config, d=d, beyond=beyond(config))


COSTS = {
    "by length": ex.analysis.costs.by_length,
    "memory by length": ex.analysis.costs.memory,
    "with and without a cache": ex.analysis.costs.saving,
}


def costs(name: str, size: str, what: str) -> Call:
    """What a layer spends by length, or what a cache spares, at the size that was chosen."""
    return Call(COSTS[what], config_of(name, size), name if size == HERE else size)


def config_of(name: str, size: str) -> Expression:
    """The shape of the model on this page, or of a published one."""
    return model_of(name).attr("config") if size == HERE else Call(ex.configure, *PUBLISHED[size])


HERE = "this model"
PUBLISHED = {"BERT base": ("bert", "base", 30_522), "GPT-2 base": ("gpt2", "base", 50_257)}


def once(text: str) -> str:
    """How often the encoder reads, and the decoder writes."""
    record = result_of(watched(text))
    notice(text, "transformer")
    read = PROSE("once", source=len(record.trace.source), written=len(record.rows))
    return read if core.on() else f"{read} {PROSE('once: board')}"


def about() -> str:
    """What the page is about, and which of the families is used most today."""
    return PROSE("about") if core.on() else f"{PROSE('about')} {PROSE('today')}"


def half(name: str) -> float:
    """The length at which the pairs cost as much as the rest of a layer of this model."""
    return ex.analysis.costs.half(config_here(name))


def show_exposed(name: str) -> None:
    """The probabilities as lines, and a few texts to read."""
    record = result_of(exposed(name))
    question = (lesson.exposure_question(record), f"guess.{name}")
    below = partial(show_texts, record)
    web.show(VIEWS["exposure"], exposed(name).attr("curves"), key=f"exposed.{name}", question=question, below=below)


def show_texts(record: Exposure) -> None:
    """What the decoder went on to write, text by text."""
    say(PROSE("exposure: caution"))
    rows = zip(record.begins, record.slips, record.own, record.ends, strict=True)
    head = "| beginning | forced token | its own continuation | gold continuation |\n|---|---|---|---|\n"
    st.markdown(head + "\n".join("| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows))


@st.fragment
def exposed_section() -> None:
    """What one wrong token does to a decoder, after a guess."""
    say(PROSE("exposure"))
    wrote = st.segmented_control("Decoder of", tuple(EXPOSED), default="gpt2", required=True, key="writer", bind="query-params")
    show_exposed(wrote)


@st.fragment
def cost_section(name: str) -> None:
    """What a layer costs, by the length of the text."""
    sizes = (HERE, *PUBLISHED) if isinstance(opened(name), TransformerModel) else (*PUBLISHED,)
    with st.container(horizontal=True):
        size = st.segmented_control("Size", sizes, default=sizes[0], required=True, key="size", bind="query-params")
        what = st.segmented_control("Cost", list(COSTS), default="by length", required=True, key="cost", bind="query-params")
    call = costs(name, size, what)
    web.show(VIEWS["costs"], call, key=call.label)


def family_exercises(name: str, text: str) -> tuple[Exercise, ...]:
    """The exercises on this text, and those on published models."""
    masks, blueprint, trace = read((under(name, text), built(name, text), traced(name, text)))
    return (*lesson.exercises(masks, blueprint, trace, half(name)), *published_questions.exercises())
