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
from explorer.nn.incremental import IncrementalDecoder
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES, NORMS
from explorer.nn.numpy_decoder import MOST_BEAMS, WIDEST, NumpyDecoder, PreallocatedCache
from explorer.nn.positions import POSITIONS, Position

SHAPE: dict[str, Any] = {"dim": 32, "layers": 2, "heads": 4, "hidden": 48, "length": 40, "device": "cpu"}
ADDED = ("none", "learned", "sinusoidal", "sinusoidal-halves")  # these fill none but the slot of the embeddings
SCALING = [name for name in NORMS if name != "none"]  # without any norm rounding grows from layer to layer
SCHEMES = [name for name, scheme in POSITIONS.items() if scheme.score is Position.score]


def compared(model: TransformerModel, beams: int = 3, before: int = 5, more: int = 6) -> None:
    """Read `before` tokens, then one after the other, both ways; each keeps a cache of its own."""
    rng, module = torch.Generator().manual_seed(1), model.module
    ids = torch.randint(0, model.config.vocab, (beams, before + more), generator=rng)
    memory = torch.randn(beams, 7, model.config.dim, generator=rng) if model.family == "encoder-decoder" else None
    slow, fast = KeyValueCache(), KeyValueCache()
    with torch.inference_mode():
        step = IncrementalDecoder(module)
        for cache in (slow, fast):
            _read(module, memory, ids[:, :before], cache)
        for place in range(before, before + more):
            expected = _read(module, memory, ids[:, place : place + 1], slow)[:, 0]
            torch.testing.assert_close(step(ids[:, place], fast), expected, atol=1e-5, rtol=1e-4)
    assert fast.length == slow.length == before + more


def _read(module: Any, memory: torch.Tensor | None, ids: torch.Tensor, cache: KeyValueCache) -> torch.Tensor:
    return module(ids, cache=cache) if memory is None else module.decode(memory, ids, cache=cache)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", NORM_PLACES)
@pytest.mark.parametrize("norm", NORMS)
def test_every_shape_gives_the_same_states(scheme: str, place: str, norm: str, gpt2: TransformerModel) -> None:
    how = {
        "positions": scheme,
        "norm_place": place,
        "norm": norm,
        "final_norm": place == "pre",
        "embedding_norm": norm == "layer",
    }
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, seed=2, **SHAPE, **how)
    shaken(model.module, 2)
    compared(model)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("llama", {"kv_heads": 2}),
        ("olmo", {}),
        ("olmo2", {"kv_heads": 1}),
        ("transformer", {}),
        ("bart", {}),
        ("t5", {}),
        ("pegasus", {}),
    ],
)
def test_every_system_that_writes_gives_the_same_states(name: str, more: dict[str, int], gpt2: TransformerModel) -> None:
    model = ex.build(name, tokenizer=gpt2.tokenizer, seed=3, **SHAPE, **more)
    shaken(model.module, 3)
    compared(model)


def test_it_is_taken_only_where_nobody_listens(gpt2: TransformerModel) -> None:
    assert NativeStepper(gpt2).incremental is not None
    source = gpt2.tokens("The dog ran.")
    assert NativeStepper(gpt2, source, cross=True).incremental is None, "cross-attention is heard from the modules"
    assert not IncrementalDecoder.fits(ex.build("bert", tokenizer=gpt2.tokenizer, **SHAPE).module)
    gpt2.module.train()
    try:
        assert not IncrementalDecoder.fits(gpt2.module)
    finally:
        gpt2.module.eval()


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


