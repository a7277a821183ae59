"""The backward pass in the page is held to PyTorch: every weight, what a board shows, and the updates; and to finite differences."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED, some
from learning_page import page_with
from playwright.sync_api import Browser, Page
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional

from explorer.models.factory import configure
from explorer.nn import attention, tap
from explorer.nn.factory import initialised
from explorer.nn.transformer import Transformer
from explorer.records import TapPlace
from explorer.views.learning.module import BACKWARD, FOLDER, SHOWS, TRAINS, learning_module

pytestmark = pytest.mark.browser
CLOSE = 1e-4  # of the largest number of a gradient
FLOOR = 1e-3  # of the largest of all gradients of a model: smaller ones are sums that cancel
VOCAB, LENGTH = 23, 7
SMALL: dict[str, Any] = {"vocab": VOCAB, "dim": 16, "heads": 4, "hidden": 24, "layers": 2, "length": 12}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {})
    for name in ("bert", "roberta", "deberta", "gpt", "gpt2", "llama", "olmo", "olmo2", "transformer", "bart", "pegasus", "t5")
} | {
    "alibi": ("gpt2", {"positions": "alibi"}),
    "grouped heads": ("llama", {"kv_heads": 2}),
    "mask decoder": ("deberta", {"mask_decoder": True}),
    "narrow embeddings": ("bert", {"embedding": 8}),
    "geglu, no positions": ("gpt2", {"positions": "none", "activation": "geglu", "norm": "none"}),
    "silu, no residual": ("bert", {"activation": "silu", "residual": False}),
    "t5, which looks both ways": ("bert", {"positions": "t5", "feed_forward": False}),
}


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that holds what computes a training."""
    names = "Network, Tensor, AttentionTape, AdamW, SGD, clipGradients, openWeights, seeded"
    script = """globalThis.plain = (x) => { let text = "";
          for (const byte of new Uint8Array(Float32Array.from(x).buffer)) text += String.fromCharCode(byte);
          return btoa(text); };
        globalThis.build = ({ config, letters, shapes }, kind = Float32Array) => {
          const numbers = openWeights(Uint8Array.from(atob(letters), (c) => c.charCodeAt(0)).buffer);
          const tensor = ([name, wide]) => [name, new Tensor(kind.from(numbers(name)), wide)];
          return new Network(config, new Map(Object.entries(shapes).map(tensor))); };"""
    with page_with(browser, names, script) as page:
        yield page


def network(case: str) -> Transformer:
    """A small random model of a case; its weights are large enough that attention is uneven."""
    preset, fields = CASES[case]
    shape = configure(preset, "tiny", **{**SMALL, **fields})
    module = initialised(shape, seed=3)
    rng = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weight in module.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=rng)
    assert isinstance(module, Transformer)
    return module


def weights_of(module: Transformer) -> dict[str, Tensor]:
    """The weights that a training of tokens moves, each once."""
    beside = ("next_sentence.", "replaced.", "generator.", "span_boundary.")
    return {name: weight for name, weight in module.named_parameters() if not name.startswith(beside)}


def packed(module: Transformer) -> dict[str, Any]:
    """A model as the page takes it."""
    weights = {name: weight.detach().contiguous() for name, weight in weights_of(module).items()}
    config = {**vars(module.config), "family": module.config.family}
    shapes = {name: weight.shape[-1] for name, weight in weights.items()}
    return {"config": config, "letters": base64.b64encode(save(weights)).decode(), "shapes": shapes}


def drawn_batch(module: Transformer) -> dict[str, Any]:
    """Three texts, one of them with padding, and a third of their tokens to predict: masked, next, or of the target."""
    rng, config = np.random.default_rng(5), module.config
    present = np.ones((3, LENGTH), int)
    present[1, LENGTH - 2 :] = 0
    source = {"ids": rng.integers(0, VOCAB, 3 * LENGTH).tolist(), "length": LENGTH, "present": present.ravel().tolist()}
    if config.segments:
        source["segments"] = rng.integers(0, config.segments, 3 * LENGTH).tolist()
    batch = {"source": source, "at": [0, 3, 5, 8, 11, 15, 20], "labels": rng.integers(0, VOCAB, 7).tolist()}
    if config.family == "encoder-decoder":
        batch["target"] = {"ids": rng.integers(0, VOCAB, 3 * 5).tolist(), "length": 5}
        batch["at"] = [0, 3, 4, 7, 10, 13, 14]
    return batch


def loss_in_torch(module: Transformer, batch: dict[str, Any]) -> Tensor:
    """The mean cross-entropy, computed by the modules of `nn`."""
    read = {name: torch.tensor(row).view(3, -1) for name, row in batch["source"].items() if name != "length"}
    present = read["present"].bool()
    if "target" in batch:
        states = module.decode(module.encode(read["ids"], present), torch.tensor(batch["target"]["ids"]).view(3, -1), present)
    else:
        states = module(read["ids"], read.get("segments"), present)
    scores = module.head(states.flatten(0, 1)[torch.tensor(batch["at"])])
    return functional.cross_entropy(scores, torch.tensor(batch["labels"]))


