"""The token before every text: a decoder reads on a page what it read in training."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG, some
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer.analysis.masks import losses_of
from explorer.corruption.collate import BatchContext, collate_causal, collate_mlm_coref, replaced_tokens
from explorer.models.card_figures import shipped_figures
from explorer.models.model import Model, TrainableModel
from explorer.models.store import CARD, PIECES
from explorer.text.begin_token import only_begins, with_begin, without_begin
from explorer.text.examples import CorefExample, Example, prepared
from explorer.text.marks import marked_tokenizer

DECODERS = ("gpt", "gpt2", "llama", "olmo", "olmo2")
TEXT = "The dog slept. Then it ran home."


@pytest.mark.parametrize("name", some(DECODERS, "gpt", "olmo2"))
def test_a_decoder_predicts_a_text_of_a_page_better_than_counting(name: str) -> None:
    model, version = ex.load(name, device="cpu"), "2.0"
    rows = [model.tokens(" ".join(story)) for story in ex.microworld.stories(24, 77, "validation", version=version)]
    known = shipped_figures(ex.models()[name].folder)
    begun, bare = surprise(model, [row.ids for row in rows], 2), surprise(model, [row.ids[1:] for row in rows], 1)
    assert begun.mean() < 0.7 * math.log(known["4-gram perplexity"])
    assert begun.mean() < math.log(known["perplexity"]), "stories are easier than the short texts that its card counts as well"
    assert begun.mean() < 0.9 * bare.mean(), "the same tokens, read without it"


def surprise(model: Model, rows: list[np.ndarray], first: int) -> np.ndarray:
    """−log P of the tokens of each row from `first` on."""
    outputs = zip(rows, model.outputs_many(rows), strict=True)
    return np.concatenate([losses_of(scores["lm"][:-1], ids[1:])[first - 1 :] for ids, scores in outputs])


@pytest.mark.parametrize("name", (*DECODERS, "induction"))
def test_a_tokenizer_travels_with_the_begin_token_of_its_model_s_training(name: str) -> None:
    tokenizer = ex.load(name, device="cpu").tokenizer
    assert only_begins(tokenizer) and "its tokenizer writes that token" in " ".join(
        (ex.models()[name].folder / CARD).read_text("utf-8").split()
    )
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(ex.models()[name].folder / PIECES))
    assert tokenizer.encode(TEXT).ids.tolist() == theirs(TEXT)["input_ids"]
    assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT


def test_a_begin_token_is_written_once_and_gives_way_to_the_marks_of_a_task() -> None:
    begun = ex.load("gpt2", device="cpu").tokenizer
    bare = without_begin(begun)
    assert with_begin(bare).core.to_str() == begun.core.to_str()
    begin, ids = bare.vocabulary.begin, bare.encode(TEXT).ids.tolist()
    assert begun.encode(TEXT).ids.tolist() == [begin, *ids] and begun.encode(TEXT, special=False).ids.tolist() == ids
    assert begun.encode(TEXT).special[0] and with_begin(begun).encode(TEXT).ids.tolist() == [begin, *ids]
    assert bare.encode(TEXT).ids.tolist() == ids, "the first one is as it was"
    assert marked_tokenizer(begun).encode(TEXT).texts == marked_tokenizer(bare).encode(TEXT).texts
    bert = ex.load("bert", device="cpu").tokenizer
    assert with_begin(bert) is bert and not only_begins(bert)


@LONG
def test_a_decoder_that_is_trained_here_reads_as_it_was_trained() -> None:
    texts = ex.microworld.texts(40, 1)
    kinds = ("byte-bpe", "bpe", "unigram", "words")
    for name, kind in (*(("gpt2", kind) for kind in kinds), ("gpt", None), ("llama", None), ("olmo", None)):
        more = {"tokenizer": kind} if kind else {}
        model = ex.fit(name, corpus=texts, pieces=300, steps=1, batch=4, checks=0, device="cpu", **more).model
        assert only_begins(model.tokenizer) and model.tokens(TEXT).ids[0] == collate_causal(*one_row(model)).source[0, 0]
    own, framed = ex.tokenizer("byte-bpe", texts, size=300), ex.tokenizer("wordpiece", texts, size=300)
    given = ex.fit("gpt2", corpus=texts, tokenizer=own, steps=1, batch=4, checks=0, device="cpu").model
    assert only_begins(given.tokenizer) and given.tokens(TEXT).ids[0] == collate_causal(*one_row(given)).source[0, 0]
    assert not only_begins(own), "the tokenizer itself stays as it was"
    kept = ex.fit("gpt2", corpus=texts, tokenizer=framed, steps=1, batch=4, checks=0, device="cpu").model
    assert kept.tokens(TEXT).ids.tolist() == framed.encode(TEXT).ids.tolist(), "one that adds tokens of its own keeps them"
    assert not only_begins(ex.fit("bert", corpus=texts, pieces=300, steps=1, batch=4, checks=0, device="cpu").model.tokenizer)


def test_a_prepared_corpus_brings_its_tokenizer_and_a_decoder_adds_the_begin_token(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("\n\n".join(ex.microworld.texts(200, 1)), "utf-8")
    own = ex.tokenizer("byte-bpe", ex.microworld.texts(200, 1), size=300)
    ex.text.corpus(tmp_path / "mine.txt", own, tmp_path / "ready")
    run = ex.fit("gpt2", corpus=tmp_path / "ready", steps=1, batch=4, checks=0, device="cpu")
    assert only_begins(run.model.tokenizer) and [step.step for step in run] == [1]
    assert without_begin(run.model.tokenizer).encode(TEXT).ids.tolist() == own.encode(TEXT).ids.tolist()
    with pytest.raises(ex.ExplorerError, match="another tokenizer"):
        ex.fit("gpt2", corpus=tmp_path / "ready", tokenizer=ex.load("gpt2").tokenizer, steps=1, batch=4, device="cpu")


def one_row(model: TrainableModel) -> tuple[list[Example], BatchContext]:
    """One story and what its row is made with."""
    story = list(prepared([TEXT], model.tokenizer))
    return story, BatchContext(story, model.tokenizer.vocabulary, model.longest, "causal", np.random.default_rng(0))


def test_links_behind_the_end_of_a_row_are_left_out_and_padding_is_no_place_of_a_draw() -> None:
    bert = ex.load("bert", device="cpu")
    (long,), (short,) = (
        list(prepared([text], bert.tokenizer)) for text in ("The dog ran home because it was very tired.", "It ran.")
    )
    links = [CorefExample(each.ids, each.words, each.sentences, ((4, 1), (5, 1), (6, 1))) for each in (long, short)]
    context = BatchContext(links, bert.tokenizer.vocabulary, 8, "mlm", np.random.default_rng(0))
    for _ in range(20):
        batch = collate_mlm_coref(links, context)
        seen = batch.source == batch.labels
        for query in (4, 5):  # the row has six tokens of the text
            assert batch.extras["antecedent"][0, query + 1, 2] == seen[0, query + 1]
        assert (
            batch.source.shape == (2, 8)
            and batch.extras["antecedent"][0].sum() <= 2
            and not batch.extras["antecedent"][1].any()
        )
        draws = replaced_tokens(links, context).extras["rtd"]
        assert (draws[~batch.attention_mask] == -1).all() and (draws[batch.attention_mask] >= 0).all()


def test_a_continuation_begins_with_one_begin_token() -> None:
    model = ex.load("gpt", device="cpu")
    *_, last = ex.decode(model, "Anna opened the", "greedy", max_tokens=1)
    begun = model.tokens("Anna opened the")
    wanted = int(model.logits(begun)[-1].argmax())
    assert last.text.strip() == model.tokenizer.decode([wanted]).strip()
