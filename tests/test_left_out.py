"""Residual connection, norm and feed-forward layer left out: of models against hooks on Hugging Face's classes, and as settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED
from test_model_edits import SENTENCE, TARGET, pair, said
from test_whatif_lesson import page, titles
from torch import Tensor, nn

import explorer as ex
from explorer.analysis.parameters import total
from explorer.app.lessons import SENTENCE as WRITTEN
from explorer.models.transformer import TransformerModel
from explorer.records import Edit
from explorer.views.spoken import spoken

ENDS = {  # of one layer: by part, the module whose result is added, and the module that reads x (or x after the norm)
    "bert": {"attention": "bert.encoder.layer.{}.attention.output", "feed-forward": "bert.encoder.layer.{}.output"},
    "gpt2": {"attention": "transformer.h.{}.attn", "feed-forward": "transformer.h.{}.mlp"},
    "olmo2": {
        "attention": "model.layers.{}.post_attention_layernorm",
        "feed-forward": "model.layers.{}.post_feedforward_layernorm",
    },
}
NORMS = {
    "bert": {"attention": "bert.encoder.layer.{}.attention.output.LayerNorm", "feed-forward": "bert.encoder.layer.{}.output.LayerNorm"},
    "gpt2": {"attention": "transformer.h.{}.ln_1", "feed-forward": "transformer.h.{}.ln_2"},
    "olmo2": ENDS["olmo2"],
}  # fmt: skip
X = {"gpt2": NORMS["gpt2"], "olmo2": {"attention": "model.layers.{}.self_attn", "feed-forward": "model.layers.{}.mlp"}}
SETTINGS: tuple[dict[str, Any], ...] = ({"residual": False}, {"norm": "none"}, {"feed_forward": False})


def without_sum(preset: str, twin: nn.Module, layer: int, part: str) -> list[Any]:
    """Hooks after which the input of a sub-layer is not added: BERT adds it in a module of its own, the others beside them."""
    end = twin.get_submodule(ENDS[preset][part].format(layer))
    if preset == "bert":
        return [end.register_forward_pre_hook(lambda module, args: (args[0], torch.zeros_like(args[1])))]
    seen: list[Tensor] = []

    def read(module: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        seen.append(args[0] if args else given["hidden_states"])

    def less(module: nn.Module, args: tuple[Any, ...], out: Any) -> Any:
        return (out[0] - seen[-1], *out[1:]) if isinstance(out, tuple) else out - seen[-1]

    first = twin.get_submodule(X[preset][part].format(layer)).register_forward_pre_hook(read, with_kwargs=True)
    return [first, end.register_forward_hook(less)]


def without_norm(preset: str, twin: nn.Module, layer: int, part: str) -> list[Any]:
    norm = twin.get_submodule(NORMS[preset][part].format(layer))
    return [norm.register_forward_hook(lambda module, args, out: args[0])]


Hooks = Callable[[str, nn.Module, int, str], list[Any]]


@pytest.mark.parametrize("preset", list(ENDS))
@pytest.mark.parametrize(("kind", "hooks"), [(ex.NoResidual, without_sum), (ex.NoNorm, without_norm)])
def test_what_is_left_out_is_left_out_of_theirs(preset: str, kind: type[Edit], hooks: Hooks) -> None:
    ours, twin = pair(preset)
    stream, plain = next(iter(ours.streams)), ex.trace(ours, SENTENCE).outputs["lm"]
    for layer, part in ((0, "attention"), (1, "feed-forward"), (None, None)):
        mine = ex.trace(ours, SENTENCE, edits=kind(stream, layer, part), blocks=True)  # type: ignore[call-arg]
        with ExitStack() as after:
            for at in (0, 1) if layer is None else (layer,):
                for which in ("attention", "feed-forward") if part is None else (part,):
                    for hook in hooks(preset, twin, at, which):
                        after.callback(hook.remove)
            wanted = said(twin, mine)
        scale = max(1.0, float(np.abs(wanted).max()))
        assert np.abs(mine.outputs["lm"] - wanted).max() <= 2e-5 * scale
        assert np.abs(wanted - plain).max() > 1e-3, "the hooks must change something"
        assert mine.residual <= 1e-5 * scale


@pytest.mark.parametrize("preset", ["bert", "gpt2", "olmo2", "transformer"])
def test_a_block_holds_what_was_computed(preset: str) -> None:
    ours = pair(preset)[0]
    target = {"target": TARGET} if ours.family == "encoder-decoder" else {}
    for stream in (name for name in ours.streams if name != "cross"):
        both: list[Edit] = [ex.NoResidual(stream, 0), ex.NoNorm(stream, 1)]
        for block in ex.trace(ours, SENTENCE, edits=both, blocks=True, **target).blocks:
            edited = block.stream == stream
            assert block.residual == (not edited or block.layer != 0)
            np.testing.assert_allclose(block.total, block.given * block.residual + block.out, atol=1e-5)
            normed = (block.norm_input - block.mean[:, None]) / block.deviation[:, None] * block.gain + block.shift
            np.testing.assert_allclose(normed, block.normed, atol=1e-4)
            if edited and block.layer == 1:
                assert (block.normed == block.norm_input).all()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_model_built_without_a_part_is_a_whole_one_edited(setting: dict[str, Any], bert: TransformerModel) -> None:
    tokenizer = ex.load("gpt2", device="cpu").tokenizer
    shape: dict[str, Any] = {"layers": 2, "dim": 16, "heads": 2, "hidden": 24, "final_norm": False, "seed": 4, "device": "cpu"}
    less = ex.build("gpt2", tokenizer=tokenizer, **shape, **setting)
    whole = ex.build("gpt2", tokenizer=tokenizer, **shape)
    assert isinstance(less, TransformerModel) and isinstance(whole, TransformerModel)
    missing = whole.module.load_state_dict(less.module.state_dict(), strict=False)
    assert not missing.unexpected_keys
    assert all(("norm" in name) if "norm" in setting else ("feed_forward" in name) for name in missing.missing_keys)
    assert bool(missing.missing_keys) == ("residual" not in setting)
    edit = {"residual": ex.NoResidual("decoder"), "norm": ex.NoNorm("decoder"),
            "feed_forward": ex.SilenceLayer("decoder", part="feed-forward")}[next(iter(setting))]  # fmt: skip
    mine, wanted = less.logits(SENTENCE), ex.trace(whole, SENTENCE, edits=edit).outputs["lm"]
    np.testing.assert_allclose(mine, wanted, atol=1e-5)
    assert total(less.config) == sum(weight.numel() for weight in less.module.parameters())


@SAMPLED
@pytest.mark.parametrize("preset", ["gpt2", "olmo2", "transformer"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_it_writes_as_its_whole_pass_says(setting: dict[str, Any], preset: str) -> None:
    tokenizer = ex.load("gpt2" if preset != "transformer" else "transformer", device="cpu").tokenizer
    model = ex.build(preset, tokenizer=tokenizer, device="cpu", seed=1, layers=2, dim=32, heads=2, hidden=40, **setting)
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.mul_(3)
    written = [list(ex.decode(model, "A dog ran", max_tokens=6, cache=cache))[-1] for cache in (True, False)]
    assert list(written[0].ids) == list(written[1].ids)
    assert written[0].logp == pytest.approx(written[1].logp, abs=1e-3)


@LONG
@pytest.mark.parametrize("setting", SETTINGS)
def test_it_trains_and_is_opened_again(setting: dict[str, Any], tmp_path: Path) -> None:
    texts = ex.microworld.texts(40, 1)
    steps = list(
        ex.fit("bert", corpus=texts, pieces=200, steps=3, batch=4, checks=0, device="cpu", folder=tmp_path / "run", **setting)
    )
    opened = ex.load(tmp_path / "run", device="cpu")
    name, value = next(iter(setting.items()))
    assert len(steps) == 3 and isinstance(opened, TransformerModel) and getattr(opened.config, name) == value
    with pytest.raises(ex.ExplorerError, match="no Hugging Face class with these settings"):
        ex.export(opened, tmp_path / "theirs")


def test_what_would_erase_the_states_is_refused() -> None:
    with pytest.raises(ex.ExplorerError, match="erase the states"):
        ex.build("gpt2", tokenizer=ex.load("gpt2", device="cpu").tokenizer, residual=False, feed_forward=False)


def test_views_that_take_sums_apart_refuse_a_model_without_them() -> None:
    model = ex.build("gpt2", tokenizer=ex.load("gpt2", device="cpu").tokenizer, residual=False, device="cpu")
    with pytest.raises(ex.ExplorerError, match="no residual connections"):
        ex.analysis.information_flow(model, SENTENCE)
    with pytest.raises(ex.ExplorerError, match="no residual connections"):
        ex.analysis.unit_writes(model, layer=0, unit=1)
    with pytest.raises(ex.ExplorerError, match="without feed-forward layers"):
        ex.analysis.unit_writes(
            ex.build("gpt2", tokenizer=ex.load("gpt2", device="cpu").tokenizer, feed_forward=False), layer=0, unit=1
        )


@pytest.mark.parametrize(("edit", "kind"), [("no residual connection", ex.NoResidual), ("no norm", ex.NoNorm)])
def test_the_page_leaves_out_what_was_chosen(edit: str, kind: type[Edit]) -> None:
    at = page(part="change-one-thing", model="gpt2", edit=edit, edit__layer="1")
    wanted = ex.views["change"](ex.change(ex.load("gpt2", device="cpu"), WRITTEN, kind("decoder", 1)))  # type: ignore[call-arg]
    assert not at.exception and not at.warning and spoken(wanted) in titles(at)
