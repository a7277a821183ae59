"""Attention, positions and the stack, held to the papers' formulas, to PyTorch's own fast attention and to Hugging Face's functions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from conftest import SAMPLED, Show, sample
from test_board_browser import NUMBERS, close
from test_twins import shaken
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.attention import attend
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import Config
from explorer.nn.fast.attention import fused_attention
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES, NORMS
from explorer.nn.positions import POSITIONS, PositionContext
from explorer.nn.transformer import Transformer, initialise


def random_model(number: int, deviation: float = 0.4, **fixed: object) -> Transformer:
    """A random small architecture with large random weights, so that attention is far from uniform."""
    rng = np.random.default_rng(number)
    heads = int(rng.choice([1, 2, 4]))
    config = {
        "family": str(rng.choice(["encoder", "decoder"])),  # the third family reads two texts: see seq2seq
        "vocab": 50,
        "heads": heads,
        "kv_heads": int(rng.choice([0, 1])),
        "dim": heads * int(rng.choice([2, 8, 16])),
        "layers": int(rng.integers(1, 4)),
        "hidden": int(rng.integers(4, 60)),
        "length": 32,
        "positions": str(rng.choice(list(POSITIONS))),
        "norm": str(rng.choice(list(NORMS))),
        "norm_place": str(rng.choice(NORM_PLACES)),
        "activation": str(rng.choice(list(ACTIVATIONS))),
        "embedding_norm": bool(rng.integers(2)),
        "final_norm": bool(rng.integers(2)),
        "segments": int(rng.choice([0, 2])),
        "bias": bool(rng.integers(2)),
        "scaled": bool(rng.integers(4)),
        "embedding_scale": bool(rng.integers(2)),
        "tied": bool(rng.integers(2)),
        **fixed,
    }
    return initialise(Transformer(Config(**config)), number, deviation).eval()  # type: ignore[arg-type, return-value]


def watched(module: Transformer, *arguments: torch.Tensor | None) -> torch.Tensor:
    with tap.listening(lambda *heard: None):
        return module(*arguments)


def seq2seq(number: int, **fixed: object) -> Transformer:
    """A random encoder-decoder."""
    return random_model(number, 0.15, family="encoder-decoder", encoder_layers=1 + number % 3, segments=0, **fixed)


@SAMPLED
@pytest.mark.parametrize("number", sample(40, 10))
def test_an_encoder_decoder_takes_both_paths_alike(number: int) -> None:
    module = seq2seq(number)
    rng = torch.Generator().manual_seed(number)
    source, target = (torch.randint(0, 50, (2, n), generator=rng) for n in (11, 6))
    real = torch.arange(11) < torch.tensor([[11], [4]])

    def states(source: torch.Tensor) -> torch.Tensor:
        return module.decode(module.encode(source, real), target, real)

    with torch.no_grad():
        fast, other = states(source), states(torch.where(real, source, (source + 1) % 50))
        with tap.listening(lambda *heard: None):
            explicit = states(source)
    limit = 1e-5 * max(1, float(fast.abs().max()))
    assert (fast - explicit).abs().max() <= limit and (fast - other).abs().max() <= limit
    assert torch.equal(fast[0], other[0])


@SAMPLED
@pytest.mark.parametrize("number", sample(60, 12))
def test_a_cache_changes_nothing(number: int) -> None:
    """One token at a time, or three at once after four, with what is kept: the same states as all at once without."""
    crossing = number % 2 == 1
    module = seq2seq(number) if crossing else random_model(number, 0.15, family="decoder", segments=0)
    rng = torch.Generator().manual_seed(number)
    ids, source = (torch.randint(0, 50, (2, n), generator=rng) for n in (9, 7))
    real = torch.arange(7) < torch.tensor([[7], [5]])
    with torch.no_grad():
        memory = module.encode(source, real) if crossing else None

        def run(part: torch.Tensor, cache: KeyValueCache | None) -> torch.Tensor:
            return module.decode(memory, part, real, cache) if crossing else module(part, cache=cache)

        whole = run(ids, None)
        for cuts in ([1] * 9, [4, 3, 2]):
            cache = KeyValueCache()
            states = torch.cat([run(part, cache) for part in ids.split(cuts, dim=1)], dim=1)
            assert cache.length == 9
            assert (states - whole).abs().max() <= 1e-5 * max(1, float(whole.abs().max()))
        turned = KeyValueCache()
        run(ids[:, :5], turned)
        turned.select([1, 0])
        if not crossing:
            swapped = run(ids[[1, 0], 5:], turned)
            assert (swapped - whole[[1, 0], 5:]).abs().max() <= 1e-5 * max(1, float(whole.abs().max()))


@pytest.mark.browser
@pytest.mark.parametrize(("name", "positions"), [("gpt2", "t5"), ("bert", "alibi")])
def test_the_four_places_of_the_formula_agree(show: Show, gpt2: TransformerModel, name: str, positions: str) -> None:
    """Step by step (`nn`), fused (`nn.fast`), derived from a record (NumPy) and in the browser (JavaScript): with bias and mask."""
    shape = {"dim": 32, "heads": 4, "layers": 1, "hidden": 48, "length": 40}
    model = ex.build(name, tokenizer=gpt2.tokenizer, device="cpu", seed=3, positions=positions, **shape)
    shaken(model.module, 3)
    trace = ex.trace(model, "The dog ran home because it was hungry.", blocks=True)
    record = trace.attention[0]
    q, k, v, bias, allowed = (torch.tensor(x)[None] for x in (record.q, record.k, record.v, record.bias, record.allowed[None]))
    weights = attend(q, k, record.scale, bias, allowed)
    context = fused_attention((q, k, v), bias, None, scale=record.scale, causal=name == "gpt2", dropout=0.0)
    page = show(trace)
    for head in range(record.heads):
        exact = record.derived(head)
        np.testing.assert_allclose(weights[0, head], exact, atol=1e-6)
        for other in ((weights @ v)[0, head], context[0, head], record.stage("context", head)):
            np.testing.assert_allclose(other, exact @ v[0, head].numpy(), atol=1e-5)
        numbers = page.evaluate(NUMBERS, [0, head])
        close(numbers["weights"], exact)
        close(numbers["context"], exact @ v[0, head].numpy())
    assert record.weights.max() > 3 / len(trace.source), "the scores decide something"


@pytest.mark.parametrize("number", sample(60, 16))
def test_the_explicit_path_equals_the_fast_one(number: int) -> None:
    """In float64 to the last digits; in float32 they differ by no more than a few times what rounding does to PyTorch's path."""
    module = random_model(number)
    exact = copy.deepcopy(module).double()
    rng = torch.Generator().manual_seed(number)
    ids = torch.randint(0, 50, (3, 12), generator=rng)
    segments = torch.randint(0, 2, (3, 12), generator=rng)
    real = torch.arange(12) < torch.tensor([[12], [7], [1]])
    with torch.no_grad():
        for mask in (None, real):
            seen = real if mask is not None else torch.ones_like(real)
            truth, fast = exact(ids, segments, mask)[seen], module(ids, segments, mask)[seen]
            size = max(1, float(truth.abs().max()))
            assert (watched(exact, ids, segments, mask)[seen] - truth).abs().max() <= 1e-12 * size
            rounding = float((fast - truth).abs().max())
            gap = float((watched(module, ids, segments, mask)[seen] - fast).abs().max())
            assert gap <= max(1e-5 * size, 4 * rounding) and rounding <= 1e-4 * size


