"""The records of the decoding lesson, as calls that the page runs and prints."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import board
from explorer.app.brought import offered_models
from explorer.app.call import Call
from explorer.app.controls import at_the_source, model_of, opened, read, trace_of
from explorer.app.glossary import say
from explorer.decoding import STRATEGIES
from explorer.decoding.decode import writer
from explorer.models import run_folder
from explorer.models.suited import writes_as
from explorer.records import Distribution, Trace
from explorer.views.writing import SHOWN

LENGTH = 4  # of the texts that are all tried
Way = tuple[str, str, dict[str, Any]]  # what a row is called, its strategy, its options


def writers(family: str = "decoder") -> list[str]:
    """The models that continue a text; of family "encoder-decoder" those that write a text for another."""
    return sorted(name for name, stored in offered_models().items() if writes_as(stored) == family)


def steps(name: str, text: str, strategy: str, **options: Any) -> Call:
    """The steps of one decoding."""
    return Call(tuple, Call(ex.decode, model_of(name), text, strategy, **options))


def written(name: str, text: str, label: str, strategy: str, **options: Any) -> Call:
    """The text of one strategy."""
    return Call(ex.decoding.written, model_of(name), text, label, strategy, **options)


def ways(seed: int) -> list[Way]:
    """Every strategy as it is shown beside the others: those that search, then those that sample."""
    order = sorted(STRATEGIES.items(), key=lambda item: item[1].draws)
    return [
        (label, name, ({"seed": seed} if entry.draws else {}) | dict(options))
        for name, entry in order
        for label, options in entry.ways(name).items()
    ]


def strategy_notes() -> list[str]:
    """The text about every strategy that is shown, and the settings that only some strategies have."""
    shown = sorted((entry.draws, place, name) for place, (name, entry) in enumerate(STRATEGIES.items()) if entry.ways(name))
    return [_about(name) for _, _, name in shown]


def _about(name: str) -> str:
    entry = STRATEGIES[name]
    settings = ", ".join((*entry.reads, *entry.options))
    return f"**{name}**: {entry.says}" + (f" Settings: {settings}." if settings else "")


def beside(name: str, text: str, seed: int, length: int) -> dict[str, Call]:
    """The text of every strategy: those that search, then those that sample."""
    return {
        label: written(name, text, label, strategy, max_tokens=length, **options) for label, strategy, options in ways(seed)
    }


def few(name: str, text: str, count: int = 8) -> list[int]:
    """So many tokens to write with: the next ones of greedy, which make a text, those of five beams, then the most probable."""
    greedy = read(written(name, text, "greedy", "greedy", max_tokens=LENGTH)).ids
    beams = read(written(name, text, "beam 5", "beam", beams=5, max_tokens=LENGTH, length_penalty=0.0)).ids
    probable = read(distribution(name, text, ())).ids[:count]
    return list(dict.fromkeys(int(token) for token in (*greedy, *beams, *probable)))[:count]


def everything(name: str, text: str, among: list[int]) -> tuple[Call, ...]:
    """Greedy and exhaustive search over the same few tokens and four positions."""
    tiny: dict[str, Any] = {"among": among, "max_tokens": LENGTH, "length_penalty": 0.0}
    return tuple(written(name, text, *way, **tiny) for way in (("greedy", "greedy"), ("all of them", "exhaustive")))


def distribution(name: str, text: str, prefix: tuple[int, ...]) -> Call:
    """The next token, after a text and the tokens that were chosen since."""
    return Call(ex.decoding.distribution, model_of(name), text, **({"prefix": list(prefix)} if prefix else {}))


def passed(name: str, text: str, prefix: tuple[int, ...]) -> Call:
    """One pass over what decoding reads: the token that begins every text, the text, and the tokens that were chosen since."""
    ids = [*writer(opened(name), text).prompt, *prefix]
    return trace_of(name, text if ids == opened(name).tokens(text).ids.tolist() else ids)


def translated(name: str, source: str, watching: Call) -> Call:
    """One pass over a text and what an encoder-decoder wrote for it."""
    written = Call(list, watching.attr("steps").item(-1).attr("ids"))
    return Call(ex.trace, model_of(name), source, target=written, blocks=not getattr(opened(name), "without_blocks", ""))


def computed(name: str, text: str, prefix: tuple[int, ...]) -> None:
    """The pass that the next token's probabilities come from, on the board; its bars can be clicked as well."""

    def onward(trace: Trace, row: int, rank: int) -> None:
        assert trace.top is not None
        kept = max(0, row + 1 - (len(trace.source) - len(prefix)))  # what came after that row is dropped
        choose("path", (*prefix[:kept], int(trace.top.ids[row, rank])))

    if not st.toggle(
        "The pass that computed it, on the board", "next.board" in st.query_params, key="passed", bind="query-params"
    ):
        return
    say("The bars at the last station can be clicked as well.")
    call = passed(name, text, prefix)
    last = {"stream": "decoder", "layer": opened(name).streams["decoder"][0] - 1, "head": 0, "station": "next"}
    board.show(
        call, key="next.board", first=last | {"row": len(read(call).source) - 1, "col": 0}, force=onward, text_key="beginning"
    )


