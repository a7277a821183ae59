"""Every system on a pretended GPU: nothing meets on two devices, nothing waits, and the numbers are those of the processor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, SENTENCE, long, some
from pretended import pretended

import explorer as ex
from explorer.microworld.grammar.pairing import pairs
from explorer.models.load import pick_device
from explorer.models.presets import PRESETS
from explorer.text.examples import Translation
from explorer.text.toy import toy_stories as stories
from explorer.training.device import sent, tensors

NEURAL = [name for name in PRESETS if name != "ngram"]
TEXTS, PAIRS = list(stories(60, 4)), [Translation(p.english, p.french) for p in pairs(60, 3)]
HELD, HELD_PAIRS = list(stories(40, 9)), [Translation(p.english, p.french) for p in pairs(40, 8)]  # enough for a whole row
UNLIKE = ("bert", "electra", "llama", "t5", "elmo", "word2vec")  # no two of them have the same layers and loss
WAYS = ("greedy", "sample", "beam", "contrastive")
WRITTEN = [*product(("gpt2", "bart", "t5", "llama"), WAYS)]


def begun(name: str, device: str, **changes: Any) -> Any:
    """A short run of a preset as it is, but for the number of its steps, rows and tokens."""
    settings = {"steps": 3, "batch": 4, "checks": 0, "snapshots": 0, "seed": 5, "precision": "float32", **changes}
    own = {"corpus": PAIRS if name == "transformer" else TEXTS}
    own |= {} if PRESETS[name].teacher else {"pieces": 400 if name != "transformer" else 600}
    own |= {} if PRESETS[name].teacher or PRESETS[name].architecture["family"] == "static" else {"layers": 1}
    own |= {"length": 12} if name == "elmo" else {}
    return ex.fit(name, device=device, **{**own, **settings})


@cache
def opened(name: str, device: str) -> Any:
    """A shipped model, opened there once."""
    return ex.load(name, device=device)


def curve(run: Any) -> list[float]:
    return [sum(step.losses.values()) for step in run]


@LONG
@pytest.mark.parametrize("name", some(NEURAL, *UNLIKE))
def test_a_run_goes_as_on_the_processor(name: str) -> None:
    """The same losses, from weights that all lie there; Python waits once a step and blocks for no copy, and one generator is touched."""
    expected, actual = curve(begun(name, "cpu")), []
    with pretended(devices=8) as log:
        run = begun(name, "cuda")
        for step in run:
            actual.append(sum(step.losses.values()))
            if step.step > 1:
                assert log.waits.total() <= 1 and not log.copies, (log.waits, log.copies)
                assert log.states == {0: 1}
            log.reset()
        assert str(run.model.device) == "cuda:0" and all(p.is_cuda for p in run.model.module.parameters())
    assert actual == pytest.approx(expected, rel=2e-4)


@pytest.mark.parametrize("name", ["bert", "transformer", "electra"])
def test_a_batch_goes_to_the_gpu_by_one_copy(name: str) -> None:
    batch = begun(name, "cpu").batch(1)
    expected = tensors(batch, torch.device("cpu"))
    with pretended() as log:
        log.reset()
        actual = tensors(batch, torch.device("cuda:0"))
        assert log.launches["copy"] == 1 and not log.copies and not log.waits
        for part, value in expected.items():
            assert actual[part].is_cuda and actual[part].dtype == value.dtype and torch.equal(actual[part].cpu(), value), part


def test_parts_of_every_kind_and_size_arrive() -> None:
    given = {"empty": torch.empty(0), "odd": torch.arange(5, dtype=torch.uint8), "flags": torch.tensor([[True, False, True]])}
    given |= {"long": torch.arange(7)[:, None], "double": torch.tensor(2.5, dtype=torch.float64)}
    with pretended():
        for name, value in sent(given, torch.device("cuda:0")).items():
            assert torch.equal(value.cpu(), given[name]) and value.dtype == given[name].dtype, name


@LONG
@pytest.mark.parametrize("name", NEURAL if ALL else ("gpt2", "bart"))
def test_mixed_precision_stays_near(name: str) -> None:
    expected = curve(begun(name, "cpu"))
    with pretended() as log:
        actual = curve(begun(name, "cuda", precision="bfloat16"))
        assert (log.casts > 0) == (name != "word2vec")  # whose sparse products stay in float32
    assert actual == pytest.approx(expected, rel=3e-2)


@LONG
@pytest.mark.parametrize("name", NEURAL if ALL else ("glove", "spanbert"))
def test_the_checks_of_a_run_find_the_same(name: str) -> None:
    settings = {"steps": 2, "checks": 1, "held": HELD_PAIRS if name == "transformer" else HELD}
    settings |= {"length": 64} if name == "elmo" else {}  # it is asked about whole texts
    expected = list(begun(name, "cpu", **settings))[-1].metrics
    with pretended():
        actual = list(begun(name, "cuda", **settings))[-1].metrics
    assert actual and dict(actual) == pytest.approx(dict(expected), rel=3e-2, abs=1e-5)


@LONG
@pytest.mark.parametrize("name", ("bert", "gpt2", "bart", "deberta", "t5", "llama") if ALL else ("bert", "bart"))
def test_traces_are_the_same(name: str) -> None:
    expected = ex.trace(opened(name, "cpu"), SENTENCE)
    with pretended():
        actual = ex.trace(opened(name, "cuda"), SENTENCE)
    assert len(actual.attention) == len(expected.attention) > 0
    for first, other in zip(actual.attention, expected.attention, strict=True):
        np.testing.assert_allclose(first.weights, other.weights, atol=1e-5)


@LONG
@pytest.mark.parametrize(("name", "way"), some(WRITTEN, *WRITTEN[:: len(WAYS) + 1]))
def test_decodings_are_the_same(name: str, way: str) -> None:
    def written(device: str) -> list[str]:
        steps = ex.decode(opened(name, device), SENTENCE, way, max_tokens=5)
        return [candidate.text for step in steps for candidate in step.candidates]

    expected = written("cpu")
    with pretended():
        assert written("cuda") == expected


def test_what_each_half_of_elmo_sees_is_the_same() -> None:
    expected = ex.analysis.elmo_visibility(ex.load("elmo", device="cpu"), "A dog ran home.")
    with pretended():
        actual = ex.analysis.elmo_visibility(ex.load("elmo", device="cuda"), "A dog ran home.")
    for first, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(first.moved, other.moved, rtol=1e-4, atol=1e-6)


ASKED: dict[str, Callable[[Any], Any]] = {
    "lens": lambda model: ex.lens(model, SENTENCE).chances,
    "gradient": lambda model: ex.gradient(model, SENTENCE, row=3).values,
    "head_statistics": lambda model: np.array([list(row) for row in ex.head_statistics(model, [SENTENCE]).measures.values()]),
    "visibility": lambda model: ex.visibility(model, SENTENCE).moved,
    "outputs": lambda model: model.outputs(SENTENCE)["lm"],
}


@SAMPLED
@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_of_a_model_is_the_same(what: str) -> None:
    expected = ASKED[what](opened("bert", "cpu"))
    with pretended():
        actual = ASKED[what](opened("bert", "cuda"))
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=5e-5)


@LONG
@pytest.mark.parametrize(("name", "task"), [("bert", "entities"), ("gpt2", "sentiment"), *long(("t5", "summary"))])
def test_a_model_learns_a_task_on_it(name: str, task: str) -> None:
    def losses(device: str) -> list[float]:
        settings: dict[str, Any] = {"examples": 24, "steps": 2, "batch": 4, "checks": 0, "snapshots": 0}
        return [sum(step.losses.values()) for step in ex.finetune(name, task=task, device=device, **settings)]

    expected = losses("cpu")
    with pretended():
        assert losses("cuda") == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ("bert", "electra") if ALL else ("bert",))
def test_rows_without_padding_are_read_without_a_mask(name: str) -> None:
    """Whole rows, as in long texts: attention's quickest kernels know no mask. The losses are those with one."""
    long = [["The dog ran home and slept " * 40]] * 20
    options: dict[str, Any] = {"objective": "mlm"} if name == "bert" else {}
    settings = {
        "corpus": long,
        "length": 24,
        "pieces": 90,
        "steps": 2,
        "batch": 4,
        "checks": 0,
        "snapshots": 0,
        "seed": 5,
        "precision": "float32",
    }
    settings |= options | ({"teacher": None} if name == "electra" else {})
    expected = curve(ex.fit(name, device="cpu", **settings))
    with pretended() as log:
        run = ex.fit(name, device="cuda", **settings)
        log.reset()
        actual = curve(run)
        masks = {kind: count for kind, count in log.launches.items() if kind.startswith("attention")}
        padded = run.batch(1).attention_mask
    assert padded.all() and set(masks) == {"attention without a mask"}, masks
    assert actual == pytest.approx(expected, rel=2e-4)


