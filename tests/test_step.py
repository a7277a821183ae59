"""A decoder laid out for one more token, against the same decoder as it is written."""

from __future__ import annotations

import copy
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from conftest import sample
from test_twins import shaken

import explorer as ex
from explorer.decoding.native import NativeStepper
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.fast.numpy_decoder import MOST_BEAMS, WIDEST, NumpyDecoder, PreallocatedCache
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES, NORMS

SHAPE: dict[str, Any] = {"dim": 32, "layers": 2, "heads": 4, "hidden": 48, "length": 40, "device": "cpu"}
ADDED = ("none", "learned", "sinusoidal", "sinusoidal-halves")  # these fill none but the slot of the embeddings
SCALING = [name for name in NORMS if name != "none"]  # without any norm rounding grows from layer to layer


def drawn(number: int) -> dict[str, Any]:
    """A shape of a small decoder, at random: everything that `NumpyDecoder` says it can lay out."""
    rng = np.random.default_rng(number)
    heads, width = int(rng.integers(1, 5)), 2 * int(rng.integers(1, 9))
    return {
        "dim": heads * width, "heads": heads, "layers": int(rng.integers(1, 4)), "hidden": int(rng.integers(3, 90)),
        "length": 24, "positions": str(rng.choice(ADDED)), "norm": str(rng.choice(SCALING)),
        "norm_place": str(rng.choice(NORM_PLACES)), "activation": str(rng.choice([*ACTIVATIONS])),
        "bias": bool(rng.integers(2)), "final_norm": bool(rng.integers(2)), "embedding_norm": bool(rng.integers(2)),
        "scaled": bool(rng.integers(2)), "embedding_scale": bool(rng.integers(2)), "tied": bool(rng.integers(2)),
        "scaled_head": bool(rng.integers(2)), "head_bias": bool(rng.integers(2)), "norm_epsilon": 1e-5,
    }  # fmt: skip


def compared(model: TransformerModel, seed: int = 1) -> None:
    """24 tokens one after the other, against one forward over the whole text in double precision, without a cache."""
    assert NumpyDecoder.fits(model.module)
    ids = np.random.default_rng(seed).integers(0, model.config.vocab, 24).tolist()
    cache, decoder = KeyValueCache(), NumpyDecoder(model.module)
    exact = copy.deepcopy(model.module).double()
    with torch.inference_mode():
        model.module(torch.tensor([ids[:4]]), cache=cache)
        truth = exact.outputs(exact(torch.tensor([ids])))["lm"][0, 4:].log_softmax(-1)
    preallocated = PreallocatedCache(cache, decoder.capacity)
    scores = np.concatenate([decoder([token], preallocated) for token in ids[4:]])
    single = torch.tensor(model.logits(ids)[4:]).log_softmax(-1)
    rounding = float((single - truth).abs().max())  # of the whole forward in float32: more in some shapes than in others
    assert rounding <= 1e-3
    torch.testing.assert_close(torch.tensor(scores).log_softmax(-1).double(), truth, atol=max(1e-5, 10 * rounding), rtol=1e-5)
    assert preallocated.length == 24


@pytest.mark.parametrize("number", sample(200, 24))
def test_one_text_alone_gives_the_scores_of_the_whole_forward(number: int, gpt2: TransformerModel) -> None:
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, device="cpu", seed=number, **drawn(number))
    shaken(model.module, number)
    compared(model, number)


