"""Steering: a direction added to the states of a decoder, against a hook of PyTorch; and the part of the page that does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened

import explorer as ex
from explorer.errors import ExplorerError

TEXT, TOWARD, AWAY = "Ben was hungry, so", "Anna was hungry, so she ate", "Anna was tired, so she slept"


@torch.no_grad()
def by_hand(name: str, layer: int, factor: float, count: int) -> list[int]:
    """Greedy decoding without a cache, with a hook behind one layer."""
    model = ex.load(name, device="cpu")
    block, kept = model.module.layers[layer], []
    hook = block.register_forward_hook(lambda *given: kept.append(given[-1][0, -1].clone()))
    for text in (TOWARD, AWAY):
        model.module(torch.tensor([model.tokens(text).ids.tolist()]))
    hook.remove()
    add = factor * (kept[0] - kept[1])
    hook = block.register_forward_hook(lambda *given: given[-1] + add)
    ids = model.tokens(TEXT).ids.tolist()
    try:
        for _ in range(count):
            ids.append(int(model.module.head(model.module(torch.tensor([ids]))[0, -1]).argmax()))
    finally:
        hook.remove()
    return ids[-count:]


@LONG
@pytest.mark.parametrize(("name", "layer"), [("gpt2", 0), ("llama", 1)])
def test_a_steered_model_writes_what_a_hook_writes(name: str, layer: int) -> None:
    model, factors = ex.load(name, device="cpu"), (0.5, -1.0, 2.0)
    rows = ex.analysis.steered(model, TEXT, (TOWARD, AWAY), layer=layer, factors=factors, max_tokens=6)
    plain = ex.decoding.written(model, TEXT, "as it is", "greedy", max_tokens=6)
    np.testing.assert_array_equal(rows[0].ids, plain.ids)
    for factor, row in zip((0.0, *factors), rows, strict=True):
        wanted = by_hand(name, layer, factor, 6)
        assert row.ids.tolist() == wanted[: len(row.ids)] and len(row.ids) > 0, factor
    assert len({tuple(row.ids.tolist()) for row in rows}) > 2, "the direction changes what is written"
    again = ex.decoding.written(model, TEXT, "as it is", "greedy", max_tokens=6)
    np.testing.assert_array_equal(again.ids, plain.ids, "nothing is left behind")


def test_a_vector_is_added_to_every_state_of_its_layer() -> None:
    model = ex.load("bert", device="cpu")
    vector = np.linspace(-1, 1, model.config.dim)
    before = ex.trace(model, "A dog ran.")
    after = ex.trace(model, "A dog ran.", edits=[ex.AddVector("encoder", 0, vector, 3.0)])
    np.testing.assert_allclose(after.hidden["encoder"][1], before.hidden["encoder"][1] + 3 * vector, atol=1e-4)
    assert not np.allclose(after.hidden["encoder"][2], before.hidden["encoder"][2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layer": 9}, "layer"), ({"factors": (float("nan"),)}, "number"), ({"factors": ("much",)}, "number"),
        ({"factors": (float("inf"),)}, "number"), ({"max_tokens": 0}, "max_tokens"), ({"between": ("one",)}, "between"),
    ],
)  # fmt: skip
def test_what_cannot_steer_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ExplorerError, match=said):
        ex.analysis.steered(ex.load("gpt2"), TEXT, **{"between": (TOWARD, AWAY), **options})
    with pytest.raises(ExplorerError, match="not a decoder"):
        ex.analysis.steered(ex.load("bert"), TEXT, (TOWARD, AWAY))
    with pytest.raises(ExplorerError, match="vector has 3"):
        ex.trace(ex.load("gpt2"), TEXT, edits=[ex.AddVector("decoder", 0, np.ones(3))])


def test_the_page_steers_a_decoder_and_says_what_else_would_be_needed() -> None:
    at = opened("whatif", part="steering", model="gpt2")
    assert not at.exception and len(at.get("plotly_chart")) == 1
    at = opened("whatif", part="steering", model="bert")
    assert not at.exception and any("Choose a decoder" in info.value for info in at.info)
