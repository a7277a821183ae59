"""Texts end to end without padding: the same losses and gradients, a text's states as it has them alone, and attention without a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pretended as simulated
import pytest
import torch
from conftest import ALL
from test_pretended import begun, curve, pretended
from torch import Tensor
from transformers import GPT2LMHeadModel

import explorer as ex
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.transformer import Transformer
from explorer.nn.unpadded import Unpadded
from explorer.training.device import tensors, where_real
from explorer.training.objectives import OBJECTIVES

EVERY = ("bert", "gpt2", "bart", "deberta", "electra", "llama", "olmo2", "spanbert", "t5", "transformer")
TEXTS = ("A dog ran.", "The animal didn't cross the street because it was too tired.", "She slept and slept.")


def layout_of(mask: np.ndarray, multiple: int = 1) -> Unpadded:
    return Unpadded(*where_real(mask, multiple))


@pytest.mark.parametrize("name", EVERY if ALL else ("bert", "bart"))
def test_a_run_without_padding_is_the_run_with_it(name: str) -> None:
    plain, bare = begun(name, "cpu", steps=4), begun(name, "cpu", steps=4, unpadded=True)
    assert not plain.batch(1).attention_mask.all()
    assert curve(bare) == pytest.approx(curve(plain), rel=1e-4)


@pytest.mark.parametrize("name", EVERY if ALL else ("deberta", "t5"))
def test_gradients_are_those_of_the_padded_batch(name: str) -> None:
    """In float64: every weight's gradient, through embeddings, all layers, cross-attention and the output layers."""
    run = begun(name, "cpu", dropout=0.0)
    module, batch = run.model.module.double().train(), run.batch(1)

    def gradients(*, unpadded: bool) -> dict[str, Tensor]:
        module.zero_grad(set_to_none=True)
        losses = OBJECTIVES[run.plan.objective].loss(module, tensors(batch, run.model.device, unpadded=unpadded), 0.0)
        sum(losses.values(), torch.zeros(())).backward()
        return {name: weight.grad.clone() for name, weight in module.named_parameters() if weight.grad is not None}

    expected, found = gradients(unpadded=False), gradients(unpadded=True)
    assert set(found) == set(expected) and any(bool(grad.any()) for grad in found.values())
    for weight, grad in expected.items():
        torch.testing.assert_close(found[weight], grad, atol=1e-9, rtol=1e-6, msg=weight)


@pytest.mark.parametrize("positions", ["learned", "rope", "alibi", "t5"])
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_text_has_the_states_that_it_has_alone(name: str, positions: str) -> None:
    """Its positions begin at 0 and it sees no neighbour, whichever way positions enter."""
    tokenizer = ex.load(name, device="cpu").tokenizer
    model = ex.build(name, tokenizer=tokenizer, positions=positions, device="cpu", seed=3)
    module = model.module
    assert isinstance(module, Transformer)
    rows = [torch.tensor(tokenizer.encode(text).ids.tolist()) for text in TEXTS]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = np.arange(ids.shape[1]) < np.array([[len(row)] for row in rows])
    for multiple in (1, 8):
        found = module(ids, None, layout_of(mask, multiple))
        for row, alone in enumerate(rows):
            torch.testing.assert_close(found[row, : len(alone)], module(alone[None])[0], atol=1e-5, rtol=0)


def test_the_losses_are_those_of_transformers(tmp_path: Any) -> None:
    """GPT2LMHeadModel reads each text by itself; ours reads all of them in one line."""
    run = begun("gpt2", "cpu", batch=6, unpadded=True)
    theirs = GPT2LMHeadModel.from_pretrained(ex.export(run.model, tmp_path / "model")).eval()
    batch, total = run.batch(1), 0.0
    for source, labels, real in zip(batch.source, batch.labels, batch.attention_mask, strict=True):
        row, wanted = (torch.as_tensor(part[real])[None] for part in (source, labels))
        with torch.no_grad():
            total += float(torch.nn.functional.cross_entropy(theirs(row).logits[0], wanted[0], reduction="sum"))
    assert next(iter(run)).losses["lm"] == pytest.approx(total / batch.tokens, rel=1e-5)


