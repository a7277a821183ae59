"""Schemes and layers that this house has never seen: traced, decoded with and without a cache, and trained, by what they declare."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED
from test_step import compared
from test_twins import shaken
from torch import Tensor, nn

import explorer as ex
from explorer.analysis.evaluation.generating import continued, rewritten
from explorer.decoding import STRATEGIES
from explorer.decoding.decode import decoding_settings, writer
from explorer.decoding.generation_trace import watch
from explorer.decoding.native import NativeStepper, without_cache
from explorer.errors import ChoiceError
from explorer.models.packing import SCHEMES, packed_model
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.attention import AttentionInputs, MultiHeadAttention
from explorer.nn.config import Config
from explorer.nn.fast.numpy_decoder import NumpyDecoder
from explorer.nn.layers import ACTIVATIONS, FeedForward
from explorer.nn.positions import POSITIONS, Position, PositionContext, Project
from explorer.nn.transformer import norm_of
from explorer.views.board.module import LIVE_FOLDER

SHAPE: dict[str, Any] = {"dim": 32, "layers": 2, "heads": 4, "hidden": 48, "length": 40, "device": "cpu"}
PROMPT = [7, 9, 30, 8]


class WordToDistance(Position):
    """`score`: a query meets a trained vector for each distance (Shaw et al. 2018)."""

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.table = nn.Embedding(2 * context.length, context.dim // context.heads)

    def score(self, q: Tensor, k: Tensor, project: tuple[Project, Project], at: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        most = self.context.length
        distances = (at[0][:, None] - at[1][None, :]).clamp(-most, most - 1)
        return {"word → distance": torch.einsum("bhqd,qkd->bhqk", q, self.table(distances + most))}


class Fading(Position):
    """`bias`: each head fades with the distance as fast as it has learned."""

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.speed = nn.Parameter(torch.linspace(0.1, 1.0, context.heads))

    def bias(self, query: Tensor, key: Tensor) -> Tensor:
        return -self.speed[None, :, None, None] * (query[:, None] - key[None, :]).abs().float().sqrt()


class Swing(Position):
    """`rotate`: queries and keys swing with their position."""

    def rotate(self, x: Tensor, where: Tensor) -> Tensor:
        return x * (1 + 0.5 * torch.sin(where[:, None] + torch.arange(x.shape[-1])))


class PartOfTheText(Position):
    """`add`: how far through the text a position lies. That changes with every token, so nothing of it can be kept."""

    incremental = False

    def add(self, where: Tensor) -> Tensor:
        return torch.linspace(-1, 1, self.context.dim) * (where[:, None] / len(where))


class MixtureOfTwoExperts(nn.Module):
    """Two feed-forward layers, mixed for each position by a router."""

    incremental = True

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.router = nn.Linear(config.dim, 2)
        self.experts = nn.ModuleList(FeedForward(config.dim, config.hidden, config.activation) for _ in range(2))

    def forward(self, x: Tensor, name: tuple[str, int]) -> Tensor:
        shares = self.router(x).softmax(dim=-1)
        return sum((shares[..., n : n + 1] * expert(x) for n, expert in enumerate(self.experts)), torch.zeros(()))


def mean_before(x: Tensor) -> Tensor:
    """The mean of each position and all before it."""
    return x.cumsum(dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]


class MeanOfAllBefore(nn.Linear):
    """A layer that mixes positions and keeps nothing of them, and says so by saying nothing."""

    def forward(self, x: Tensor, name: tuple[str, int]) -> Tensor:
        return super().forward(mean_before(x))


class Doubled(FeedForward):
    """A subclass with another `forward`, which what FeedForward declares does not speak for."""

    def forward(self, x: Tensor, name: tuple[str, int] = ("", -1)) -> Tensor:
        return 2 * super().forward(x, name)


class ParallelLayer(nn.Module):
    """A whole layer: attention and feed-forward beside each other, as in GPT-J. Its attention reads the cache that it is given."""

    incremental = True

    def __init__(self, config: Config, name: tuple[str, int]) -> None:
        super().__init__()
        self.name, self.norm, self.attention = name, norm_of(config), MultiHeadAttention(config, name)
        self.feed_forward = FeedForward(config.dim, config.hidden, config.activation)

    def forward(self, x: Tensor, inputs: AttentionInputs) -> Tensor:
        normed = self.norm(x)
        x = tap.edited("hidden", *self.name, x + self.attention(normed, inputs) + self.feed_forward(normed, self.name))
        tap.tap("hidden", *self.name, x=x)
        return x


def parallel(model: TransformerModel) -> None:
    for n in range(len(model.module.layers)):
        model.module.layers[n] = ParallelLayer(model.config, ("decoder", n))


def feed_forward(kind: Callable[[Config], nn.Module]) -> Callable[[TransformerModel], None]:
    def replace(model: TransformerModel) -> None:
        for layer in model.module.layers:
            layer.feed_forward = kind(model.config)

    return replace


def hooked(model: TransformerModel) -> None:
    """A hook that adds to every position the mean of those before it."""
    model.module.layers[0].after_attention.register_forward_hook(lambda _part, _given, out: out + 0.1 * mean_before(out))


class Foreign(NamedTuple):
    """A scheme or a changed layer, and which ways it may take: the fast decoders, and the modules with a cache."""

    positions: type[Position] | None = None
    change: Callable[[TransformerModel], None] | None = None
    cached: bool = True


FOREIGN = {
    "score": Foreign(WordToDistance),
    "bias": Foreign(Fading),
    "rotate": Foreign(Swing),
    "needs the whole text": Foreign(PartOfTheText, cached=False),
    "mixture of experts": Foreign(change=feed_forward(MixtureOfTwoExperts)),
    "whole layer": Foreign(change=parallel),
    "mixes positions": Foreign(change=feed_forward(lambda c: MeanOfAllBefore(c.dim, c.dim)), cached=False),
    "subclass": Foreign(change=feed_forward(lambda c: Doubled(c.dim, c.hidden, c.activation, bias=c.bias)), cached=False),
    "hook": Foreign(change=hooked, cached=False),
}


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, gpt2: TransformerModel) -> Callable[..., TransformerModel]:
    def build(name: str, preset: str = "gpt2") -> TransformerModel:
        foreign, scheme = FOREIGN[name], {}
        if foreign.positions is not None:
            monkeypatch.setitem(POSITIONS, "toy", foreign.positions)
            scheme = {"positions": "toy"}
        model = ex.build(preset, tokenizer=gpt2.tokenizer, seed=4, **SHAPE, **scheme)
        if foreign.change is not None:
            foreign.change(model)
        shaken(model.module, 4)
        return model

    return build


Build = Callable[..., TransformerModel]
every = pytest.mark.parametrize("name", FOREIGN)


@every
def test_it_is_traced_and_the_explicit_path_is_the_fast_one(name: str, build: Build) -> None:
    model = build(name)
    trace = ex.trace(model, PROMPT, blocks=True)
    assert trace.residual <= 1e-5
    np.testing.assert_allclose(trace.outputs["lm"], model.logits(PROMPT), atol=1e-4)
    assert len(trace.hidden["decoder"]) == 3
    if name == "mixture of experts":
        assert all(block.units is None for block in trace.blocks), "the units of an expert are not the layer's"
    if FOREIGN[name].positions is PartOfTheText:
        return
    watched = watch(model, PROMPT, max_tokens=5)
    once = ex.trace(model, watched.trace.source.ids.tolist())
    assert watched.trace.residual < 1e-5
    for grown, whole in zip(watched.trace.attention, once.attention, strict=True):
        np.testing.assert_allclose(grown.weights, whole.weights, atol=2e-5, err_msg="the growing matrix is the whole text's")


def answer_of(model: TransformerModel, **options: Any) -> list[int]:
    """The ids of the greedy answer, without its end."""
    *_, step = ex.decode(model, PROMPT, **options)
    return [token for token in step.ids.tolist() if token != model.tokenizer.vocabulary.last]


@SAMPLED
@every
@pytest.mark.parametrize("strategy", ["greedy", "beam"])
def test_decoding_with_a_cache_is_decoding_without(name: str, strategy: str, build: Build) -> None:
    model = build(name)
    options = {"max_tokens": 6, **({"beams": 3} if strategy == "beam" else {})}
    assert NativeStepper(model).cached == FOREIGN[name].cached, "the way is chosen by what is declared"
    assert NativeStepper(model).numpy is None and not NumpyDecoder.fits(model.module)
    cached = list(ex.decode(model, PROMPT, strategy, **options))
    writing = writer(model, PROMPT)
    uncached = list(STRATEGIES[strategy].apply(without_cache(model), writing.prompt, decoding_settings(writing, options)))
    assert [step.ids.tolist() for step in cached] == [step.ids.tolist() for step in uncached]
    for with_cache, other in zip(cached, uncached, strict=True):
        np.testing.assert_allclose(with_cache.logp, other.logp, atol=2e-4)
    assert all((step.computed == 1) == FOREIGN[name].cached for step in cached[1:])


@every
def test_the_states_of_branches_and_of_many_texts_are_those_of_each_alone(name: str, build: Build) -> None:
    model = build(name)
    stepper = NativeStepper(model, hidden=True)
    _, state = stepper.next(stepper.start(PROMPT), [PROMPT[-1]], [0])
    _, state = stepper.next(state, [11, 12], [0, 0])
    _, state = stepper.next(state, [13, 14], [1, 0])
    with torch.no_grad():
        whole = model.module(torch.tensor([[*PROMPT, 12, 13], [*PROMPT, 11, 14]]))
    np.testing.assert_allclose(state.hidden, whole.numpy(), atol=1e-4)
    assert continued(model, np.array([PROMPT, PROMPT[::-1]]), 5)[0] == answer_of(model, max_tokens=5)


@LONG
@pytest.mark.parametrize("name", ["mixture of experts", "mixes positions", "score"])
def test_an_encoder_decoder_of_such_parts_writes_the_same_both_ways(name: str, build: Build) -> None:
    model = build(name, "bart")
    *_, cached = ex.decode(model, PROMPT, "beam", beams=2, max_tokens=5)
    *_, uncached = ex.decode(model, PROMPT, "beam", beams=2, max_tokens=5, cache=False)
    assert cached.ids.tolist() == uncached.ids.tolist()
    once = ex.trace(model, PROMPT, target=cached.ids.tolist())
    assert once.residual <= 1e-5
    for layer in range(2):
        np.testing.assert_allclose(cached.cross[layer], once.at("cross", layer).weights[:, cached.step], atol=2e-5)
    answer = answer_of(model, max_tokens=6, cross=False)
    assert rewritten(model, [PROMPT, [5, 6]], 6)[0] == answer, "many texts at once take the same ways"


@SAMPLED
@every
def test_it_learns(name: str, build: Build) -> None:
    model = build(name)
    texts = [["The dog ran home.", "It was tired."], ["Anna had a cat.", "The cat slept all day."]] * 8
    before = [weight.detach().clone() for weight in model.module.parameters()]
    steps = list(ex.fit(model, corpus=texts, held=texts[:2], steps=12, batch=8, checks=0, device="cpu", precision="float32"))
    assert steps[-1].losses["lm"] < steps[0].losses["lm"]
    moved = [not torch.equal(a, b) for a, b in zip(before, model.module.parameters(), strict=True)]
    assert all(moved), "every weight of a foreign part is trained"
    model.module.eval()
    assert answer_of(model, max_tokens=5) == answer_of(model, max_tokens=5, cache=False)


@every
def test_it_does_not_run_in_a_page_whose_engine_has_no_such_part(name: str, build: Build) -> None:
    """A subclass and a hook have weights of the same names, so the engine would compute something else from them."""
    model = build(name)
    assert packed_model(model) is None
    board = ex.board(ex.trace(model, PROMPT, blocks=True), model=model)
    assert not board.live and board.data
    with pytest.raises(ChoiceError, match="does not run in a page"):
        ex.live(model, "A dog ran.")


@pytest.mark.parametrize(
    ("file", "tables", "names"),
    [("positions.js", ("POSITIONS",), SCHEMES), ("maths.js", ("ACTIVATIONS", "GATED"), (*ACTIVATIONS,))],
)
def test_the_engine_of_a_page_has_what_models_are_built_of(file: str, tables: tuple[str, ...], names: tuple[str, ...]) -> None:
    text = (LIVE_FOLDER / file).read_text("utf-8")
    entries = "".join(text.split(f"export const {table} = {{")[1].split("};")[0] for table in tables)
    assert [name for name in names if not re.search(rf'(?<![\w-])"?{name}"?[:,]', entries)] == []


def test_slots_are_those_whose_methods_a_scheme_fills() -> None:
    context = PositionContext(32, 4, 40, causal=True)
    slots = {name: kind(context).slots for name, kind in POSITIONS.items()}
    assert slots["none"] == frozenset() and slots["learned"] == {"add"} and slots["rope"] == {"rotate"}
    assert slots["t5"] == slots["alibi"] == {"bias"} and slots["disentangled"] == {"score"}
    assert WordToDistance(context).slots == {"score"}


def test_a_part_that_replaces_another_of_its_type_keeps_the_fast_way(gpt2: TransformerModel) -> None:
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, seed=4, **SHAPE)
    model.module.layers[1].feed_forward = FeedForward(32, 80, "swiglu")
    shaken(model.module, 4)
    compared(model)
    model.module.layers[1].feed_forward.forward = lambda x, name: x
    assert not NumpyDecoder.fits(model.module) and not NativeStepper(model).cached