def rows(x: Tensor) -> np.ndarray:
    """[batch, head, position, dim] as [batch · position, head · dim]; other arrays as they are."""
    return x.transpose(1, 2).flatten().numpy() if x.dim() == 4 else x.flatten().numpy()


class Heard:
    """What `nn` hands out during one pass, with its gradients."""

    def __init__(self) -> None:
        self.tensors: dict[str, list[Tensor]] = {}

    def note(self, name: str, value: Tensor) -> None:
        if value.requires_grad:  # a feed-forward layer that is left out gives a constant
            value.retain_grad()
        self.tensors.setdefault(name, []).append(value)

    def hear(self, place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        names = {
            TapPlace.ATTENTION: ("q", "k", "v", "weights"),
            TapPlace.ATTENTION_OUT: ("output",),
            TapPlace.BLOCK: ("out", "total"),
        }
        for name in names.get(place, ()):
            self.note(name, values[name])
        if place == TapPlace.HIDDEN:
            self.note("hidden", values["x"])

    def attend(self, q: Tensor, k: Tensor, scale: float, bias: Tensor | None, allowed: Tensor) -> Tensor:
        """`attend` of nn/attention.py, which hands out the scores as well."""
        scores = q @ k.transpose(-2, -1) * scale + (0 if bias is None else bias)
        self.note("scores", scores)
        return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)

    def gradients(self) -> dict[str, list[np.ndarray]]:
        by_cell = ("scores", "weights")
        return {
            name: [x.grad.flatten().numpy() if name in by_cell else rows(x.grad) for x in tensors if x.grad is not None]
            for name, tensors in self.tensors.items()
        }


GRADIENTS = """([model, batch]) => {
  const network = build(model), trace = network.run(batch);
  trace.back();
  const all = (tensors) => tensors.filter((t) => t.grad).map((t) => plain(t.grad));
  const stations = {};
  for (const name of ["q", "k", "v", "scores", "weights", "output"]) stations[name] = all(trace.attention.map((a) => a[name]));
  for (const name of ["out", "total"]) stations[name] = all(trace.blocks.map((b) => b[name]));
  const weights = Object.fromEntries([...network.weights].map(([name, t]) => [name, plain(t.slopes)]));
  return { loss: trace.loss.data[0], weights,
    stations: { ...stations, hidden: all(Object.values(trace.hidden).flat()) } };
}"""


UPDATES = """([model, batch, kind, settings, most, steps]) => {
  const network = build(model), weights = [...network.weights.values()], norms = [];
  const optimiser = kind === "AdamW" ? new AdamW(weights, settings) : new SGD(weights, settings);
  for (let n = 0; n < steps; n++) {
    network.run(batch).back();
    norms.push(clipGradients(weights, most));
    optimiser.step();
  }
  return { norms, weights: Object.fromEntries([...network.weights].map(([name, t]) => [name, plain(t.data)])) };
}"""

DIFFERENCES = """([model, batch, delta, rate, smoothing]) => {
  const network = build(model, Float64Array), dropout = () => ({ rate, random: seeded(1) });
  const run = () => network.run(batch, new AttentionTape(Float64Array), { dropout: dropout(), smoothing });
  run().back();
  return [...network.weights].map(([name, { data, slopes }]) => {
    let at = 0;
    for (let i = 0; i < data.length; i++) if (Math.abs(slopes[i]) > Math.abs(slopes[at])) at = i;
    const before = data[at], near = [delta, -delta].map((by) => { data[at] = before + by; return run().loss.data[0]; });
    data[at] = before;
    return [name, slopes[at], (near[0] - near[1]) / (2 * delta)];
  });
}"""


def numbers(letters: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(letters), "<f4")


def gap(letters: str, theirs: np.ndarray, floor: float) -> float:
    """The largest difference, as a share of the largest number."""
    return float(np.abs(numbers(letters) - theirs.ravel()).max() / max(np.abs(theirs).max(), floor))