def test_hardly_any_padding_is_computed() -> None:
    run = begun("bert", "cpu", batch=32)
    real = total = padded = 0
    for step in range(1, 4):
        batch = run.batch(step)
        _, kept, offsets = where_real(batch.attention_mask, 64)
        assert np.all(batch.attention_mask.flatten()[kept.numpy()].sum() == batch.tokens) and len(kept.unique()) == len(kept)
        np.testing.assert_array_equal(np.diff(offsets.numpy()), batch.attention_mask.sum(1))
        real, total, padded = real + batch.tokens, total + len(kept), padded + batch.source.size
    assert 1 - real / total <= 0.05 < 1 - real / padded


@pytest.mark.parametrize("name", ("bert", "gpt2", "llama", "bart") if ALL else ("llama",))
def test_on_a_gpu_attention_knows_no_mask(name: str) -> None:
    """In 16 bits the flash kernel for texts end to end is asked, where padding would have ruled it out."""
    with pretended() as log:
        expected = curve(begun(name, "cuda", precision="bfloat16"))
        run = begun(name, "cuda", precision="bfloat16", unpadded=True)
        log.reset()
        found = curve(run)
        asked, masked = log.launches["attention end to end"], log.launches["attention with a mask"]
        assert not log.copies
    layers = sum(part.name[0] != "cross" for part in run.model.module.modules() if isinstance(part, MultiHeadAttention))
    assert asked == 3 * layers and masked == (3 if name == "bart" else 0)  # of BART, cross-attention has one
    assert found == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("way", ["narrow heads", "an older GPU"])
def test_where_the_kernel_would_refuse_rows_are_padded_again(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads of 4 numbers, or a GPU before Ampere: the run goes as with padding, and the kernel is not asked."""
    monkeypatch.setattr(simulated, "CAPABILITY", [(7, 5) if way == "an older GPU" else (9, 0)])
    shape = {"dim": 32, "heads": 8} if way == "narrow heads" else {}
    with pretended() as log:
        expected = curve(begun("gpt2", "cuda", precision="bfloat16", **shape))
        log.reset()
        found = curve(begun("gpt2", "cuda", precision="bfloat16", unpadded=True, **shape))
        assert (
            sum(count for kind, count in log.launches.items() if kind.startswith("attention"))
            > log.launches["attention end to end"]
            == 0
        )
    assert found == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(("name", "positions", "stacks"), [("t5", "t5", 3), ("bert", "alibi", 1)])
def test_bias_and_mask_are_added_up_once_for_all_layers(name: str, positions: str, stacks: int) -> None:
    """On a GPU every layer of a stack is given the same sum; the losses are those of the processor, where each makes its own."""
    settings: dict[str, Any] = {"steps": 2, "layers": 3, "positions": positions}
    expected, given = curve(begun(name, "cpu", **settings)), list[Tensor]()
    with pretended(), pytest.MonkeyPatch.context() as patch:
        real = torch.nn.functional.scaled_dot_product_attention

        def heard(*qkv: Tensor, attn_mask: Tensor, **more: Any) -> Tensor:
            given.append(attn_mask)
            return real(*qkv, attn_mask=attn_mask, **more)

        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", heard)
        found = curve(begun(name, "cuda", **settings))
    assert found == pytest.approx(expected, rel=2e-4)
    assert len(given) == 2 * 3 * stacks and len({id(mask) for mask in given}) == 2 * stacks


@pytest.mark.parametrize("name", ["elmo", "word2vec"])
def test_what_has_no_layers_of_attention_refuses(name: str) -> None:
    with pytest.raises(ex.ExplorerError, match="unpadded"):
        begun(name, "cpu", unpadded=True)
