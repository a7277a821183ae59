"""Tokens, words and what was never met; the small corpus."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import ALL, SENTENCE
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer as ex
from explorer.microworld import stories as microworld
from explorer.models.transformer import TransformerModel
from explorer.text import tokenizers
from explorer.text.tokenizers import Seen, Tokenizer
from explorer.text.toy import HELD_OUT, SCRIPTS
from explorer.text.toy import toy_stories as stories

SCRIPT_TEXT = "Hello wörld! Привет, мир. 你好 世界。 مرحبا بالعالم 😀👩‍👩‍👧 नमस्ते"


def test_tokens_agree_with_each_other() -> None:
    for name in ("bert", "gpt2"):
        tokens = shipped_tokenizer(name).encode(SENTENCE, "It slept. Then it ran!")
        n = len(tokens)
        parts = (tokens.texts, tokens.words, tokens.sentences, tokens.segments, tokens.offsets, tokens.special, tokens.unseen)
        assert all(len(part) == n for part in parts if part is not None)
        assert [w == -1 for w in tokens.words] == list(tokens.special) == [s == -1 for s in tokens.sentences]
        words = [w for w in tokens.words if w >= 0]
        assert words == sorted(words) and set(words) == set(range(max(words) + 1)), "B's words are counted on from A's"
        assert max(tokens.sentences) == 2


def test_special_pieces_are_added_only_when_asked_for(bert: TransformerModel) -> None:
    assert bert.tokenizer.encode("dog").texts == ("[CLS]", "dog", "[SEP]")
    assert bert.tokenizer.encode("dog", special=False).texts == ("dog",)
    assert bert.tokenizer.encode("dog", "cat").segments == (0, 0, 0, 1, 1)
    masked = bert.tokenizer.encode("the [MASK] ran")
    assert masked.ids[2] == bert.tokenizer.vocabulary.mask and masked.special[2]


def test_decoding_gives_the_text_back(bert: TransformerModel, gpt2: TransformerModel) -> None:
    assert gpt2.tokenizer.decode(gpt2.tokenizer.encode(SCRIPT_TEXT).ids) == SCRIPT_TEXT
    ids = bert.tokenizer.encode("The dog ran.").ids
    assert bert.tokenizer.decode(ids) == "the dog ran."
    assert bert.tokenizer.decode(ids, special=True).startswith("[CLS]")
    with pytest.raises(ex.ExplorerError, match="no token 99999"):
        bert.tokenizer.decode([99999])


@cache
def shipped_tokenizer(name: str) -> Tokenizer:
    return tokenizers.tokenizer_in(ex.models()[name].folder / "tokenizer.json")


@settings(max_examples=1000 if ALL else 150, deadline=None)
@given(text=st.text(max_size=60))
def test_any_text_is_encoded_as_the_library_encodes_it(text: str) -> None:
    for name in ("bert", "gpt2"):
        tokenizer = shipped_tokenizer(name)
        tokens = tokenizer.encode(text)
        assert tokens.ids.tolist() == tokenizer.core.encode(text).ids
        assert all(tokens.texts), "every token can be read"
        if name == "gpt2" and "<|endoftext|>" not in text:
            assert tokenizer.decode(tokens.ids) == text


def test_pieces_are_readable_in_every_script(gpt2: TransformerModel) -> None:
    texts = gpt2.tokenizer.encode("The dog é\n\x00", special=False).texts
    assert texts[:2] == ("The", "·dog") and any(t.startswith("é‹") for t in texts) and "␀" in "".join(texts)
    assert not any("Ġ" in t or "Ã" in t for t in gpt2.tokenizer.encode(SCRIPT_TEXT).texts)


def test_what_was_never_met_is_marked(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model in (bert, gpt2):
        tokens = model.tokenizer.encode("The dog saw a walrus.")
        marked = [t.strip("·#") for t, strange in zip(tokens.texts, tokens.unseen or (), strict=True) if strange]
        assert "".join(marked) == "walrus"
        assert 0 < tokens.unseen_share < 1
        by_ids = model.tokenizer.tokens(tokens.ids.tolist())
        assert by_ids.unseen == tokens.unseen and by_ids.texts == tokens.texts and by_ids.words == tokens.words
    nobody_knows = tokenizers.Tokenizer(bert.tokenizer.core).encode("walrus")
    assert nobody_knows.unseen is None and np.isnan(nobody_knows.unseen_share)


def test_the_shipped_tokenizers_met_exactly_their_corpus(shipped: TransformerModel) -> None:
    for story in microworld(200, 1):  # the first of the training stories
        assert not any(shipped.tokenizer.encode(" ".join(story)).unseen or (True,)), story


def test_sentences_are_counted_at_full_stops(bert: TransformerModel, gpt2: TransformerModel) -> None:
    def sentences(text: str, pair: str | None = None, tokenizer: tokenizers.Tokenizer = bert.tokenizer) -> str:
        return " ".join("-" if n < 0 else str(n) for n in tokenizer.encode(text, pair).sentences)

    assert sentences("a. b") == "- 0 0 1 -"
    assert sentences("a b [MASK] a.") == "- 0 0 - 0 0 -", "a mask is no end"
    assert sentences('"a," b. "a b." a') == "- 0 0 0 0 0 0 1 1 1 1 1 2 -", "an opening quote goes with what follows"
    assert sentences("a 3.14 b. a") == "- 0 0 0 0 0 0 0 1 -"
    assert bert.tokenizer.encode("mr. a b. a").sentences[-2] == 1, "a short form is no end"
    assert sentences("a", "b") == "- 0 - 1 -"
    assert sorted(set(gpt2.tokenizer.encode("It ran?! It slept.").sentences)) == [-1, 0, 1], "the begin token is part of none"
    assert gpt2.tokenizer.encode('"I ran." He slept').sentences[-1] == 1


def test_a_word_of_split_letters_is_met_when_it_was_met() -> None:
    text = "a café in 日本 ok"
    tokens = ex.tokenizer("byte-bpe", [text], size=257).encode(text)
    assert any("‹" in piece for piece in tokens.texts) and not any(tokens.unseen or (True,))


def test_what_was_seen_is_written_and_read_back(tmp_path: Path) -> None:
    seen = Seen(frozenset({"é", "dog"}), frozenset({1, 5}))
    seen.save(tmp_path / "seen.json")
    assert Seen.read(tmp_path / "seen.json") == seen


def test_stories_come_from_their_seed_alone() -> None:
    command = [sys.executable, "-c", "from explorer.text.toy import toy_stories; print(list(toy_stories(50, 7)))"]
    for seed in ("1", "2"):
        printed = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        assert printed == f"{list(stories(50, 7))}\n"
    assert list(stories(50, 7)) != list(stories(50, 8))


def test_the_lectures_sentences_are_held_out() -> None:
    corpus = list(stories(20_000, 1))
    assert not {s for story in corpus for s in story} & set(HELD_OUT)
    assert all(4 <= len(story) <= 7 for story in corpus)
    words = {w.strip('.,"').lower() for story in corpus for s in story for w in s.split()}
    assert {w.strip(".").lower() for s in HELD_OUT for w in s.split()} <= words, "their words are known, the sentences are not"
    assert len(SCRIPTS) == 6