@pytest.mark.parametrize("number", sample(200, 40))
def test_one_text_alone_gives_the_scores_of_the_whole_forward(number: int, gpt2: TransformerModel) -> None:
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, device="cpu", seed=number, **drawn(number))
    shaken(model.module, number)
    assert NumpyDecoder.fits(model.module)
    ids = np.random.default_rng(number).integers(0, model.config.vocab, 24).tolist()
    cache, decoder = KeyValueCache(), NumpyDecoder(model.module)
    with torch.inference_mode():
        model.module(torch.tensor([ids[:4]]), cache=cache)
    preallocated = PreallocatedCache(cache, decoder.capacity)
    found = np.concatenate([decoder([token], preallocated) for token in ids[4:]])
    expected = torch.tensor(model.logits(ids)[4:]).log_softmax(-1)  # one forward over the whole text, without a cache
    with torch.inference_mode():
        exact = copy.deepcopy(model.module).double()
        truth = exact.outputs(exact(torch.tensor([ids])))["lm"][0, 4:].log_softmax(-1)
    rounding = float(
        (expected - truth).abs().max()
    )  # what float32 does to the whole forward: more in some shapes than in others
    assert rounding <= 1e-3
    torch.testing.assert_close(torch.tensor(found).log_softmax(-1).double(), truth, atol=max(1e-5, 4 * rounding), rtol=1e-5)
    assert preallocated.length == 24


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

    def written(stepper: NativeStepper) -> list[np.ndarray]:
        state, found, ways = stepper.start([1, 2, 3]), [], []
        for n, (ids, parents) in enumerate(turns):
            with tap.listening(lambda *_: None) if n == 6 else nullcontext():
                logp, state = stepper.next(state, ids, parents)
            found.append(logp)
            ways.append(isinstance(state.cache, PreallocatedCache))
        assert ways == ([False, True, True, True, False, False, False, True] if stepper.numpy else [False] * 8)
        return found

    plain = NativeStepper(gpt2)
    plain.numpy = None
    for one, other in zip(written(NativeStepper(gpt2)), written(plain), strict=True):
        np.testing.assert_allclose(one, other, atol=5e-5)


@pytest.mark.parametrize("number", sample(60, 12))
def test_beams_give_the_scores_of_their_texts_and_say_where_they_look(number: int, gpt2: TransformerModel) -> None:
    """Beams that part, end and change places, of a decoder and of an encoder-decoder: as the modules with their taps compute them."""
    rng = np.random.default_rng(number)
    name, shape = ("bart", "gpt2")[number % 2], drawn(number)
    model = ex.build(name, tokenizer=gpt2.tokenizer, device="cpu", seed=number, **shape)
    shaken(model.module, number)
    source = gpt2.tokens("The dog ran home.") if name == "bart" else None
    exact = copy.deepcopy(model)
    exact.module.double()
    quick, plain, truth = (NativeStepper(one, source, cross=source is not None) for one in (model, model, exact))
    assert quick.numpy is not None and truth.numpy is None
    plain.numpy = plain.incremental = None
    begin = rng.integers(0, model.config.vocab, 3).tolist()
    steppers, beams = (quick, plain, truth), 1
    states = [stepper.start(begin) for stepper in steppers]
    for step in range(12):
        count = int(rng.integers(1, 6))
        ids, parents = rng.integers(0, model.config.vocab, count).tolist(), rng.integers(0, beams, count).tolist()
        pairs = [stepper.next(state, ids, parents) for stepper, state in zip(steppers, states, strict=True)]
        found, states, beams = [np.exp(logp) for logp, _ in pairs], [state for _, state in pairs], count
        assert isinstance(states[0].cache, PreallocatedCache) == (step > 0)
        assert states[0].reused == states[1].reused
        near(*found)
        if source is not None:
            near(*(state.cross for state in states))


def near(one: np.ndarray | None, other: np.ndarray | None, truth: np.ndarray | None) -> None:
    """Whether one is as near to what double precision computes as the other; some shapes round more than others."""
    assert one is not None and other is not None and truth is not None and one.shape == other.shape
    rounding = float(np.abs(other - truth).max())
    assert rounding < 0.01 and np.abs(one - truth).max() <= max(1e-5, 4 * rounding)
