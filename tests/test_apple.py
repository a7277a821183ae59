"""A GPU of Apple's (MPS) is taken where PyTorch has it, and nothing is asked of it that it cannot do: it has no 64-bit numbers."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from conftest import ALL, LONG
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

import explorer as ex
from explorer.models.load import pick_device
from explorer.training.device import forked, seeded

APPLE = torch.device("mps")


class Wide(TorchDispatchMode):
    """Counts the operations that make 64-bit numbers; a batch is made of NumPy's numbers before it is sent to a device."""

    def __init__(self) -> None:
        super().__init__()
        self.found: collections.Counter[str] = collections.Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if any(isinstance(x, torch.Tensor) and x.dtype in (torch.float64, torch.complex128) for x in tree_flatten(out)[0]):
            self.found[func.overloadpacket.__name__] += 1
        return out


def everything(*systems: str) -> collections.Counter[str]:
    """What makes 64-bit numbers while models are trained, measured, fine-tuned, traced and changed, and while they write."""
    with Wide() as wide:
        for name in systems:
            list(ex.fit(name, corpus=ex.microworld.texts(40, 1), pieces=300, steps=2, batch=4, checks=1, device="cpu"))
        bert = ex.load("bert", device="cpu")
        list(ex.finetune(bert, task="sentiment", examples=16, steps=2, checks=1))
        ex.trace(bert, "A dog ran.", blocks=True)
        ex.damage(bert, "A dog ran.")
        ex.gradient(bert, "A dog ran.")
        list(ex.decode(ex.load("gpt2", device="cpu"), "A dog", "beam", beams=2, max_tokens=3))
    wide.found.pop("lift_fresh", None)  # NumPy's own, on the processor
    return wide.found


def test_it_is_chosen_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(pick_device("auto")) == "cpu"
    with pytest.raises(ex.ExplorerError, match="no GPU of Apple's"):
        pick_device("mps")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto") == pick_device("mps") == APPLE and str(pick_device("cpu")) == "cpu"
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert str(pick_device("auto")) == "cpu", "there is one, which several processes cannot share"
    with pytest.raises(ex.ExplorerError, match="single process"):
        pick_device("mps")
    with pytest.raises(ex.ExplorerError, match="Did you mean 'mps'"):
        pick_device("mp")
    for name, value in (("is_available", True), ("device_count", 1), ("set_device", None)):
        monkeypatch.setattr(torch.cuda, name, Mock(return_value=value))
    monkeypatch.delenv("WORLD_SIZE")
    assert pick_device("auto").type == "cuda", "a GPU of NVIDIA's comes first"


@LONG
def test_nothing_is_computed_there_in_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert everything("bert"), "on a processor sums are kept in 64 bits, and this notices"
    for place in ("nn.widest", "training.device", "analysis.evaluation.head_weights"):
        monkeypatch.setattr(f"explorer.{place}.widest", lambda device: torch.float32)  # as it answers on such a GPU
    assert everything(*(("bert", "gpt2") if ALL else ("gpt2",))) == {}


def test_its_random_numbers_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [7]  # of the generator, the last is in use
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: states[-1])
    for name in ("set_rng_state", "manual_seed"):
        monkeypatch.setattr(torch.mps, name, states.append)
    before = torch.get_rng_state()
    with forked(APPLE):
        seeded(APPLE, 123)
        assert states[-1] == 123 and torch.initial_seed() == 123
    assert states[-1] == 7 and torch.equal(torch.get_rng_state(), before)


def test_what_it_cannot_do_is_left_to_the_processor() -> None:
    code = "import explorer, os; print(os.environ['PYTORCH_ENABLE_MPS_FALLBACK'])"
    env = {name: value for name, value in os.environ.items() if name != "PYTORCH_ENABLE_MPS_FALLBACK"}
    for chosen, expected in ({}, "1"), ({"PYTORCH_ENABLE_MPS_FALLBACK": "0"}, "0"):
        done = subprocess.run([sys.executable, "-c", code], env=env | chosen, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
