"""The n-gram model against the formulas of Chen and Goodman (1998), written out with dictionaries."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import sample

import explorer as ex
from explorer.models import ngram_files
from explorer.models.counts import SMOOTHINGS
from explorer.models.ngram import NGram, bits_per_character, perplexity, token_rows, train
from explorer.models.transformer import TransformerModel
from explorer.text.toy import toy_stories as stories

Gram = tuple[int, ...]
Rows = Sequence[Sequence[int] | np.ndarray]


class Slow:
    """P(w | h) by the recursion of the paper, one n-gram at a time."""

    def __init__(self, rows: Rows, size: int, order: int, begin: int, smoothing: str) -> None:
        self.size, self.order, self.begin, self.smoothing = size, order, begin, smoothing
        raw: list[Counter[Gram]] = [Counter() for _ in range(order + 1)]  # raw[n]: n-grams
        for row in rows:
            filled = [begin] * order + list(row)
            for at in range(order + 1, len(filled)):
                for n in range(1, order + 1):
                    raw[n][tuple(filled[at - n + 1 : at + 1])] += 1
        self.counts = raw
        self.fallbacks: list[bool] = []
        if smoothing != "witten-bell":
            self.counts = [Counter() for _ in range(order)] + [raw[order]]
            for n in range(1, order):
                left = defaultdict(set)
                for gram in raw[n + 1]:
                    left[gram[1:]].add(gram[0])
                self.counts[n] = Counter({gram: len(different) for gram, different in left.items()})
            self.discounts = [None, *(self.discounts_of(self.counts[n]) for n in range(1, order + 1))]
        self.after: dict[Gram, dict[int, int]] = defaultdict(dict)
        for n in range(1, order + 1):
            for gram, c in self.counts[n].items():
                self.after[gram[:-1]][gram[-1]] = c

    def discounts_of(self, counts: Counter[Gram]) -> Callable[[int], float]:
        n1, n2, n3, n4 = (sum(c == k for c in counts.values()) for k in (1, 2, 3, 4))
        if self.smoothing == "kneser-ney":
            self.fallbacks.append(not (n1 and n2))
            d = n1 / (n1 + 2 * n2) if n1 and n2 else 0.5
            return lambda c: d
        table = (0.5, 1.0, 1.5)
        if n1 and n2 and n3 and n4:
            y = n1 / (n1 + 2 * n2)
            estimated = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
            table = estimated if all(d > 0 for d in estimated) else table
        self.fallbacks.append(table == (0.5, 1.0, 1.5))
        return lambda c: table[0] if c == 1 else table[1] if c == 2 else table[2]

    def p(self, w: int, h: Gram) -> float:
        lower = self.p(w, h[1:]) if h else 1 / self.size
        follow = self.after.get(h)
        if not follow:
            return lower
        total, c = sum(follow.values()), follow.get(w, 0)
        if self.smoothing == "witten-bell":
            return (c + len(follow) * lower) / (total + len(follow))
        d = self.discounts[len(h) + 1]
        return ((c - d(c)) if c else 0) / total + sum(map(d, follow.values())) / total * lower

    def parts(self, w: int, h: Gram) -> list[float]:
        """p(w, h) as what 1 / size and the n-grams of every length add to it."""
        lower = self.parts(w, h[1:]) if h else [1 / self.size]
        follow = self.after.get(h)
        if not follow:
            return [*lower, 0.0]
        total, c = sum(follow.values()), follow.get(w, 0)
        if self.smoothing == "witten-bell":
            own, down = c / (total + len(follow)), len(follow) / (total + len(follow))
        else:
            d = self.discounts[len(h) + 1]
            own, down = ((c - d(c)) if c else 0) / total, sum(map(d, follow.values())) / total
        return [*(down * part for part in lower), own]

    def context(self, row: Sequence[int] | np.ndarray) -> Gram:
        return tuple(([self.begin] * self.order + list(row))[len(row) + 1 :])


def corpus(rng: np.random.Generator, size: int, rows: int) -> list[list[int]]:
    """Rows of every length, the empty one too, with frequent and rare tokens; the last ids never occur."""
    weights = np.r_[1 / np.arange(1, size - 1), 0, 0]
    lengths = rng.integers(0, 12, rows).tolist()
    return [[0, *rng.choice(size, n, p=weights / weights.sum()).tolist()] for n in lengths] + [[]]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_probability_is_the_paper_s(order: int, smoothing: str) -> None:
    for seed in sample(40, 6):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(4, 16))
        rows, fresh = corpus(rng, size, int(rng.integers(1, 60))), corpus(rng, size, 8)
        fresh[0] = [size - 1, size - 2, 1, 1, 1]  # begins like no other row, with tokens never met
        rows[0] += [1, 2]  # something to count in any case
        slow = Slow(rows, size, order, 0, smoothing)
        model = train(rows, order=order, smoothing=smoothing, size=size, begin=0)
        for row, logp in zip(fresh, model.logp(fresh), strict=True):
            expected = [math.log(slow.p(row[i], slow.context(row[:i]))) for i in range(1, len(row))]
            np.testing.assert_allclose(logp, expected, rtol=0, atol=1e-9)
        for context in ([], [0], [1, 1], [size - 1, 1], [0, 1, 2, 1], *(row[:5] for row in fresh)):
            expected = [slow.p(w, slow.context(context)) for w in range(size)]
            np.testing.assert_allclose(model.next(context), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_every_length_adds_is_the_paper_s_recursion(smoothing: str) -> None:
    rng = np.random.default_rng(3)
    rows = corpus(rng, 9, 40)
    slow, model = Slow(rows, 9, 3, 0, smoothing), train(rows, order=3, smoothing=smoothing, size=9, begin=0)
    for context in ([], [0], [1, 2], [8, 1], [1, 8], *(row[:4] for row in rows[:8])):
        h = slow.context(context)[-2:]
        np.testing.assert_allclose(model.parts(context).T, [slow.parts(w, h) for w in range(9)], rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.parts(context).sum(0), model.next(context), rtol=0, atol=1e-12)
        assert model.known(context) == max(n for n in range(3) if slow.after.get(h[2 - n :]))


def test_both_estimated_and_fixed_discounts_are_tried_above() -> None:
    for smoothing in ("kneser-ney", "modified-kneser-ney"):
        tried = set()
        for seed in sample(40, 6):
            rng = np.random.default_rng(seed)
            size = int(rng.integers(4, 16))
            rows = corpus(rng, size, int(rng.integers(1, 60)))
            tried |= set(Slow(rows, size, 4, 0, smoothing).fallbacks)
        assert tried == {True, False}, smoothing


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_after_any_context_the_probabilities_sum_to_one(smoothing: str) -> None:
    rng = np.random.default_rng(7)
    model = train(corpus(rng, 30, 200), order=4, smoothing=smoothing, size=30, begin=0)
    seen = [row[: int(rng.integers(0, 6))] for row in corpus(rng, 30, 100)]
    strange = [[29, 28, 29], [28], [0, 29, 1], *rng.integers(0, 30, (100, 3)).tolist()]
    for context in seen + strange:
        p = model.next(context)
        assert abs(p.sum() - 1) <= 1e-9 and (p > 0).all()
    np.testing.assert_array_equal(model.next([29]), model.next([29, 28, 29]), "a context never met leaves it to single tokens")


def test_ids_of_a_large_vocabulary_do_not_run_over() -> None:
    size = 300_000  # size⁴ is far beyond 64 bits
    rng = np.random.default_rng(3)
    rows = [[0, *(size - 1 - rng.integers(0, 6, 9)).tolist()] for _ in range(40)]
    slow, model = Slow(rows, size, 4, 0, "kneser-ney"), train(rows, size=size, begin=0)
    expected = [[math.log(slow.p(row[i], slow.context(row[:i]))) for i in range(1, len(row))] for row in rows]
    np.testing.assert_allclose(np.concatenate(model.logp(rows)), np.concatenate(expected), rtol=0, atol=1e-9)
    assert abs(model.next(rows[0][:5]).sum() - 1) <= 1e-9


@pytest.fixture(scope="module")
def split(gpt2: TransformerModel) -> tuple[Rows, Rows, list[str]]:
    """Rows to train on, rows held out, and the texts of those."""
    known, held_out = ([" ".join(story) for story in stories(count, seed)] for count, seed in ((2000, 1), (100, 2)))
    return token_rows(known, gpt2.tokenizer), token_rows(held_out, gpt2.tokenizer), held_out


@pytest.fixture(scope="module")
def four(gpt2: TransformerModel, split: tuple[Rows, Rows, list[str]]) -> NGram:
    return train(split[0], gpt2.tokenizer)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_a_longer_context_guesses_new_stories_better(
    smoothing: str, gpt2: TransformerModel, split: tuple[Rows, Rows, list[str]]
) -> None:
    perplexities = [train(split[0], gpt2.tokenizer, order=n, smoothing=smoothing).perplexity(split[1]) for n in (1, 2, 3, 4)]
    assert all(longer < shorter for shorter, longer in pairwise(perplexities)), perplexities
    assert perplexities[0] < gpt2.tokenizer.vocabulary.size, "even single tokens beat guessing blindly"


def test_perplexity_and_bits_are_means_of_the_same_logarithms(four: NGram, split: tuple[Rows, Rows, list[str]]) -> None:
    _, rows, texts = split
    total = sum(math.log(four.next(row[:i])[row[i]]) for row in rows[:5] for i in range(1, len(row)))
    pieces, characters = sum(len(row) - 1 for row in rows[:5]), sum(len(text) for text in texts[:5])
    assert four.perplexity(rows[:5]) == pytest.approx(math.exp(-total / pieces), rel=1e-9)
    assert four.bits_per_character(rows[:5], texts[:5]) == pytest.approx(-total / math.log(2) / characters, rel=1e-9)


def test_guessing_blindly_is_as_perplexed_as_there_are_pieces() -> None:
    blind = [np.full(n, -math.log(64)) for n in (3, 1, 0, 5)]
    assert perplexity(blind) == pytest.approx(64)
    assert bits_per_character(blind, ["abc", "d", "", "efghi"]) == pytest.approx(6), "log₂ 64, one token a character"


def test_its_rows_are_about_the_same_pieces_as_a_neural_model_s(four: NGram, gpt2: TransformerModel) -> None:
    for text in ("The dog crossed the road.", [0, 17, 300, 5], gpt2.tokenizer.encode("Anna was glad.")):
        own, neural, ids = four.logits(text), gpt2.logits(text), gpt2.tokens(text).ids.tolist()
        assert own.shape == neural.shape and four.outputs(text)["lm"].shape == own.shape
        np.testing.assert_allclose(np.exp(own).sum(axis=1), 1, rtol=0, atol=1e-9)
        np.testing.assert_allclose(own[np.arange(len(ids) - 1), ids[1:]], four.logp([ids])[0], rtol=0, atol=1e-12)
        for i in range(len(ids)):
            np.testing.assert_allclose(own[i], np.log(four.next(ids[: i + 1])), rtol=0, atol=1e-12)
    assert (four.name, four.family, four.order, four.tokenizer) == ("ngram", "ngram", 4, gpt2.tokenizer)


def test_the_tokenizer_says_size_and_begin(four: NGram, gpt2: TransformerModel, bert: TransformerModel) -> None:
    assert (four.size, four.begin) == (gpt2.tokenizer.vocabulary.size, gpt2.tokenizer.vocabulary.begin)
    rows = [bert.tokenizer.encode("the dog ran").ids.tolist()]
    assert train(rows, bert.tokenizer).begin == bert.tokenizer.vocabulary.cls
    assert train(rows, bert.tokenizer, size=5000).next(rows[0]).shape == (5000,)


def test_a_row_goes_from_begin_to_end(gpt2: TransformerModel, bert: TransformerModel) -> None:
    text = "The dog didn't cross."
    for model, begin, end in ((gpt2, "<|endoftext|>", "<|endoftext|>"), (bert, "[CLS]", "[SEP]")):
        row = token_rows([text, "It slept."], model.tokenizer)[0].tolist()
        inner = model.tokenizer.core.encode(text, add_special_tokens=False).ids
        assert row == [model.tokenizer.core.token_to_id(begin), *inner, model.tokenizer.core.token_to_id(end)]
    assert token_rows([text], bert.tokenizer)[0].tolist() == bert.tokenizer.encode(text).ids.tolist()
    assert token_rows([], bert.tokenizer) == []


def test_counting_depends_neither_on_the_order_of_rows_nor_on_how_they_are_given(
    split: tuple[Rows, Rows, list[str]], gpt2: TransformerModel
) -> None:
    rows, size = split[0][:200], gpt2.tokenizer.vocabulary.size
    counted = train(rows, size=size, begin=0)
    for other in (rows[::-1], (np.array(row, dtype=np.uint16) for row in rows), tuple(map(tuple, rows))):
        model = train(other, size=size, begin=0)  # type: ignore[arg-type]
        for a, b in zip(counted.logp(split[1]), model.logp(split[1]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert counted.logp([]) == [] and [len(logp) for logp in counted.logp([[], [0], [0, 5], []])] == [0, 0, 1, 0]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_is_written_is_read_back(
    smoothing: str, gpt2: TransformerModel, split: tuple[Rows, Rows, list[str]], tmp_path: Path
) -> None:
    for tokenizer in (gpt2.tokenizer, None):
        model = train(split[0], tokenizer, smoothing=smoothing, size=gpt2.tokenizer.vocabulary.size, begin=0, order=3)
        again = ngram_files.read_ngram(ngram_files.write(model, tmp_path / "model", card="# A card\n"), "mine")
        assert (again.name, again.smoothing, again.order, again.begin) == ("mine", smoothing, 3, 0)
        assert (again.tokenizer is None) == (tokenizer is None)
        assert again.perplexity(split[1]) == model.perplexity(split[1])
    assert not (tmp_path / "model" / "tokenizer.json").exists(), "what an earlier model left behind is gone"
    assert not list((tmp_path / "model").glob("*.part"))
    with pytest.raises(ex.ExplorerError, match="without a tokenizer"):
        again.logits("The dog")


def test_a_reader_meets_no_changed_file(four: NGram, tmp_path: Path) -> None:
    folder = ngram_files.write(four, tmp_path)
    twice = {name: (folder / name).read_bytes() for name in ("counts.npz", "config.json", "tokenizer.json", "seen.json")}
    ngram_files.write(four, tmp_path)
    assert all((folder / name).read_bytes() == content for name, content in twice.items()), "the same model is the same bytes"
    for name, content in twice.items():
        (folder / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(ex.ExplorerError, match=name):
            ngram_files.read_ngram(folder)
        (folder / name).unlink()
        with pytest.raises(ex.ExplorerError, match=r"missing|no n-gram model"):
            ngram_files.read_ngram(folder)
        (folder / name).write_bytes(content)
    config = json.loads(twice["config.json"])
    for wrong in (
        {"smoothing": "magic"},
        {"preset": "gpt2"},
        {"begin": 10**6},
        {"sha256": {}},
        {"sha256": config["sha256"] | {"../x": "0"}},
    ):
        (folder / "config.json").write_text(json.dumps(config | wrong), "utf-8")
        with pytest.raises(ex.ExplorerError, match="does not describe"):
            ngram_files.read_ngram(folder)
    with pytest.raises(ex.ExplorerError, match="Choose a folder"):
        ngram_files.write(four, folder / "counts.npz")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"order": 0}, "order=0 must be 1, 2, 3 or 4"),
        ({"order": 5}, "order=5"),
        ({"order": True}, "order=True"),
        ({"smoothing": "kneser"}, "Did you mean 'kneser-ney'"),
        ({"size": None}, "how many ids"),
        ({"size": 0}, "how many ids"),
        ({"size": 8.5}, "how many ids"),
        ({"begin": None}, "which token begins"),
        ({"begin": 9}, "no token 9"),
        ({"rows": [[0, 9]]}, "no token 9"),
        ({"rows": [[0, -1]]}, "no token -1"),
        ({"rows": [[0], []]}, "nothing to count"),
        ({"rows": []}, "nothing to count"),
        ({"rows": [[0, 1.5]]}, "whole numbers"),
        ({"rows": [0, 1]}, "must be a list of ids"),
        ({"rows": "0 1"}, "list of rows"),
        ({"rows": ["the dog"]}, "must be a list of ids"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_words(given: dict[str, object], says: str) -> None:
    with pytest.raises(ex.ExplorerError, match=says):
        train(**{"rows": [[0, 1, 2]], "size": 9, "begin": 0} | given)  # type: ignore[arg-type]


def test_what_cannot_be_scored_is_refused_in_words(four: NGram) -> None:
    for call, says in (
        (lambda: four.perplexity([[0], []]), "nothing was predicted"),
        (lambda: four.bits_per_character([[0, 1]], ["a", "b"]), "1 rows"),
        (lambda: four.bits_per_character([[0, 1]], [""]), "no characters"),
        (lambda: four.next([four.size]), f"no token {four.size}"),
        (lambda: four.next([0.5]), "whole numbers"),  # type: ignore[list-item]
        (lambda: four.logits(""), "empty"),
        (lambda: train([[0, 1]], four.tokenizer, size=10), "at least as many"),
        (lambda: token_rows("The dog", four.tokenizer), "into a list"),
        (lambda: token_rows([7], four.tokenizer), "must be a string"),
        (lambda: ngram_files.write("model", "folder"), "takes an n-gram model"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ex.ExplorerError, match=says):
            call()


def test_it_needs_no_torch() -> None:
    code = "import sys, explorer.models.ngram_files; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
