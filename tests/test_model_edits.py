"""Vectors and units set by hand, against forward hooks on Hugging Face's classes that do the same."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, long
from test_twins import BERTS, CLASSES, PADDED
from torch import Tensor, nn

import explorer as ex
from explorer.models.hub.architectures import tiny
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.records import Edit, TapPlace
from studies import support

SENTENCE, TARGET = "The dog was tired because it ran.", "The dog slept."
LAYER, HEAD, PLACE, FACTOR = 1, 1, 2, -40.0
NAMES = {  # of the matrices that make q, k, v: by the ends of their names
    "q": r"(q_proj|query|q_lin|query_proj|\.q)$",
    "k": r"(k_proj|key|k_lin|key_proj|\.k)$",
    "v": r"(v_proj|value|v_lin|value_proj|\.v)$",
}
NARROW = r"(down_proj|fc2|mlp\.c_proj|lin2|layer\.\d+\.output\.dense|\.wo)$"
TURNED = ("llama", "olmo", "olmo2")
SOME = ("bert", "gpt2", "llama", "deberta", "electra", "bart", "t5")


@cache
def pair(preset: str) -> tuple[TransformerModel, Any]:
    """One model with random weights, in our code and in theirs."""
    tokenizer = PADDED if preset == "roberta" else ex.load("bert" if preset in BERTS else "gpt2", device="cpu").tokenizer
    both = {"encoder_layers": 2} if preset in ("t5", "bart", "transformer", "pegasus") else {}
    hidden = 4 * 16 if preset == "gpt" else 24
    ours = ex.build(
        preset, tokenizer=tokenizer, device="cpu", seed=3, layers=2, heads=2, dim=16, hidden=hidden, length=40, **both
    )
    assert isinstance(ours, TransformerModel)
    with torch.no_grad():
        for name, weight in ours.module.named_parameters():
            if weight.dim() == 2 and "embed" not in name and "head" not in name:
                weight.mul_(8)
    with tempfile.TemporaryDirectory() as folder:
        return ours, CLASSES[preset].from_pretrained(ex.export(ours, Path(folder) / "x"), attn_implementation="eager").eval()


def matrices(twin: nn.Module, pattern: str, stream: str) -> list[nn.Module]:
    """The matrices of one stream whose name ends like this, one for each layer in order."""
    names = [name for name, part in twin.named_modules() if re.search(pattern, name)]
    crossing = r"encoder_attn|EncDecAttention"
    if any(re.search(r"(^|\.)decoder\.", name) for name in names) and any("encoder." in name for name in names):
        inside = "encoder" if stream == "encoder" else "decoder"
        names = [name for name in names if re.search(rf"(^|\.){inside}\.", name)]
        names = [name for name in names if bool(re.search(crossing, name)) == (stream == "cross") or pattern == NARROW]
    return [twin.get_submodule(name) for name in names]


def writing(which: str, values: np.ndarray, columns: slice, place: int) -> Callable[..., Tensor | None]:
    def hook(module: nn.Module, args: tuple[Any, ...], out: Tensor) -> Tensor | None:
        if out.shape[1] <= place or getattr(module, "asked", False):
            return None  # DeBERTa asks the same matrix for distances, after the tokens
        module.asked = True
        changed = out.clone()
        changed[:, place, columns] = torch.tensor(values, dtype=out.dtype)
        return changed

    return hook


@contextmanager
def vector_written(preset: str, twin: nn.Module, edit: ex.SetVector) -> Iterator[None]:
    """The same vector, written where the class itself makes it."""
    width = len(edit.values)
    values, at = before_turning(edit) if preset in TURNED and edit.which != "v" else edit.values, edit.head * width
    fused = {"q": 0, "k": 1, "v": 2}[edit.which] * 16 if preset in ("gpt", "gpt2") else 0
    layers = matrices(twin, r"c_attn$" if preset in ("gpt", "gpt2") else NAMES[edit.which], edit.stream)
    assert len(layers) == 2
    hook = writing(edit.which, values, slice(fused + at, fused + at + width), edit.position)
    with ExitStack() as after:
        after.callback(layers[edit.layer].register_forward_hook(hook).remove)
        after.callback(setattr, layers[edit.layer], "asked", False)
        yield


def before_turning(edit: ex.SetVector) -> np.ndarray:
    """What RoPE turns into these values: features i and i + d/2 turned back by position · 10000^(−2i/d)."""
    half = len(edit.values) // 2
    angle = edit.position * 10_000.0 ** (-np.arange(half) / half)
    first, second = edit.values[:half], edit.values[half:]
    return np.concatenate([first * np.cos(angle) + second * np.sin(angle), second * np.cos(angle) - first * np.sin(angle)])


@contextmanager
def unit_scaled(twin: nn.Module, edit: ex.SetUnit) -> Iterator[None]:
    def hook(module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        changed = args[0].clone()
        changed[..., edit.unit] *= edit.factor
        return (changed,)

    layers = matrices(twin, NARROW, edit.stream)
    assert len(layers) == 2
    handle = layers[edit.layer].register_forward_pre_hook(hook)
    yield
    handle.remove()


def said(twin: nn.Module, trace: Any) -> np.ndarray:
    """The scores of the class itself for the tokens of a trace."""
    reads = {} if trace.target is None else {"decoder_input_ids": torch.tensor(trace.target.ids)[None]}
    with torch.no_grad():
        out = twin(input_ids=torch.tensor(trace.source.ids)[None], **reads)
    scores: Tensor = out.prediction_logits if "prediction_logits" in out else out.logits
    return scores[0].numpy()


def edits_of(preset: str, model: TransformerModel) -> list[Edit]:
    rng, edits = np.random.default_rng(0), list[Edit]()
    blocks = ex.trace(model, SENTENCE, blocks=True, **({"target": TARGET} if "cross" in model.streams else {}))
    for stream in model.streams:
        for which in "v" if preset == "olmo2" else "qkv":  # its QK norm stands between the matrix and the vector
            edits.append(ex.SetVector(which, stream, LAYER, HEAD, PLACE, rng.normal(0, 4, 8)))
        if stream != "cross":
            units = np.abs(blocks.block(stream, LAYER, "feed-forward").units).max(axis=0)  # with ReLU others may be silent
            edits.append(ex.SetUnit(stream, LAYER, int(units.argmax()), FACTOR))
    return edits


@LONG
@pytest.mark.parametrize("preset", CLASSES if ALL else SOME)
def test_edits_are_the_same_hooks_on_theirs(preset: str) -> None:
    ours, twin = pair(preset)
    target = {"target": TARGET} if ours.family == "encoder-decoder" else {}
    plain = next(iter(ex.trace(ours, SENTENCE, **target).outputs.values()))
    for edit in edits_of(preset, ours):
        mine = ex.trace(ours, SENTENCE, edits=edit, **target)
        scores = mine.outputs["rtd" if preset == "electra" else "lm"]
        with vector_written(preset, twin, edit) if isinstance(edit, ex.SetVector) else unit_scaled(twin, edit):
            wanted = said(twin, mine)
        assert np.abs(scores - wanted).max() <= 1e-5, edit
        assert np.abs(wanted - plain).max() > 1e-4, f"the hook must change something: {edit}"
        assert mine.residual <= 1e-5


def test_several_edits_act_together(tmp_path: Path) -> None:
    ours, twin = pair("llama")
    first = ex.SetVector("k", "decoder", 0, 0, 1, np.full(8, 2.0))
    second = ex.SetVector("q", "decoder", 1, 1, 3, np.linspace(-3, 3, 8))
    third = ex.SetUnit("decoder", 0, 5, 30)
    mine = ex.trace(ours, SENTENCE, edits=[first, second, third])
    with vector_written("llama", twin, first), vector_written("llama", twin, second), unit_scaled(twin, third):
        assert np.abs(mine.outputs["lm"] - said(twin, mine)).max() <= 1e-5
    assert ex.Trace.read(mine.write(tmp_path / "x.npz")).edits == mine.edits == (first, second, third)
    assert "written by hand" in first.label and third.label == "unit 5 of layer 0 × 30"
    np.testing.assert_allclose(mine.at("decoder", 0).k[0, 1], 2.0)
    np.testing.assert_allclose(mine.at("decoder", 1).q[1, 3], np.linspace(-3, 3, 8), rtol=1e-6)


@LONG
@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "T5ForConditionalGeneration", "GPTNeoXForCausalLM", "BertForPreTraining",
                                  *long("LlamaForCausalLM", "BartForConditionalGeneration", "Gemma2ForCausalLM")])  # fmt: skip
def test_their_classes_are_edited_too(name: str) -> None:
    model = ex.load((tiny(name, 64), support.words()))
    target = {"target": support.TARGET} if model.family == "encoder-decoder" else {}
    plain = ex.trace(model, support.TEXT, **target)
    for attention in plain.attention:
        for which in ("q", "k", "v"):
            own = getattr(attention, which)[0, 1]
            same, changed = (
                ex.trace(
                    model, support.TEXT, edits=ex.SetVector(which, attention.stream, attention.layer, 0, 1, values), **target
                )
                for values in (own, own * 3 + 1)
            )
            np.testing.assert_allclose(same.outputs["lm"], plain.outputs["lm"], atol=1e-5)  # its own vector changes nothing
            here = changed.at(attention.stream, attention.layer)
            np.testing.assert_allclose(getattr(here, which)[0, 1], own * 3 + 1, rtol=1e-4, atol=1e-5)
            assert changed.residual <= 1e-5
    stream = next(stream for stream in model.streams if stream != "cross")
    all_off = ex.trace(model, support.TEXT, edits=ex.SetUnit(stream, 0, None, 0.0), **target)
    assert np.abs(all_off.hidden[stream][1] - plain.hidden[stream][1]).max() > 1e-4


def test_an_edited_vector_is_not_taken_for_a_turned_one(bert: TransformerModel) -> None:
    trace = ex.trace(bert, SENTENCE, edits=ex.SetVector("q", "encoder", None, None, None, [0.5] * 32))  # everywhere
    assert all((attention.q == 0.5).all() and attention.projected_q is None for attention in trace.attention)
    turned = ex.trace(pair("llama")[0], SENTENCE, edits=ex.SetVector("q", "decoder", 0, 1, 2, np.ones(8))).attention[0]
    assert turned.projected_q is not None


def test_a_unit_is_taken_out_of_what_its_layer_adds(bert: TransformerModel) -> None:
    plain = ex.trace(bert, SENTENCE, blocks=True).block("encoder", 1, "feed-forward")
    edited = ex.trace(bert, SENTENCE, blocks=True, edits=ex.SetUnit("encoder", 1, 9, 0.0)).block("encoder", 1, "feed-forward")
    column = bert.module.layers[1].feed_forward.narrow.weight[:, 9].detach().numpy()
    np.testing.assert_allclose(plain.out - edited.out, np.outer(plain.units[:, 9], column), atol=1e-5)


def test_what_cannot_be_set_is_refused(bert: TransformerModel) -> None:
    for says, kind, *given in (
        ("vector of attention", ex.SetVector, "w", "encoder", 0, 0, 0, [1.0]),
        ("finite numbers", ex.SetVector, "q", "encoder", 0, 0, 0, [[1.0]]),
        ("finite numbers", ex.SetVector, "q", "encoder", 0, 0, 0, [float("nan")]),
        ("finite numbers", ex.SetVector, "q", "encoder", 0, 0, 0, ["a"]),
        ("3 numbers, but a q of this head has 32", ex.SetVector, "q", "encoder", 0, 0, 0, [1.0] * 3),
        ("position of a q", ex.SetVector, "q", "encoder", 0, 0, 99, [1.0] * 32),
        ("head in the encoder", ex.SetVector, "q", "encoder", 0, 9, 0, [1.0] * 32),
        ("layer in the encoder", ex.SetVector, "q", "encoder", 9, 0, 0, [1.0] * 32),
        ("unit of the feed-forward layer", ex.SetUnit, "encoder", 0, 9999, 0.0),
        ("finite number", ex.SetUnit, "encoder", 0, 1, float("inf")),
        ("stream in bert", ex.SetUnit, "cross", 0, 1, 1.0),
    ):
        with pytest.raises(ex.ExplorerError, match=says):
            ex.trace(bert, SENTENCE, edits=kind(*given))


def test_grouped_heads_share_the_key_that_is_set() -> None:
    tokenizer = ex.load("gpt2", device="cpu").tokenizer
    model = ex.build("llama", tokenizer=tokenizer, device="cpu", layers=1, heads=4, kv_heads=2, dim=32)
    attention = ex.trace(model, SENTENCE, edits=ex.SetVector("k", "decoder", 0, 1, 2, np.ones(8))).attention[0]
    assert (attention.k[1, 2] == 1).all() and attention.residual <= 1e-5
    with pytest.raises(ex.ExplorerError, match="head of k in layer 0"):
        ex.trace(model, SENTENCE, edits=ex.SetVector("k", "decoder", 0, 3, 2, np.ones(8)))


def test_every_edit_names_the_places_that_it_changes_and_every_place_is_reached(bert: TransformerModel) -> None:
    public = [kind for kind in Edit.__subclasses__() if getattr(ex.records, kind.__name__, None) is kind]
    assert len(public) == 14 and all(kind.places and kind.changed is not Edit.changed for kind in public)
    tapped = set[TapPlace]()
    with tap.listening(lambda place, *_: tapped.add(place)):
        bert.logits(SENTENCE)
    assert tapped | {place for kind in public for place in kind.places} == set(TapPlace)
