"""What is learned and how words are cut, against the `tokenizers` library and the lecture's formula; tokens, words, and what was
never met.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import groupby, product
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any

import numpy as np
import pytest
import tokenizers as library
from conftest import ALL, LONG, SAMPLED, SENTENCE, some
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer import microworld
from explorer.microworld.grammar.pairing import pairs
from explorer.models.transformer import TransformerModel
from explorer.text import learning, tokenizers
from explorer.text.kinds import CUTS, SPECIALS, words_of
from explorer.text.learning import cut_words, tokenizer, word_counts
from explorer.text.matching import matches, replay
from explorer.text.tokenizers import Seen, Tokenizer
from explorer.text.toy import HELD_OUT, SCRIPTS
from explorer.text.toy import toy_stories as stories

FIVE = [
    "The animal didn't cross the street because it was too tired. The street was too wide.",
    "Eläin ei ylittänyt katua, koska se oli liian väsynyt. Katu oli liian leveä.",
    "لم يعبر الحيوان الشارع لأنه كان متعبا جدا. كان الشارع واسعا جدا.",
    "动物没有过马路，因为它太累了。马路太宽了。",
    "Животное не перешло улицу, потому что оно слишком устало. 😀😀 👩‍👩‍👧 नमस्ते नमस्ते",
]
MORE = [*product(("bpe", "byte-bpe"), (0, 7, 150, 3000))]
EXAMPLES = 1500 if ALL else 40
ALPHABET = set(ascii_lowercase + digits)
SMALL = st.lists(st.text(alphabet="ab c", max_size=24), min_size=1, max_size=8)  # many ties, and runs of one letter
WILD = st.lists(st.text(max_size=30), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def toys() -> list[str]:
    return [" ".join(story) for story in stories(400, 1)]


def spelled(texts: list[str]) -> bool:
    return any(text.strip() for text in texts)


def theirs(kind: str, texts: list[str], size: int) -> dict[str, Any]:
    """What the library's own trainer makes of these texts."""
    core = library.Tokenizer(models.BPE())
    first: dict[str, Any] = {"special_tokens": list(SPECIALS[kind])}
    if kind == "byte-bpe":
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        first["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    else:
        core.normalizer, core.pre_tokenizer = CUTS[kind]().normalizer, CUTS[kind]().pre_tokenizer
    core.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, show_progress=False, **first))
    return json.loads(core.to_str())["model"]


def ours(kind: str, texts: list[str], size: int) -> dict[str, Any]:
    return json.loads(ex.tokenizer(kind, texts, size=size).core.to_str())["model"]


def agree(kind: str, texts: list[str], size: int) -> dict[str, int]:
    """The vocabulary by our own trainer, which is the library's with all its merges."""
    mine, other = ours(kind, texts, size), theirs(kind, texts, size)
    assert mine["vocab"] == other["vocab"] and mine["merges"] == other["merges"]
    return mine["vocab"]


def least(kind: str, texts: list[str]) -> int:
    """The smallest vocabulary for these texts: special tokens and letters."""
    letters = {c for text in texts for word in words_of(CUTS[kind](), text) for c in word}
    return {"byte-bpe": 257, "bpe": len(letters) + 2}.get(kind, 2 * len(letters | ALPHABET) + 5)


@LONG
@pytest.mark.parametrize("kind", ["bpe", "byte-bpe"])
@settings(max_examples=EXAMPLES, deadline=None)
@given(texts=SMALL.filter(spelled) | WILD.filter(spelled), more=st.integers(0, 60))
def test_byte_pairs_are_the_library_s(kind: str, texts: list[str], more: int) -> None:
    agree(kind, texts, least(kind, texts) + more)


@pytest.mark.parametrize(("kind", "extra"), some(MORE, *MORE[::3]))
def test_byte_pairs_are_the_library_s_in_five_scripts_and_on_stories(kind: str, extra: int, toys: list[str]) -> None:
    both = [side for pair in pairs(600, 3) for side in (pair.english, pair.french)]
    for texts in (FIVE, toys, FIVE + toys, both):
        agree(kind, texts, least(kind, texts) + extra)