def rewritten(name: str, source: str, watching: Call, written: str) -> None:
    """A translation, written once more on the board with its best beams."""
    board.show(
        translated(name, source, watching),
        key="writing.board",
        first=at_the_source(name),
        steps=watching.attr("steps"),
        text_key=written,
    )


def mask_of(name: str) -> str:
    """The mask token of a model as it is written."""
    tokenizer = opened(name).tokenizer
    return str(tokenizer.text_of(tokenizer.vocabulary.mask))


def watched(name: str, text: str, strategy: str, **options: Any) -> Call:
    """A text as it is generated, with all attention."""
    return Call(ex.decoding.watch, model_of(name), text, strategy, **options)


def contest(name: str, count: int = 16) -> Call:
    """Greedy and five beams on the beginnings of new stories of the model's own world, which it did not read."""
    return Call(
        ex.decoding.contest, model_of(name), Call(ex.microworld.texts, count, 5, "validation", **world_of(name)), beams=(5,)
    )


def world_of(name: str) -> dict[str, str]:
    """The version of the stories that a model learned from, where it is not the first."""
    stored = offered_models().get(name)
    if stored is None or not (stored.folder / run_folder.RUN).is_file():
        return {}
    read_once = str(run_folder.described(stored.folder)["plan"].get("corpus", {}).get("name"))
    version = re.fullmatch(r"microworld-([\d.]+)(:\d+)?", read_once)
    return {"version": version[1]} if version else {}


def trap(name: str) -> Call:
    """Where greedy lost most in the contest."""
    return Call(ex.decoding.trap, model_of(name), contest(name))


def chosen_tokens(key: str) -> tuple[int, ...]:
    """The tokens that the visitor chose, from the address of the page."""
    ids = st.query_params.get(key, "")
    return tuple(int(token) for token in ids.split(".") if token.isdecimal())


def forced_options() -> dict[str, Any]:
    """The option that forces the tokens that the visitor chose, if there are any."""
    prefix = read(lambda: chosen_tokens("path"))
    return {"force": dict(enumerate(prefix))} if prefix else {}


def choose(key: str, ids: tuple[int, ...]) -> None:
    """Keep the tokens that the visitor chose in the address of the page."""
    if ids:
        st.query_params[key] = ".".join(map(str, ids))
    else:
        st.query_params.pop(key, None)


def take(key: str, before: tuple[int, ...], found: Distribution, row: int) -> None:
    """Go on with the token of a bar; the last bar stands for all others, and chooses none."""
    if row < SHOWN:
        choose(key, (*before, int(found.ids[row])))
