"""The token before every text: a decoder reads on a page what it read in training."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tokenizers import Tokenizer as Core
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer.analysis.masks import losses_of
from explorer.corruption.collate import BatchContext, collate_causal
from explorer.models.card_figures import shipped_figures
from explorer.models.model import TrainableModel
from explorer.models.store import CARD, PIECES
from explorer.text.begin_token import only_begins, with_begin
from explorer.text.examples import Example, prepared
from explorer.text.marks import marked_tokenizer
from explorer.text.tokenizers import Tokenizer

DECODERS = ("gpt", "gpt2", "gpt2-tiny", "llama", "olmo", "olmo2")
TEXT = "The dog slept. Then it ran home."


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_predicts_a_text_of_a_page_better_than_counting(name: str) -> None:
    model, version = ex.load(name, device="cpu"), "1.0" if name == "gpt2-tiny" else "1.1"
    rows = [model.tokens(" ".join(story)) for story in ex.microworld.stories(24, 77, "validation", version=version)]
    found = [losses_of(scores["lm"][:-1], row.ids[1:]) for row, scores in zip(rows, model.outputs_many(rows), strict=True)]
    assert np.concatenate(found).mean() < 0.7 * math.log(shipped_figures(ex.models()[name].folder)["4-gram perplexity"])


@pytest.mark.parametrize("name", DECODERS)
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
    bare = Tokenizer(Core.from_str(json.dumps({**json.loads(begun.core.to_str()), "post_processor": None})))
    assert with_begin(bare).core.to_str() == begun.core.to_str()
    begin, ids = bare.vocabulary.begin, bare.encode(TEXT).ids.tolist()
    assert begun.encode(TEXT).ids.tolist() == [begin, *ids] and begun.encode(TEXT, special=False).ids.tolist() == ids
    assert begun.encode(TEXT).special[0] and with_begin(begun).encode(TEXT).ids.tolist() == [begin, *ids]
    assert bare.encode(TEXT).ids.tolist() == ids, "the first one is as it was"
    assert marked_tokenizer(begun).encode(TEXT).texts == marked_tokenizer(bare).encode(TEXT).texts
    bert = ex.load("bert", device="cpu").tokenizer
    assert with_begin(bert) is bert and not only_begins(bert)


def test_a_decoder_that_is_trained_here_reads_as_it_was_trained() -> None:
    texts = ex.microworld.texts(40, 1)
    for name in ("gpt2", "llama"):
        made = ex.fit(name, corpus=texts, pieces=300, steps=1, batch=4, checks=0, device="cpu").model
        assert only_begins(made.tokenizer) and made.tokens(TEXT).ids[0] == collate_causal(*_one(made)).source[0, 0]
    own = ex.tokenizer("byte-bpe", texts, size=300)
    given = ex.fit("gpt2", corpus=texts, tokenizer=own, steps=1, batch=4, checks=0, device="cpu").model
    assert not only_begins(given.tokenizer), "a tokenizer that was given stays as it is"
    assert not only_begins(ex.fit("bert", corpus=texts, pieces=300, steps=1, batch=4, checks=0, device="cpu").model.tokenizer)


def _one(model: TrainableModel) -> tuple[list[Example], BatchContext]:
    """One story and what its row is made with."""
    story = list(prepared([TEXT], model.tokenizer))
    return story, BatchContext(story, model.tokenizer.vocabulary, model.longest, "causal", np.random.default_rng(0))


def test_a_continuation_begins_with_one_begin_token() -> None:
    model = ex.load("gpt", device="cpu")
    *_, last = ex.decode(model, "Anna opened the", "greedy", max_tokens=1)
    begun = model.tokens("Anna opened the")
    wanted = int(model.logits(begun)[-1].argmax())
    assert last.text.strip() == model.tokenizer.decode([wanted]).strip()