def test_what_the_numpy_decoder_cannot_lay_out_goes_the_other_way(gpt2: TransformerModel) -> None:
    def fits(preset: str = "gpt2", **more: Any) -> bool:
        return NumpyDecoder.fits(ex.build(preset, tokenizer=gpt2.tokenizer, **{**SHAPE, **more}).module)

    assert all(fits(positions=scheme) for scheme in ADDED)
    assert not any(fits(positions=scheme) for scheme in ("t5", "rope", "alibi", "disentangled"))
    assert not fits("olmo2") and not fits(kv_heads=2) and not fits("bert") and not fits("t5")
    assert fits("bart") and fits("transformer") and not fits("bart", kv_heads=2)
    assert not fits(head_transform=True) and not fits(dim=2 * WIDEST) and fits(dim=WIDEST)
    module = ex.build("gpt2", tokenizer=gpt2.tokenizer, **SHAPE).module
    assert not NumpyDecoder.fits(module.train()) and not NumpyDecoder.fits(module.eval().double())


def test_a_text_may_part_join_and_be_listened_to_on_its_way(gpt2: TransformerModel) -> None:
    """One text alone, three, these in another order, too many, one, one that is watched, one alone: each as without `NumpyDecoder`."""
    many = list(range(1, MOST_BEAMS + 2))
    turns = [([5], [0]), ([6], [0]), ([7, 8, 9], [0, 0, 0]), ([4, 5, 6], [2, 0, 2]), (many, [1] * len(many))]
    turns += [([3], [2]), ([4], [0]), ([2], [0])]

    def scores(stepper: NativeStepper) -> list[np.ndarray]:
        state, rows, preallocated = stepper.start([1, 2, 3]), [], []
        for n, (ids, parents) in enumerate(turns):
            with tap.listening(lambda *_: None) if n == 6 else nullcontext():
                logp, state = stepper.next(state, ids, parents)
            rows.append(logp)
            preallocated.append(isinstance(state.cache, PreallocatedCache))
        assert preallocated == ([False, True, True, True, False, False, False, True] if stepper.numpy else [False] * 8)
        return rows

    plain = NativeStepper(gpt2)
    plain.numpy = None
    for quick, slow in zip(scores(NativeStepper(gpt2)), scores(plain), strict=True):
        np.testing.assert_allclose(quick, slow, atol=5e-5)


@pytest.mark.parametrize("number", sample(60, 6))
def test_beams_give_the_scores_of_their_texts_and_their_cross_attention(number: int, gpt2: TransformerModel) -> None:
    """Beams that part, end and change places, of a decoder and of an encoder-decoder: as the modules with their taps compute them."""
    rng = np.random.default_rng(number)
    name, shape = ("bart", "gpt2")[number % 2], drawn(number)
    model = ex.build(name, tokenizer=gpt2.tokenizer, device="cpu", seed=number, **shape)
    shaken(model.module, number)
    source = gpt2.tokens("The dog ran home.") if name == "bart" else None
    exact = copy.deepcopy(model)
    exact.module.double()
    quick, plain, truth = (NativeStepper(each, source, cross=source is not None) for each in (model, model, exact))
    assert quick.numpy is not None and truth.numpy is None
    plain.numpy = None
    begin = rng.integers(0, model.config.vocab, 3).tolist()
    steppers, beams = (quick, plain, truth), 1
    states = [stepper.start(begin) for stepper in steppers]
    for step in range(12):
        count = int(rng.integers(1, 6))
        ids, parents = rng.integers(0, model.config.vocab, count).tolist(), rng.integers(0, beams, count).tolist()
        pairs = [stepper.next(state, ids, parents) for stepper, state in zip(steppers, states, strict=True)]
        states, beams = [state for _, state in pairs], count
        assert isinstance(states[0].cache, PreallocatedCache) == (step > 0)
        assert states[0].reused == states[1].reused
        _assert_near(*(np.exp(logp) for logp, _ in pairs))
        if source is not None:
            _assert_near(*(state.cross for state in states))


def _assert_near(quick: np.ndarray, plain: np.ndarray, truth: np.ndarray) -> None:
    """Assert that one is as near to what double precision computes as the other; some shapes round more than others."""
    rounding = float(np.abs(plain - truth).max())
    assert quick.shape == plain.shape and rounding < 0.01 and np.abs(quick - truth).max() <= max(1e-5, 10 * rounding)
