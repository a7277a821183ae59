"""`ex.trace` of a list of texts, and arguments that were exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SENTENCE

import explorer as ex
from explorer.analysis import trace as tracing
from explorer.models.transformer import TransformerModel


def test_a_list_gives_a_list_of_the_same_traces(bert: TransformerModel) -> None:
    pair = ("A dog ran.", "It was tired.")
    texts = ["A dog ran.", pair, bert.tokens(SENTENCE), [2, 7, 8, 3]]
    every = ex.trace(bert, texts, edits=ex.NoScale("encoder"), blocks=True)
    assert isinstance(every, list) and len(every) == 4
    for text, record in zip(texts, every, strict=True):
        alone = ex.trace(bert, text, edits=ex.NoScale("encoder"), blocks=True)
        assert record.source.ids.tolist() == alone.source.ids.tolist() and len(record.blocks) == len(alone.blocks)
        assert all(np.array_equal(a.weights, b.weights) for a, b in zip(record.attention, alone.attention, strict=True))
    assert every[1].source.segments == ex.trace(bert, pair).source.segments and max(every[1].source.segments) == 1


def test_two_strings_in_a_tuple_are_still_one_pair(bert: TransformerModel) -> None:
    record = ex.trace(bert, ("A dog ran.", "It was tired."))
    assert isinstance(record, ex.Trace) and max(record.source.segments) == 1
    assert len(ex.trace(bert, ["A dog ran."])) == 1


def test_each_text_has_its_target() -> None:
    bart = ex.load("bart", device="cpu")
    record = ex.trace(bart, ["A dog ran.", "It slept."], target=["A dog slept.", "It ran."])
    alone = ex.trace(bart, "It slept.", target="It ran.")
    assert record[1].target is not None and alone.target is not None
    assert record[1].target.ids.tolist() == alone.target.ids.tolist()
    for target in ("It ran.", ["It ran."]):
        with pytest.raises(ex.ExplorerError, match="These are 2 texts, so target must be a list of 2 targets"):
            ex.trace(bart, ["A dog ran.", "It slept."], target=target)


def test_what_one_of_them_lacks_is_said(bert: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ex.ExplorerError, match="The text is empty"):
        ex.trace(bert, ["A dog ran.", " "])
    with pytest.raises(ex.ExplorerError, match="Give at least one word"):
        ex.trace(bert, [])
    with pytest.raises(ex.ExplorerError, match="must be a text"):
        ex.trace(bert, ["A dog ran.", 3.5])  # type: ignore[list-item]
    monkeypatch.setattr(tracing, "MEMORY", 3 * tracing.cost(bert, 6) - 1)
    assert len(ex.trace(bert, ["A dog ran."] * 2)) == 2
    with pytest.raises(ex.ExplorerError, match="traces of these 3 texts would take"):
        ex.trace(bert, ["A dog ran."] * 3)


EXCHANGED: dict[str, Callable[[Any], Any]] = {
    "Write trace(model, text)": lambda model: ex.trace("A dog ran.", model),
    "Write decode(model, text)": lambda model: ex.decode("A dog", model),
    "Write show(view, record)": lambda model: ex.show(ex.trace(model, "A dog ran."), "attention"),
    "Write head_statistics(model, texts)": lambda model: ex.head_statistics(["A dog ran."], model),
    "Write export(model, folder)": lambda model: ex.export("folder", model),
    "Write save(shown, path)": lambda model: ex.save("x.html", ex.trace(model, "A dog ran.")),
    "Write tokenizer(kind, texts)": lambda model: ex.tokenizer(["a dog"], "bpe", size=40),
    "Write change(text, edits)": lambda model: ex.change(model, ex.NoScale("encoder"), "A dog ran."),
}


@pytest.mark.parametrize("advice", EXCHANGED)
def test_exchanged_arguments_are_named_in_one_line(advice: str, bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError) as refused:
        EXCHANGED[advice](bert)
    message = str(refused.value)
    assert advice in message and "are exchanged" in message and "\n" not in message and len(message) < 300


def test_what_is_only_wrong_is_not_called_exchanged(bert: TransformerModel) -> None:
    for wrong in (lambda: ex.trace("bert", 3), lambda: ex.trace(bert, 3), lambda: ex.fit("bert", steps="10")):  # type: ignore[arg-type]
        with pytest.raises(ex.ExplorerError, match="must be") as refused:
            wrong()
        assert "exchanged" not in str(refused.value)