@LONG
@pytest.mark.parametrize("kind", ["bpe", "byte-bpe"])
def test_two_thousand_tokens_of_the_microworld_are_the_library_s_and_still_split_words(kind: str) -> None:
    texts = [" ".join(story) for story in microworld.stories(6000 if ALL else 1500, 1)]
    assert len(agree(kind, texts, 2000)) == 2000
    learned = ex.tokenizer(kind, texts, size=2000)
    words = [sum(1 for _ in run) for text in texts[:200] for _, run in groupby(learned.encode(text, special=False).words)]
    assert 0.05 < np.mean(np.array(words) > 1) < 0.5


def numbered(texts: list[str], size: int) -> dict[str, int]:
    """The library's WordPiece trainer, with its letters numbered beforehand: alone it numbers them at random."""
    letters = sorted({c for word in count(texts) for c in word} | ALPHABET)
    start = [*SPECIALS["wordpiece"], *letters, *("##" + letter for letter in letters)]
    core = CUTS["wordpiece"]()
    core.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, special_tokens=start, show_progress=False))
    return core.get_vocab()


@settings(max_examples=EXAMPLES, deadline=None)
@given(texts=SMALL.filter(spelled) | WILD.filter(spelled), more=st.integers(0, 40))
def test_wordpiece_by_counts_is_the_library_s(texts: list[str], more: int) -> None:
    assume(count(texts))
    size = least("wordpiece", texts) + more
    assert ours("wordpiece", texts, size)["vocab"] == numbered(texts, size)


def count(texts: list[str]) -> Counter[str]:
    return Counter(word for text in texts for word in words_of(CUTS["wordpiece"](), text))


@LONG
def test_wordpiece_by_counts_on_stories_and_without_ties(toys: list[str]) -> None:
    for extra in (5, 300, 3000):
        size = least("wordpiece", toys) + extra
        assert ours("wordpiece", toys, size)["vocab"] == numbered(toys, size)
    clear = ["abcd " * 16, "abce " * 7, "fg " * 3, "hij " * 2, "hi " * 2]  # at every step one pair is the most frequent
    free = library.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    free.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    free.train_from_iterator(clear, trainers.WordPieceTrainer(vocab_size=10_000, show_progress=False))
    letters = {piece for piece in free.get_vocab() if len(piece.removeprefix("##")) == 1}
    joined = set(free.get_vocab()) - letters
    assert joined == {m.piece for m in ex.learn("wordpiece", clear, size=10_000)} and "abcd" in joined


def by_formula(words: Counter[str], steps: int) -> list[tuple[str, str]]:
    """The lecture's algorithm, written out: at every step everything is counted again."""
    cut = {word: [word[0], *("##" + c for c in word[1:])] for word in words}
    order = {name: n for n, name in enumerate(sorted({c for word in words for c in word} | ALPHABET))}
    order |= {"##" + name: n + len(order) for name, n in order.items()}
    done = []
    for _ in range(steps):
        single, double = Counter[str](), Counter[tuple[str, str]]()
        for word, parts in cut.items():
            for part in parts:
                single[part] += words[word]
            for pair in zip(parts, parts[1:], strict=False):
                double[pair] += words[word]
        if not double:
            break
        scores = np.array([n / (single[a] * single[b]) for (a, b), n in double.items()])
        highest = [pair for pair, score in zip(double, scores, strict=True) if score == scores.max()]
        best = min(highest, key=lambda pair: (order[pair[0]], order[pair[1]]))
        new = best[0] + best[1].removeprefix("##")
        order.setdefault(new, len(order))
        done.append(best)
        for parts in cut.values():
            place = 0
            while place < len(parts) - 1:
                if (parts[place], parts[place + 1]) == best:
                    parts[place : place + 2] = [new]
                place += 1
    return done