@pytest.mark.parametrize("number", sample(30, 8))
def test_a_causal_row_sees_no_future(number: int) -> None:
    module = random_model(number, family="decoder")
    ids = torch.randint(0, 50, (1, 10), generator=torch.Generator().manual_seed(number))
    changed = ids.clone()
    changed[0, 6:] = (ids[0, 6:] + 1) % 50
    with torch.no_grad():
        for run in (module, lambda x: watched(module, x)):
            before, after = run(ids), run(changed)
            assert torch.equal(before[:, :6], after[:, :6])
            assert not torch.equal(before[:, 6:], after[:, 6:])


@pytest.mark.parametrize("number", sample(20, 6))
def test_an_encoder_without_positions_does_not_see_order(number: int) -> None:
    module = random_model(number, family="encoder", positions="none", segments=0)
    ids = torch.randint(0, 50, (1, 9), generator=torch.Generator().manual_seed(number))
    order = torch.randperm(9, generator=torch.Generator().manual_seed(number + 1))
    with torch.no_grad():
        straight = module(ids)[:, order]
        assert (straight - module(ids[:, order])).abs().max() <= 1e-5 * max(1, float(straight.abs().max()))
        seen = random_model(number, family="encoder", positions="sinusoidal", segments=0, layers=2)
        assert (seen(ids)[:, order] - seen(ids[:, order])).abs().max() > 1e-3


def test_sinusoids_are_the_paper_s_formula() -> None:
    table = scheme("sinusoidal").add(torch.arange(50)).numpy()
    for p, i in ((0, 0), (1, 0), (7, 3), (49, 7)):
        angle = p / 10000 ** (2 * i / 16)
        assert table[p, 2 * i] == pytest.approx(np.sin(angle), abs=1e-5)
        assert table[p, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-5)


def test_an_impossible_shape_is_refused() -> None:
    for message, wrong in (
        ("3 heads do not divide the width 8", {"heads": 3}),
        ("must be even", {"positions": "sinusoidal", "dim": 9, "heads": 3}),
        ("no position scheme 'polar'", {"positions": "polar"}),
        ("Did you mean 'encoder'", {"family": "encodr"}),
        ("must be at least 1", {"layers": 0}),
        ("cannot be compared with", {"embedding": 4}),
        ("read by the layers", {"embedding": 4, "positions": "disentangled"}),
        ("number of heads", {"replaced": True, "generator": 4, "positions": "t5"}),
        ("Only an encoder", {"family": "decoder", "replaced": True}),
        ("do not divide", {"replaced": True, "generator": 33}),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            Config(**{"family": "encoder", "vocab": 10, "dim": 8, "heads": 2, **wrong})  # type: ignore[arg-type]


def scheme(name: str, *, heads: int = 2, causal: bool = False):  # noqa: ANN201
    return POSITIONS[name](PositionContext(8 * heads, heads, 64, causal))


def test_t5_s_buckets_are_hugging_face_s() -> None:
    distance = torch.arange(-300, 301)
    for causal in (False, True):
        theirs = T5Attention._relative_position_bucket(distance, bidirectional=not causal, num_buckets=32, max_distance=128)
        assert torch.equal(scheme("t5", causal=causal).bucket(distance), theirs)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16])
def test_alibi_s_slopes_are_bloom_s(heads: int) -> None:
    n = 20
    theirs = build_alibi_tensor(torch.ones(1, n), heads, torch.float32).reshape(heads, n)  # slope · place of the key
    ours = scheme("alibi", heads=heads, causal=True).bias(torch.arange(n), torch.arange(n))[0]
    for query in (0, 7, n - 1):  # the same up to a constant in each row, which the softmax does not see
        shift = ours[:, query] - theirs
        seen = shift[:, : query + 1]
        assert (seen - seen[:, :1]).abs().max() <= 1e-5
