"""The token before every text: a decoder reads on a page what it read in training."""

from __future__ import annotations

import math

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer.analysis.masks import losses_of
from explorer.models.card_figures import shipped_figures
from explorer.models.shelf import PIECES
from explorer.text.begin_token import only_begins, with_begin
from explorer.text.marks import marked_tokenizer

DECODERS = ("gpt", "gpt2", "llama", "olmo", "olmo2")
BEGUN = {"gpt", "olmo"}
TEXT = "The dog slept. Then it ran home."


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_predicts_a_text_of_a_page_better_than_counting(name: str) -> None:
    model = ex.load(name, device="cpu")
    rows = [model.tokens(" ".join(story)) for story in ex.microworld.stories(24, 77, "validation", version="1.1")]
    found = [losses_of(scores["lm"][:-1], row.ids[1:]) for row, scores in zip(rows, model.outputs_many(rows), strict=True)]
    assert np.concatenate(found).mean() < 0.9 * math.log(shipped_figures(ex.models()[name].folder)["4-gram perplexity"])


@pytest.mark.parametrize("name", DECODERS)
def test_a_tokenizer_travels_with_its_begin_token_where_its_model_needs_it(name: str) -> None:
    tokenizer = ex.load(name, device="cpu").tokenizer
    assert only_begins(tokenizer) == (name in BEGUN)
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(ex.models()[name].folder / PIECES))
    assert tokenizer.encode(TEXT).ids.tolist() == theirs(TEXT)["input_ids"]
    assert tokenizer.decode(tokenizer.encode(TEXT).ids) == TEXT


def test_a_begin_token_is_written_once_and_gives_way_to_the_marks_of_a_task() -> None:
    bare = ex.load("gpt2", device="cpu").tokenizer
    begun = with_begin(bare)
    begin, ids = bare.vocabulary.begin, bare.encode(TEXT).ids.tolist()
    assert begun.encode(TEXT).ids.tolist() == [begin, *ids] and begun.encode(TEXT, special=False).ids.tolist() == ids
    assert begun.encode(TEXT).special[0] and with_begin(begun).encode(TEXT).ids.tolist() == [begin, *ids]
    assert bare.encode(TEXT).ids.tolist() == ids, "the first one is as it was"
    assert marked_tokenizer(begun).encode(TEXT).texts == marked_tokenizer(bare).encode(TEXT).texts
    bert = ex.load("bert", device="cpu").tokenizer
    assert with_begin(bert) is bert and not only_begins(bert)


def test_a_continuation_begins_with_one_begin_token() -> None:
    model = ex.load("gpt", device="cpu")
    *_, last = ex.decode(model, "Anna opened the", "greedy", max_tokens=1)
    begun = model.tokens("Anna opened the")
    wanted = int(model.logits(begun)[-1].argmax())
    assert last.text.strip() == model.tokenizer.decode([wanted]).strip()