@settings(max_examples=EXAMPLES, deadline=None)
@given(texts=SMALL.filter(lambda t: bool(count(t))))
def test_wordpiece_by_score_is_the_lecture_s_formula(texts: list[str]) -> None:
    steps = list(ex.learn("wordpiece", texts, size=least("wordpiece", texts) + 30, by="score"))
    assert [step.pair for step in steps] == by_formula(count(texts), len(steps))
    assert len(by_formula(count(texts), len(steps) + 1)) == len(steps) or len(steps) >= 30


def test_wordpiece_by_score_on_stories(toys: list[str]) -> None:
    few = toys[:60]
    steps = list(ex.learn("wordpiece", few, size=least("wordpiece", few) + 60, by="score"))
    assert [step.pair for step in steps] == by_formula(count(few), 60)
    for step in steps:
        assert step.score == pytest.approx(step.count / (step.parts[0] * step.parts[1])) or step.pair[0] == step.pair[1]


@LONG
def test_a_merge_says_what_it_did(toys: list[str]) -> None:
    words = count(toys)
    total = sum(words.values())
    for kind, by in (("wordpiece", "count"), ("wordpiece", "score"), ("bpe", "count"), ("byte-bpe", "count")):
        steps = list(ex.learn(kind, toys, size=400, by=by, watch=["animal", "zebra"]))
        assert [step.step for step in steps] == list(range(1, len(steps) + 1))
        assert steps[-1].size == 400 and all(b.size - a.size in (0, 1) for a, b in zip(steps, steps[1:], strict=False))
        assert all(a.after == b.before for a, b in zip(steps, steps[1:], strict=False))
        assert [word.strip("·") for word in steps[0].words] == ["animal", "zebra"]
        joined = ["".join(piece.removeprefix("##") for piece in word).strip("·") for word in steps[-1].after]
        assert joined[0] == "animal" and joined[1] in ("zebra", "<unk>ebra")
        pieces = ex.tokenizer(kind, toys, size=400, by=by)
        if by == "count" and kind != "wordpiece":  # BPE cuts as it learned; longest match may cut otherwise
            flat = [len(pieces.core.model.tokenize(word)) for text in toys for word in words_of(pieces.core, text)]
            assert steps[-1].fertility == pytest.approx(sum(flat) / len(flat))
        if kind == "wordpiece":
            assert steps[0].fertility == pytest.approx((sum(n * len(w) for w, n in words.items()) - steps[0].count) / total)


@LONG
def test_where_there_is_much_to_do_the_library_does_the_same(toys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {kind: ours(kind, FIVE + toys, 700) for kind in ("wordpiece", "bpe", "byte-bpe")}
    monkeypatch.setattr(learning, "LIBRARY_SIZE", 1)
    monkeypatch.setattr(learning, "learner", None)  # ours cannot be used
    for kind, model in plain.items():
        assert ours(kind, FIVE + toys, 700) == model


WORD = st.text(alphabet="abcdé你#", min_size=1, max_size=14)


@LONG
@settings(max_examples=10 * EXAMPLES, deadline=None)
@given(word=WORD, pieces=st.sets(st.text(alphabet="abcdé你#", min_size=1, max_size=4), max_size=25), longest=st.integers(1, 14))
def test_longest_match_is_the_library_s(word: str, pieces: set[str], longest: int) -> None:
    vocabulary = {name: n for n, name in enumerate(["[UNK]", *sorted(pieces)])}
    vocabulary |= {"##" + name: len(vocabulary) + n for n, name in enumerate(sorted(pieces)[::2])}
    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=longest)
    steps = list(matches(word, vocabulary, longest=longest))
    assert [token.value for token in model.tokenize(word)] == list(steps[-1].pieces)
    assert all(step.found == (step.candidate in vocabulary) for step in steps if len(word) <= longest)


