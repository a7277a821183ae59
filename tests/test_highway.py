"""ELMo's highway layers against the form in which AllenNLP computes them, and against the word that leaves them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from opening import opened

import explorer as ex
from explorer.errors import ChoiceError
from explorer.text.letters import letters
from explorer.views import VIEWS


def as_allennlp(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One layer of `allennlp.modules.Highway`: one product, cut into the new part and the gate of what is carried."""
    new, gate = torch.nn.functional.linear(x, weight, bias).chunk(2, dim=-1)
    new, gate = torch.relu(new), torch.sigmoid(gate)
    return gate * x + (1 - gate) * new, new, gate


@pytest.mark.parametrize("word", ["fishing", "photosynthesis"])
def test_highways_are_those_of_allennlp_and_their_last_state_is_the_word(word: str) -> None:
    elmo = ex.load("elmo", device="cpu")
    record = ex.analysis.highway_gates(elmo, word)
    x = torch.tensor(record.states[0])[None]
    assert (x >= 0).all() and len(record.gates) == 2
    for number, layer in enumerate(elmo.module.characters.highways):
        weight, bias = (torch.cat([getattr(part, name) for part in (layer.make, layer.gate)]) for name in ("weight", "bias"))
        x, new, carried = as_allennlp(x, weight, bias)
        np.testing.assert_allclose(record.states[number + 1], x[0].detach(), atol=1e-5)
        np.testing.assert_allclose(record.made[number], new[0].detach(), atol=1e-5)
        np.testing.assert_allclose(record.gates[number], 1 - carried[0].detach(), atol=1e-6)
        parts = record.parts(number)
        np.testing.assert_allclose(parts["T ∘ H"] + parts["(1 − T) ∘ x"], parts["y"], atol=1e-5)
    words = elmo.module.words(torch.tensor(letters([word]))[None])[0, 0]
    np.testing.assert_allclose(elmo.module.characters.project(x)[0].detach(), words.detach(), atol=1e-5)


def test_the_picture_sorts_units_by_their_gate_and_counts_them() -> None:
    record = ex.analysis.highway_gates(ex.load("elmo", device="cpu"), "fishing")
    line, cells = VIEWS["highway"](record, layer=1).data
    assert (np.diff(line.y) <= 0).all() and sorted(line.y) == sorted(record.gates[1])
    x, new, taken, carried, y = np.asarray(cells.z)
    np.testing.assert_allclose(taken, np.asarray(line.y) * new, atol=1e-6)
    np.testing.assert_allclose(taken + carried, y, atol=1e-5)
    title = " ".join(re.findall(r">([^<>]+)<", VIEWS["highway"](record, layer=1).layout.title.text))
    assert f"above a half in {(record.gates[1] > 0.5).sum()} units" in title
    np.testing.assert_allclose(carried, (1 - np.asarray(line.y)) * x, atol=1e-6)


def test_what_has_no_highways_is_refused() -> None:
    elmo = ex.load("elmo", device="cpu")
    bare = ex.build("elmo", tokenizer=elmo.tokenizer, device="cpu", dim=8, hidden=12, highways=0)
    with pytest.raises(ChoiceError, match="without highway layers"):
        ex.analysis.highway_gates(bare, "dog")


def test_the_page_draws_them() -> None:
    at = opened("elmo", part="highway")
    assert not at.exception and len(at.get("plotly_chart")) == 1