def test_each_process_of_a_machine_takes_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    with pretended(devices=4):
        monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
        assert str(pick_device("cuda")) == "cuda:0"
        monkeypatch.setenv("LOCAL_RANK", "3")
        assert str(pick_device("auto")) == "cuda:3" and chosen == [0, 3]
        monkeypatch.setenv("LOCAL_RANK", "4")
        with pytest.raises(ex.ExplorerError, match="process 4 .* 4 GPU"):
            pick_device("cuda")
    assert str(pick_device("auto")) == "cpu"


def test_the_device_refuses_what_a_gpu_refuses() -> None:
    with pretended() as log:
        here, far = torch.ones(3, 4), torch.ones(3, 4, device="cuda:0")
        for mixed in (lambda: here + far, lambda: far @ here.T, lambda: torch.cat((far, here)), lambda: far.numpy()):
            with pytest.raises((RuntimeError, TypeError)):
                mixed()
        log.reset()
        assert float(far.sum()) == 12 and log.waits.total() == 1
        here.to("cuda:0")
        assert log.copies.total() == 1
        lstm = torch.nn.LSTM(4, 6, proj_size=4, batch_first=True).to("cuda:0").eval()
        with pytest.raises(RuntimeError, match="only be called in training mode"):
            lstm(far[None].requires_grad_())
