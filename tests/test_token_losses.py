"""The loss of each token of a text: torch's cross_entropy of what the transformers library computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

import explorer as ex

TEXT, TARGET = "The dog did not cross the river because it was too tired.", "The dog was tired."
KINDS: dict[str, Any] = {"gpt2": AutoModelForCausalLM, "bert": AutoModelForMaskedLM, "bart": AutoModelForSeq2SeqLM}


@LONG
@pytest.mark.parametrize("name", KINDS)
def test_the_losses_of_a_trace_are_torch_s(name: str, tmp_path: Path) -> None:
    model = ex.load(name, device="cpu")
    theirs = KINDS[name].from_pretrained(ex.export(model, tmp_path / name)).eval()
    trace = ex.trace(model, TEXT, target=TARGET if name == "bart" else None)
    read = trace.source if trace.target is None else trace.target
    given = {} if trace.target is None else {"decoder_input_ids": torch.tensor(read.ids[None])}
    with torch.no_grad():
        logits = theirs(input_ids=torch.tensor(trace.source.ids[None]), **given).logits[0]
    ids = torch.tensor(read.ids)
    logits, ids = (logits, ids) if name == "bert" else (logits[:-1], ids[1:])
    wanted = torch.nn.functional.cross_entropy(logits.double(), ids, reduction="none").numpy()
    losses = trace.losses[len(read) - len(ids) :]
    known = ~np.isnan(losses)
    assert known.sum() == (len(ids) - 2 if name == "bert" else len(ids))
    np.testing.assert_allclose(losses[known], wanted[known], atol=1e-4)
    table = trace.to_frame("tokens")
    np.testing.assert_array_equal(
        table[table["text"] == ("source" if trace.target is None else "target")]["loss"], trace.losses
    )
    assert trace.target is None or table[table["text"] == "source"]["loss"].isna().all()


def test_a_trace_without_scores_says_so() -> None:
    trace = ex.trace(ex.load("gpt2", device="cpu"), TEXT, scores=False)
    assert trace.to_frame("tokens")["loss"].isna().all()
    with pytest.raises(ex.ExplorerError, match="scores=True"):
        _ = trace.losses
    with pytest.raises(AttributeError, match="trace.losses has the loss of each token"):
        _ = trace.loss  # type: ignore[attr-defined]