@LONG
@settings(max_examples=10 * EXAMPLES, deadline=None)
@given(word=WORD, pairs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=20))
def test_replay_is_the_library_s(word: str, pairs: list[tuple[int, int]]) -> None:
    names, merges = list("abcdé你#"), []
    for a, b in pairs:
        pair = (names[a % len(names)], names[b % len(names)])
        if pair not in merges:
            merges.append(pair)
            names += [] if "".join(pair) in names else ["".join(pair)]
    model = models.BPE({name: n for n, name in enumerate(names)}, merges)
    steps = list(replay(word, merges))
    assert [token.value for token in model.tokenize(word)] == list(steps[-1].pieces)
    assert all("".join(step.pieces) == word for step in steps)


@LONG
@settings(max_examples=EXAMPLES, deadline=None)
@given(text=st.text(max_size=60))
def test_words_and_steps_give_the_pieces_of_a_text(text: str) -> None:
    for kind in ("wordpiece", "bpe", "byte-bpe"):
        assume(not any(name in text for name in SPECIALS[kind]))
        learned = toy(kind)
        model = json.loads(learned.core.to_str())["model"]
        merges = [tuple(pair) for pair in model.get("merges", [])]
        pieces: list[str] = []
        for word in words_of(learned.core, text):
            start = [c if c in model["vocab"] else "<unk>" for c in word]
            steps = matches(word, model["vocab"]) if kind == "wordpiece" else replay(word, merges, letters=start)
            pieces += list(steps)[-1].pieces
        assert pieces == learned.core.encode(text, add_special_tokens=False).tokens


@cache
def toy(kind: str) -> Tokenizer:
    return ex.tokenizer(kind, [" ".join(story) for story in stories(300, 1)], size=500)


@pytest.mark.parametrize("kind", CUTS)
def test_transformers_opens_the_file_and_cuts_the_same(kind: str, tmp_path: Path) -> None:
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(toy(kind).save(tmp_path / "tokenizer.json")))
    again = tokenizers.tokenizer_in(tmp_path / "tokenizer.json")
    for text in [*FIVE, "", "  two  spaces\nand a line ", "The dog <mask> [MASK] <extra_id_3> </s> ran."]:
        assert theirs(text)["input_ids"] == toy(kind).encode(text).ids.tolist()
        assert again.encode(text).ids.tolist() == toy(kind).encode(text).ids.tolist()
    assert theirs("A dog.", "A cat.")["input_ids"] == toy(kind).encode("A dog.", "A cat.").ids.tolist()
    assert len(theirs) == toy(kind).vocabulary.size


@pytest.mark.parametrize("kind", CUTS)
def test_every_kind_knows_its_words_and_offsets(kind: str) -> None:
    learned, text = toy(kind), "Once there was a farmer called Ida."
    tokens = learned.encode(text, special=False)
    assert not any(tokens.unseen or (True,)) and not any(tokens.special)
    assert "".join(text[a:b] for a, b in tokens.offsets).replace(" ", "") == text.replace(" ", "")
    assert len(set(tokens.words)) == 8, "seven words and a full stop"
    assert learned.decode(tokens.ids).lower() == text.lower()
    by_ids = learned.tokens(tokens.ids.tolist())
    assert by_ids.texts == tokens.texts and by_ids.words == tokens.words
    assert any(learned.encode("A zebra ran.").unseen or ())
    assert not set("▁Ġ") & set("".join(tokens.texts))