@SAMPLED
@pytest.mark.parametrize("case", CASES)
def test_every_gradient_is_pytorch_s(page: Page, case: str, monkeypatch: Any, record_property: Any) -> None:
    module = network(case)
    batch, heard = drawn_batch(module), Heard()
    monkeypatch.setattr(attention, "attend", heard.attend)
    with tap.listening(heard.hear):
        loss = loss_in_torch(module, batch)
    loss.backward()
    theirs = {name: np.zeros(1) if w.grad is None else w.grad.numpy() for name, w in weights_of(module).items()}
    floor = FLOOR * max(float(np.abs(gradient).max()) for gradient in theirs.values())
    mine = page.evaluate(GRADIENTS, [packed(module), batch])
    assert mine["loss"] == pytest.approx(loss.item(), rel=1e-5)
    sizes = {name: max(floor, float(np.abs(theirs[name.replace("key.bias", "query.bias")]).max())) for name in theirs}
    # W_K's bias moves all scores of a row alike: its gradient is 0 but for rounding, and as large as that of W_Q's before it cancels
    gaps = {name: gap(mine["weights"][name], gradient, sizes[name]) for name, gradient in theirs.items()}
    for name, gradients in heard.gradients().items():
        if name == "out" and not module.config.feed_forward:
            continue
        pairs = list(zip(mine["stations"][name], gradients, strict=True))
        gaps[name] = max(gap(letters, gradient, floor) for letters, gradient in pairs)
    worst = max(gaps, key=lambda name: gaps[name])
    line = f"{case:26} {len(gaps):3} places, at most {gaps[worst]:.0e} of the largest, at {worst}"
    record_property("table: gradients in the page against PyTorch's", line)
    assert gaps[worst] < CLOSE, (worst, gaps[worst])
    assert sum(float(np.abs(gradient).max()) > floor for gradient in theirs.values()) > len(theirs) / 2


@pytest.mark.parametrize("case", some(CASES, "bert", "llama", "t5", "deberta"))
def test_gradients_are_finite_differences_of_the_loss(page: Page, case: str) -> None:
    differ_little(page, case)


@pytest.mark.parametrize("case", ["llama", "t5"])
def test_gradients_are_finite_differences_with_dropout_and_smoothed_labels(page: Page, case: str) -> None:
    differ_little(page, case, 0.3, 0.2)


def differ_little(page: Page, case: str, rate: float = 0.0, smoothing: float = 0.0) -> None:
    """Hold the largest number of every gradient to the loss a little to both sides of its weight."""
    module = network(case)
    differences = page.evaluate(DIFFERENCES, [packed(module), drawn_batch(module), 1e-6, rate, smoothing])
    most = max(abs(slope) for _, slope, _ in differences)
    assert len(differences) == len(weights_of(module)) and most > 0.1
    for name, slope, difference in differences:
        assert slope == pytest.approx(difference, rel=1e-4, abs=1e-6 * most), name


@pytest.mark.parametrize(
    ("kind", "mine", "theirs"),
    [
        ("AdamW", {"rate": 0.01}, {"lr": 0.01}),
        ("AdamW", {"rate": 0.02, "betas": [0.8, 0.95], "decay": 0.2}, {"lr": 0.02, "betas": (0.8, 0.95), "weight_decay": 0.2}),
        ("SGD", {"rate": 0.1}, {"lr": 0.1}),
        ("SGD", {"rate": 0.05, "momentum": 0.9, "decay": 0.1}, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ],
)
def test_updates_are_those_of_torch_optim(page: Page, kind: str, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    module, clip, steps = network("llama"), 0.5, 5
    batch = drawn_batch(module)
    moved = page.evaluate(UPDATES, [packed(module), batch, kind, mine, clip, steps])
    optimiser = getattr(torch.optim, kind)(module.parameters(), **theirs)
    for step in range(steps):
        optimiser.zero_grad()
        loss_in_torch(module, batch).backward()
        norm = torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        assert moved["norms"][step] == pytest.approx(float(norm), rel=1e-3)
        assert norm > clip, "else nothing is clipped"
        optimiser.step()
    begin = weights_of(network("llama"))
    for name, weight in weights_of(module).items():
        update = (weight - begin[name]).detach().numpy()  # what was learned is compared, not what was there before
        mine_too = numbers(moved["weights"][name]) - begin[name].detach().numpy().ravel()
        assert np.abs(mine_too - update.ravel()).max() < 1e-2 * np.abs(update).max(), name


@LONG
def test_what_is_joined_is_readable_and_has_no_name_twice() -> None:
    sources = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.js")}
    assert set(sources) == {*BACKWARD, *TRAINS, *SHOWS}
    for files in ((*BACKWARD, *TRAINS), SHOWS):
        whole = "\n".join(sources[name] for name in files)
        names = re.findall(r"^(?:export )?(?:function\*?|class|const|let) (\w+)", whole, re.MULTILINE)
        assert len(names) == len(set(names)) > 20
    handed = re.findall(r"^export (?:function|class|const) (\w+)", "\n".join(sources.values()), re.MULTILINE)
    every = "\n".join([*sources.values(), learning_module()])
    assert [name for name in handed if len(re.findall(rf"\b{name}\b", every)) < 3] == [], "what no other file asks for"
    assert not re.search(r"^import |^export (?!\{)", learning_module(), re.MULTILINE) and "https://" not in learning_module()
    assert all(len(source.splitlines()) <= 500 for source in sources.values())
    assert sum(len(sources[name].splitlines()) for name in BACKWARD if name != "network") <= 500, (
        "the backward pass stays short"
    )
