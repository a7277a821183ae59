"""The head of a lesson: which model, which sentence, and the trace of the one reading the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import explorer as ex
from explorer.app import brought, hold, hosted
from explorer.app.cached import KEPT, OPENED, kept, lasting
from explorer.app.call import Call, Expression, Given, calls, run
from explorer.app.exercises import plain
from explorer.app.lessons import SENTENCE
from explorer.app.model_card import about_model
from explorer.app.trial import check_opens
from explorer.errors import ExplorerError
from explorer.models.cache import Cache, Stamp, stamp
from explorer.models.caching import USUAL, policy_of
from explorer.models.load import STORED
from explorer.models.suited import attends
from explorer.training.jobs import job_queue

FIRST = "bert"  # the model that a lesson opens with
FILMED = ("bert-tiny", "induction")  # two that kept snapshots of their training
LECTURED = "The animal didn't cross the street because it was too tired."  # in the lectures, and kept out of every training
OTHERS = {"The lecture's sentence": LECTURED, "The opening sentence": SENTENCE}  # beside those that a model reads well
BOX = "text"  # of the sentence that follows from page to page
LONGEST = 24  # letters of a name that are seen whole
WARNING = (
    "This is the lecture's sentence. The models here are small, and no training text contains it: do not expect the lecture's picture of a "
    "head."
)


def model_of(name: str) -> Expression:
    """What opens a model: the call, or the checkpoint that this visitor uploaded."""
    held = brought.upload()
    if held is not None and held.name == name:
        return Given(held.model, Call(ex.load, held.elsewhere, device="cpu"), held.name)
    mine = brought.named()
    chosen = mine if mine and brought.is_called(mine, name) else name
    return Call(ex.load, chosen, device="cpu", **({"precision": STORED} if brought.is_checkpoint(chosen) else {}))


def opened(name: str) -> Any:
    """One model for every visitor."""
    return result_of(model_of(name))


def trace_of(name: str, text: str | list[int]) -> Call:
    """The call that traces a text, or the IDs of its tokens, with every block where the model shows them."""
    return Call(ex.trace, model_of(name), text, blocks=not getattr(opened(name), "without_blocks", ""))


def target_of(model: Any, text: str) -> dict[str, str]:
    """The option by which an encoder–decoder also reads the text as its target; none for other models."""
    return {"target": text} if model.family == "encoder-decoder" else {}


def result_of(what: Any) -> Any:
    """What a call makes, once for every visitor who asks the same. Records are read-only, so sharing is safe.

    A call inside it is kept as well. What depends on files is made again when they have changed.
    """
    if not isinstance(what, Call):
        return run(what, result_of)
    hosted.check_text((*what.given, *what.options.values()))
    policy, given = policy_of(what.function), [part.mark for part in calls(what) if isinstance(part, Given)]
    if not policy.keeps or not all(given):
        return what.run(result_of)
    doing = "Opening the model …" if policy.opens else "Asking the model …"
    key = key_of(what)
    on_disk = policy.on_disk and not given  # nothing of what a visitor brought
    make = (lambda: lasting(key, lambda: what.run(result_of))) if on_disk else lambda: _run(what)
    return kept(key, make, doing, cache_of(what))


def _run(what: Call) -> Any:
    """What a call makes. In a room, what a visitor named is opened in a process of its own first: others would go with this one."""
    if what.opens and hosted.room() is not None and what.given[:1] == (brought.named(),):
        check_opens(what.given[0], brought.named(), psutil.virtual_memory().available)
        return brought.bounded(what.run(result_of))
    return what.run(result_of)


def key_of(what: Call) -> tuple[Any, ...]:
    """Under what the result of a call is kept: its text, its files, and which uploads it reads."""
    return (what.text, stamp_of(what), *(part.mark for part in calls(what) if isinstance(part, Given)))


def cache_of(what: Call) -> Cache:
    """Opened models are kept apart from the rest, but for those that visitors train: there are ever more, and few look at each."""
    if not what.opens:
        return KEPT
    home = job_queue().home
    return KEPT if any(isinstance(argument, str) and Path(argument).is_relative_to(home) for argument in what.given) else OPENED


def usable(every: Mapping[str, Call]) -> tuple[Call, ...]:
    """Those calls that can be made; of the others the page says why they are left out."""
    refused = {}
    for name, call in every.items():
        try:
            result_of(call)
        except ExplorerError as error:
            refused[name] = plain(str(error))
    if refused:
        st.info("  \n".join(f"**{name}** is left out. {why}" for name, why in refused.items()))
    return tuple(call for name, call in every.items() if name not in refused)


def stamp_of(what: Expression) -> tuple[Stamp, ...]:
    """The times and sizes of the files that a call reads: of models that it opens, of steps and results that it reads."""
    reading = [call for call in calls(what) if isinstance(call, Call) and policy_of(call.function).files is not USUAL.files]
    return tuple(stamp(*policy_of(call.function).files(*run(call.given), **run(call.options))) for call in reading)


def attentive() -> list[str]:
    """The models whose attention can be looked at: not those that count, read letters or keep one vector a word."""
    return [name for name, stored in brought.offered_models().items() if attends(stored)]


def model_and_text(place: DeltaGenerator | None = None) -> tuple[str, str]:
    """The model and the sentence that the visitor chose; both follow from page to page. A model that does not open ends the page.

    The model stands before the sentence, or in a `place` of its own.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with place or nullcontext():
            name = chosen_model(attentive())
        text = sentence()
    read(partial(opened, name))
    clickable(name, text)
    return name, text


def chosen_model(names: Iterable[str], key: str = "model", first: str = FIRST, *, label: str = "Model", box: str = BOX) -> str:
    """One of these models, and on request what it can; a sentence that is clicked there goes into the box of this key."""
    offered = list(names)
    brought.ask_for_named(key, offered)
    hosted.open_model(key, offered, first)
    with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
        name = one_of(label, offered, key, first)
        about_model(name, box, OTHERS if box == BOX else {})
    return name


def sentence(label: str = "Your sentence") -> str:
    """The sentence that the visitor chose."""
    return st.text_input(label, SENTENCE, key=BOX, bind="query-params", icon=":material/edit:")


def clickable(name: str, text: str) -> None:
    """The sentence of a page as the tokens of a model: one that is clicked is held."""
    hold.bar(text, read(lambda: opened(name).tokens(text)))


def one_of(label: str, names: Iterable[str], key: str, first: str = FIRST, runs: Collection[str] = ()) -> str:
    """One of these models, chosen by its name; a name in the address that is none of them is forgotten. Every room offers `runs`."""
    mine, every = brought.brought_models(), list(names)
    logs, models = [name for name in every if name in runs], [name for name in every if name not in (*mine, *runs)]
    offered = [*logs, *hosted.allowed(models), *(name for name in every if name in mine)]
    if st.session_state.get(key, offered[0]) not in offered:
        del st.session_state[key]
    at = offered.index(first) if first in offered else 0
    longest = min(max(map(len, offered)), LONGEST)
    return st.selectbox(label, offered, at, key=key, bind="query-params", width=max(145, 70 + 7 * longest) + 8 * len(label))


def at_the_source(name: str) -> dict[str, object]:
    """Where the board of a translation opens: at the last layer of cross-attention, in which the shipped translator aligns the texts."""
    return {"stream": "cross", "layer": opened(name).streams["cross"][0] - 1, "head": 0, "station": "softmax"}


def read(what: Any) -> Any:
    """What a call (or a function) makes; where it cannot, the page says why and ends."""
    try:
        return what() if callable(what) else result_of(what)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        st.stop()