def test_special_pieces_stand_where_each_system_wants_them() -> None:
    texts = [" ".join(story) for story in stories(100, 1)]
    assert toy("wordpiece").encode("dog", "cat").texts == ("[CLS]", "dog", "[SEP]", "cat", "[SEP]")
    assert toy("byte-bpe").encode("dog").special == (False,) * len(toy("byte-bpe").encode("dog"))
    t5 = toy("unigram")
    assert t5.encode("dog").texts[-1] == "</s>" and len(t5.vocabulary.sentinels) == 100
    first = t5.vocabulary.sentinels[0]
    assert t5.core.id_to_token(first) == "<extra_id_0>" and first == t5.vocabulary.size - 1
    hidden = t5.encode("The <extra_id_0> ran <extra_id_1>.")
    assert [w for w, s in zip(hidden.texts, hidden.special, strict=True) if s] == ["<extra_id_0>", "<extra_id_1>", "</s>"]
    bart = ex.tokenizer("byte-bpe", texts, size=400, specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    v = bart.vocabulary
    assert (v.cls, v.pad, v.sep, v.unknown, v.mask, v.size) == (0, 1, 2, 3, 4, 400)
    assert bart.encode("dog", "cat").ids[[0, -1]].tolist() == [0, 2] and bart.encode("a <mask> b").ids.tolist().count(4) == 1
    gpt = ex.tokenizer("bpe", texts, size=300, specials=("<|endoftext|>", "<unk>", "[START]", "[DELIM]", "[EXTRACT]"))
    row = gpt.encode("[START]the dog[DELIM]the cat[EXTRACT]")
    assert [t for t, s in zip(row.texts, row.special, strict=True) if s] == ["[START]", "[DELIM]", "[EXTRACT]"]
    source = ex.tokenizer("bpe", texts, size=300, specials=("<pad>", "</s>", "<unk>"))
    assert source.encode("dog").texts[-1] == "</s>" and source.vocabulary.pad == 0


def test_only_an_unknown_letter_is_unknown() -> None:
    learned = toy("wordpiece")
    v = learned.vocabulary
    assert v.unknown not in learned.encode("flibbertigibbet zzyzx").ids, "a rare word is cut into letters"
    assert learned.encode("dog😀dog cat", special=False).texts.count("[UNK]") == 1
    assert v.unknown in learned.encode("x" * 101).ids and v.unknown not in learned.encode("x" * 100).ids


def test_elmo_reads_letters() -> None:
    tokens = toy("characters").encode("Dog é")
    grid = tokens.characters
    assert grid is not None and grid.shape == (4, 50) and tokens.texts == ("<S>", "<UNK>", "<UNK>", "</S>")
    word = [259, *(b + 1 for b in b"Dog"), 260]  # the published numbering, with 0 kept free
    assert grid[1].tolist() == word + [261] * (50 - len(word))
    assert grid[0].tolist() == [259, 257, 260] + [261] * 47 and grid[3].tolist() == [259, 258, 260] + [261] * 47
    assert grid[2].tolist()[:4] == [259, 0xC3 + 1, 0xA9 + 1, 260]
    assert toy("characters").encode("x" * 80).characters[1].tolist() == [259] + [121] * 48 + [260]
    assert toy("words").encode("Dog").characters is None


def test_a_word_said_often_becomes_a_unigram_piece_though_no_other_word_is_like_it() -> None:
    texts = ["the dog took a big box", "the cat took a wig", "a dog took the cat"] * 50
    learned = ex.tokenizer("unigram", texts, size=160, specials=("<pad>", "</s>", "<unk>"))
    assert learned.core.encode("the dog took a box", add_special_tokens=False).tokens == ["▁the", "▁dog", "▁took", "▁a", "▁box"]
    assert all(piece.isprintable() for piece in learned.core.get_vocab()), "the mark that helps the trainer is gone"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ex.learn("words", ["a b"], size=300), "not learned by merges"),
        (lambda: ex.learn("wordpieces", ["a b"], size=300), "Did you mean 'wordpiece'"),
        (lambda: ex.learn("bpe", [" "], size=300), "no text"),
        (lambda: ex.tokenizer("bpe-bytes", ["a b"], size=400), "no tokenizer 'bpe-bytes'"),
        (lambda: ex.tokenizer("wordpiece", ["", "  "], size=400), "no text"),
        (lambda: ex.learn("bpe", ["ab"], size=3), "letters and special tokens alone need 5"),
        (lambda: ex.learn("bpe", ["ab"], size=30, by="luck"), "no way to choose"),
        (lambda: ex.tokenizer("words", ["a b"], size=4), "too small"),
        (lambda: ex.tokenizer("unigram", ["a b"], size=104), "too small"),
        (lambda: ex.tokenizer("bpe", ["a b"], size=90, specials=["<s>", "</s>"]), "no token for what is unknown"),
        (lambda: ex.tokenizer("bpe", ["a b"], size=90, specials=["<unk>", "<unk>"]), "twice"),
        (lambda: ex.tokenizer("bpe", ["a b"], size=90, specials="<unk>"), "must be a list, each a text"),
        (lambda: ex.tokenizer("bpe", ["a b"], size=90, sentinels=-1), "whole number"),
        (lambda: list(matches("two words", {"a": 0})), "not one word"),
    ],
)  # fmt: skip
def test_mistakes_are_met_with_a_word(call: Any, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        call()


@SAMPLED
@pytest.mark.parametrize("kind", CUTS)
def test_every_frequent_word_is_one_token_as_transformers_reads_the_file(kind: str, toys: list[str], tmp_path: Path) -> None:
    """Whatever the kind, and where the most frequent merges alone would not have brought it about."""
    often, size = 5, {"byte-bpe": 820, "unigram": 700}.get(kind, 700)
    learned = tokenizer(kind, toys, size=size, whole=often)
    core = PreTrainedTokenizerFast(tokenizer_file=str(learned.save(tmp_path / "tokenizer.json"))).backend_tokenizer
    words = word_counts(kind, toys)
    cut = {word for word in words if len(core.model.tokenize(word)) != 1}
    assert len([word for word in words if words[word] >= often]) > 100
    assert core.get_vocab_size() <= size and not [word for word in cut if words[word] >= often]
    assert set(cut_words(learned, words)) == cut | {word for word in words if core.model.tokenize(word)[0].value == "<unk>"}
    assert tokenizer(kind, toys, size=size, whole=often).core.to_str() == learned.core.to_str()


def test_a_vocabulary_that_is_too_small_for_the_frequent_words_is_refused(toys: list[str]) -> None:
    with pytest.raises(ex.ExplorerError, match=r"size=150 is too small: \d+ of the \d+ words that occur 5 times or more"):
        tokenizer("bpe", toys, size=150, whole=5)
    with pytest.raises(ex.ExplorerError, match="whole=-1"):
        tokenizer("bpe", toys, size=150, whole=-1)


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
    nobody_knows = Tokenizer(bert.tokenizer.core).encode("walrus")
    assert nobody_knows.unseen is None and np.isnan(nobody_knows.unseen_share)


def test_the_shipped_tokenizers_met_exactly_their_corpus(shipped: TransformerModel) -> None:
    for story in microworld.stories(200, 1):  # the first of the training stories
        assert not any(shipped.tokenizer.encode(" ".join(story)).unseen or (True,)), story


def test_sentences_are_counted_at_full_stops(bert: TransformerModel, gpt2: TransformerModel) -> None:
    def sentences(text: str, pair: str | None = None, tokenizer: Tokenizer = bert.tokenizer) -> str:
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
    lists = ({"é", "dog"}, {1, 5}), (set(), set()), ({"a b", "c"}, {0}), ({"", "\n", "\u3000"}, {7, 8, 9, 4000})
    for words, ids in lists:
        seen = Seen(frozenset(words), frozenset(ids))
        seen.save(tmp_path / "seen.json")
        assert Seen.read(tmp_path / "seen.json") == seen
        (tmp_path / "seen.json").write_text(json.dumps({"words": sorted(words), "pieces": sorted(ids)}), "utf-8")
        assert Seen.read(tmp_path / "seen.json") == seen, "as an earlier version wrote it"


def test_a_list_of_more_tokens_than_a_tokenizer_has_is_refused() -> None:
    with pytest.raises(ValueError, match="more tokens"):
        Seen.of(json.dumps({"words": "a", "pieces": "f" * (1 << 19)}))


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
