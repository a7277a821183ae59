"""RoBERTa's rows and masks, OLMo's norms, PEGASUS's gaps and grouped heads: each against a formula, a library or a hand count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, long
from test_attention import random_model, watched
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer.microworld import stories
from explorer.models.transformer import TransformerModel
from explorer.nn.cache import KeyValueCache
from explorer.text.examples import Example, packed, prepared
from explorer.text.tokenizers import Tokenizer
from explorer.training.run import Run
from explorer.views.board.stations import stations_of

TEXTS = list(stories(200, 3))
SMALL = {"dim": 32, "layers": 2, "heads": 4, "hidden": 48, "length": 96, "device": "cpu", "precision": "float32"}
TEXT = "The dog was tired. It slept, and the cat looked at it."
SYSTEMS = ("roberta", "olmo", "olmo2", "pegasus", "llama")


def pieces(system: str) -> Tokenizer:
    preset = ex.presets()[system]
    texts = [" ".join(text) for text in TEXTS]
    return ex.tokenizer(preset.tokenizer, texts, size=400, specials=preset.specials)


@pytest.fixture(scope="module")
def roberta() -> Tokenizer:
    return pieces("roberta")


def fitted(system: str, **given: object) -> Run:
    size = {} if "tokenizer" in given else {"pieces": 400}
    return ex.fit(system, corpus=TEXTS, **{**size, "batch": 8, "checks": 0, "seed": 1, **SMALL, **given})  # type: ignore[arg-type]


# every system


@LONG
@pytest.mark.parametrize("system", ["llama", *long("roberta", "olmo2", "olmo", "pegasus")])
def test_each_trains_is_traced_exported_and_opened_again(system: str, tmp_path: Path) -> None:
    more = {"kv_heads": 2} if system in ("llama", "olmo2") else {}
    run = fitted(system, steps=60, **more)
    losses = [sum(step.losses.values()) for step in run]
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:3])
    model = run.model
    target = "The cat looked." if model.family == "encoder-decoder" else None
    record = ex.trace(model, TEXT, target=target, blocks=True)
    assert record.residual <= 1e-5
    assert all(len(a.k) == model.config.groups for a in record.attention if a.k is not None)
    back = ex.load(ex.export(model, tmp_path), device="cpu")
    assert back.preset == system and back.config.groups == model.config.groups
    np.testing.assert_allclose(back.logits(TEXT, target), model.logits(TEXT, target), atol=1e-5)
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path)(TEXT)["input_ids"]
    assert theirs == model.tokenizer.encode(TEXT).ids.tolist()


# RoBERTa


def test_rows_are_filled_with_whole_sentences_in_their_order(roberta: Tokenizer) -> None:
    stories_, separator, room = prepared(TEXTS, roberta), roberta.vocabulary.sep, 93
    assert separator is not None
    rows = packed(stories_, separator, room)
    assert [i for row in rows for i in row.ids.tolist() if i != separator] == [
        i for story in stories_ for i in story.ids.tolist()
    ]
    wholes = [[s.ids[s.sentences == n].tolist() for n in range(int(s.sentences.max()) + 1)] for s in stories_]
    sentences = [sentence for story in wholes for sentence in story]
    shown = [row.ids[row.sentences == n].tolist() for row in rows for n in np.unique(row.sentences[row.sentences >= 0])]
    assert shown == sentences, "every sentence whole, each in one row"
    counts = np.array([len(row.ids) for row in rows])
    nexts = np.array([int((row.sentences == row.sentences[0]).sum()) for row in rows[1:]])
    assert counts.max() <= room and (counts[:-1] + 2 + nexts > room).all(), "a row ends because the next sentence does not fit"
    assert sum(int((row.ids == separator).sum()) for row in rows) > len(stories_) / 2, "most stories begin inside a row"
    for row in rows:
        marks = row.ids == separator
        assert not marks[[0, -1]].any() and (row.words[marks] == -1).all() and (row.sentences[marks] == -1).all()
        words = row.words[~marks]
        assert words[0] == 0 and set(np.diff(words)) <= {0, 1}, "words are numbered on, without a gap"


def test_only_a_sentence_longer_than_a_row_is_cut() -> None:
    long = Example(np.arange(10, 35), np.arange(25), np.repeat([0, 1], [22, 3]))
    short = Example(np.arange(40, 45), np.arange(5), np.zeros(5, int))
    rows = [row.ids.tolist() for row in packed([long, short], 2, 10)]
    assert rows == [[*range(10, 20)], [*range(20, 30)], [*range(30, 35)], [*range(40, 45)]]


def test_the_preset_packs_and_bert_does_not(roberta: Tokenizer) -> None:
    run = fitted("roberta", tokenizer=roberta)
    batch, vocabulary = run.batch(1), roberta.vocabulary
    read = [row[real] for row, real in zip(batch.labels, batch.attention_mask, strict=True)]
    assert all(row[0] == vocabulary.cls and row[-1] == vocabulary.sep for row in read)
    assert sum(int((row[1:-1] == vocabulary.sep).sum()) for row in read) >= 4, "stories stand side by side"
    assert not batch.loss_mask[np.isin(batch.labels, vocabulary.special)].any() and not batch.segments.any()
    assert run.plan.packed and not fitted("roberta", tokenizer=roberta, packed=False).plan.packed
    alone = fitted("roberta", tokenizer=roberta, objective="mlm+nsp", next_sentence=True, segments=2)
    assert not alone.plan.packed, "with next sentence the rows are pairs"
    with pytest.raises(ex.ExplorerError, match="packed=True"):
        fitted("roberta", tokenizer=roberta, objective="mlm+nsp", packed=True)


def test_another_padding_is_not_exported_as_roberta(bert: TransformerModel, tmp_path: Path) -> None:
    model = ex.build("roberta", tokenizer=bert.tokenizer, device="cpu")
    with pytest.raises(ex.ExplorerError, match="counts its positions from the id of padding"):
        ex.export(model, tmp_path)


# OLMo, LLaMA


@pytest.mark.parametrize("norm", ["rms", "layer", "bare"])
@pytest.mark.parametrize("positions", ["rope", "learned", "disentangled"])
@pytest.mark.parametrize("family", ["encoder", "decoder"])
def test_qk_norm_is_the_same_on_every_path(family: str, positions: str, norm: str) -> None:
    module = random_model(
        3, family=family, positions=positions, norm=norm, qk_norm=True, heads=4, dim=32, kv_heads=2, segments=0
    )
    ids = torch.randint(0, 50, (2, 14), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        fast = module(ids)
        assert float((fast - watched(module, ids)).abs().max()) <= 1e-5 * max(1.0, float(fast.abs().max()))
        if family == "decoder":
            cache = KeyValueCache()
            steps = torch.cat([module(ids[:, n : n + 1], cache=cache) for n in range(14)], dim=1)
            assert float((fast - steps).abs().max()) <= 1e-5 * max(1.0, float(fast.abs().max()))


def test_qk_norm_is_its_formula_and_is_seen(bert: TransformerModel) -> None:
    model = ex.build(
        "olmo2", tokenizer=bert.tokenizer, seed=2, device="cpu", dim=32, heads=4, kv_heads=2, hidden=40, norm_epsilon=1e-6
    )
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())) * 0.5)
    record = ex.trace(model, TEXT, blocks=True)
    assert record.residual <= 1e-5
    state = {name: value.double().numpy() for name, value in model.module.state_dict().items()}
    for layer, seen in enumerate(record.attention):
        x = record.hidden["decoder"][layer].astype(np.float64)
        for name, part, ready in (("query", seen.projected_q, seen.q), ("key", seen.projected_k, seen.k)):
            assert part is not None and ready is not None
            projected = x @ state[f"layers.{layer}.attention.{name}.weight"].T  # [position, dim of all heads]
            np.testing.assert_allclose(np.concatenate(list(part), axis=1), projected, rtol=1e-4, atol=1e-4)
            projected = (
                projected
                / np.sqrt((projected**2).mean(-1, keepdims=True) + 1e-6)
                * state[f"layers.{layer}.attention.{name}_norm.weight"]
            )
            turned = [rope(head, model.config.rope_base) for head in np.split(projected, len(part), axis=1)]
            np.testing.assert_allclose(ready, turned, rtol=1e-4, atol=1e-4)


def rope(x: np.ndarray, base: float) -> np.ndarray:
    """RoPE as complex numbers: pair i of place p times e^(i p base^(−i/n))."""
    half = x.shape[1] // 2
    angle = np.arange(len(x))[:, None] * base ** (-np.arange(half) / half)
    z = (x[:, :half] + 1j * x[:, half:]) * np.exp(1j * angle)
    return np.concatenate([z.real, z.imag], axis=1)


def test_grouped_heads_rms_norm_and_rotation_are_in_the_record_and_at_the_stations(bert: TransformerModel) -> None:
    model = ex.build("llama", tokenizer=bert.tokenizer, seed=0, device="cpu", kv_heads=2)
    record = ex.trace(model, TEXT, blocks=True)
    assert record.residual <= 1e-5
    assert stations_of(record.attention[0], record.blocks, last=True, speaks=False)[:4] == ["x", "norm1", "qkv", "turn"]
    attention, block = record.attention[0], record.block("decoder", 0, "attention")
    assert attention.k is not None and attention.q is not None and attention.k.shape[0] == 2 and attention.heads == 4
    x = block.given.astype(np.float64)
    np.testing.assert_allclose(block.normed, x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6), rtol=1e-4)
    for head in range(4):
        np.testing.assert_allclose(
            attention.stage("scores", head), attention.q[head] @ attention.k[head // 2].T, rtol=1e-4, atol=1e-5
        )
    plain = ex.trace(ex.build("bert", tokenizer=bert.tokenizer, seed=0, device="cpu"), TEXT, blocks=True)
    assert "turn" not in stations_of(plain.attention[0], plain.blocks, last=True, speaks=False)


def test_a_model_with_qk_norm_has_no_other_class(bert: TransformerModel, tmp_path: Path) -> None:
    for system in ("bert", "gpt2", "llama", "olmo", "transformer"):
        with pytest.raises(ex.ExplorerError, match="no Hugging Face class"):
            ex.export(ex.build(system, tokenizer=bert.tokenizer, device="cpu", qk_norm=True), tmp_path)
    with pytest.raises(ex.ExplorerError, match="rope_base"):
        ex.build("olmo2", tokenizer=bert.tokenizer, rope_base=0.5)


# PEGASUS


@LONG
def test_pegasus_reads_masks_for_sentences_and_writes_them(roberta: Tokenizer) -> None:
    run = fitted("pegasus")
    vocabulary, batch = run.model.tokenizer.vocabulary, run.batch(1)
    assert run.model.config.start == vocabulary.pad and vocabulary.mask is not None
    encoded = [run.model.tokenizer.encode(" ".join(text), special=False).ids.tolist() for text in TEXTS]
    for source, real, answers, scored in zip(batch.source, batch.attention_mask, batch.labels, batch.loss_mask, strict=True):
        written = answers[scored].tolist()
        assert written.pop() == vocabulary.end and source[real][-1] == vocabulary.end
        gone = sentences(written, run.model.tokenizer)
        whole = [part for i in source[real][:-1].tolist() for part in (next(gone) if i == vocabulary.mask else [i])]
        assert next(gone, None) is None, "each hidden sentence is one mask"
        assert any(story[: len(whole)] == whole for story in encoded), (
            "put back in order, they give a story, or as much as fits"
        )


def sentences(ids: list[int], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """The tokens cut behind those that end a sentence."""
    ends = {n for n in range(tokenizer.vocabulary.size) if tokenizer.text_of(n).strip("▁") in (".", "?", "!", '."')}
    begin = 0
    for place, piece in enumerate(ids, 1):
        if piece in ends:
            yield ids[begin:place]
            begin = place
    if begin < len(ids):
        yield ids[begin:]
