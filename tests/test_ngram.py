"""The n-gram model against the formulas of Chen and Goodman (1998), written out with dictionaries."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG, SAMPLED, sample

import explorer as ex
from explorer.models import ngram_files
from explorer.models.counts import SMOOTHINGS
from explorer.models.ngram import NGram, perplexity, token_rows, train
from explorer.models.transformer import TransformerModel
from explorer.text.toy import toy_stories as stories

Gram = tuple[int, ...]
Rows = Sequence[Sequence[int] | np.ndarray]
Split = tuple[Rows, Rows, list[str]]


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
            for n in range(1, order):
                self.counts[n] = Counter(gram[1:] for gram in raw[n + 1])  # how many different tokens came before
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
        return sum(self.parts(w, h))

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


@SAMPLED
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_probability_is_the_paper_s(order: int, smoothing: str) -> None:
    fallbacks = set()
    for seed in sample(40, 6):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(4, 16))
        rows, fresh = corpus(rng, size, int(rng.integers(1, 60))), corpus(rng, size, 8)
        fresh[0] = [size - 1, size - 2, 1, 1, 1]  # begins like no other row, with tokens never met
        rows[0] += [1, 2]  # something to count in any case
        slow = Slow(rows, size, order, 0, smoothing)
        fallbacks |= set(slow.fallbacks)
        model = train(rows, order=order, smoothing=smoothing, size=size, begin=0)
        for row, logp in zip(fresh, model.logp(fresh), strict=True):
            expected = [math.log(slow.p(row[i], slow.context(row[:i]))) for i in range(1, len(row))]
            np.testing.assert_allclose(logp, expected, rtol=0, atol=1e-9)
        for context in ([], [0], [1, 1], [size - 1, 1], [0, 1, 2, 1], *(row[:5] for row in fresh)):
            h = slow.context(context)
            parts = np.array([slow.parts(w, h) for w in range(size)])
            np.testing.assert_allclose(model.parts(context).T, parts, rtol=0, atol=1e-12)
            np.testing.assert_allclose(model.next(context), parts.sum(1), rtol=0, atol=1e-9)
            assert abs(model.next(context).sum() - 1) <= 1e-9
            assert model.known(context) == max(n for n in range(order) if slow.after.get(h[order - 1 - n :]))
    assert order < 4 or smoothing == "witten-bell" or fallbacks == {True, False}, "estimated and fixed discounts are tried"


def test_ids_of_a_large_vocabulary_do_not_run_over() -> None:
    size = 300_000  # size⁴ is far beyond 64 bits
    rng = np.random.default_rng(3)
    rows = [[0, *(size - 1 - rng.integers(0, 6, 9)).tolist()] for _ in range(40)]
    slow, model = Slow(rows, size, 4, 0, "kneser-ney"), train(rows, size=size, begin=0)
    expected = [[math.log(slow.p(row[i], slow.context(row[:i]))) for i in range(1, len(row))] for row in rows]
    np.testing.assert_allclose(np.concatenate(model.logp(rows)), np.concatenate(expected), rtol=0, atol=1e-9)
    assert abs(model.next(rows[0][:5]).sum() - 1) <= 1e-9


@pytest.fixture(scope="module")
def split(gpt2: TransformerModel) -> Split:
    """Rows to train on, rows held out, and the texts of those."""
    known, held_out = ([" ".join(story) for story in stories(count, seed)] for count, seed in ((2000, 1), (100, 2)))
    return token_rows(known, gpt2.tokenizer), token_rows(held_out, gpt2.tokenizer), held_out


@pytest.fixture(scope="module")
def four(gpt2: TransformerModel, split: Split) -> NGram:
    return train(split[0], gpt2.tokenizer)


@LONG
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_a_longer_context_guesses_new_stories_better(smoothing: str, gpt2: TransformerModel, split: Split) -> None:
    perplexities = [train(split[0], gpt2.tokenizer, order=n, smoothing=smoothing).perplexity(split[1]) for n in (1, 2, 3, 4)]
    assert perplexities == sorted(set(perplexities), reverse=True)
    assert perplexities[0] < gpt2.tokenizer.vocabulary.size, "even single tokens beat guessing blindly"


def test_perplexity_is_of_the_mean_logarithm(four: NGram, split: Split) -> None:
    _, rows, _ = split
    total = sum(math.log(four.next(row[:i])[row[i]]) for row in rows[:5] for i in range(1, len(row)))
    pieces = sum(len(row) - 1 for row in rows[:5])
    assert four.perplexity(rows[:5]) == pytest.approx(math.exp(-total / pieces), rel=1e-9)


def test_guessing_blindly_is_as_perplexed_as_there_are_pieces() -> None:
    blind = [np.full(n, -math.log(64)) for n in (3, 1, 0, 5)]
    assert perplexity(blind) == pytest.approx(64)


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


def test_counting_depends_neither_on_the_order_of_rows_nor_on_how_they_are_given(split: Split, gpt2: TransformerModel) -> None:
    rows, size = split[0][:200], gpt2.tokenizer.vocabulary.size
    counted = train(rows, size=size, begin=0)
    for other in (rows[::-1], (np.array(row, dtype=np.uint16) for row in rows), tuple(map(tuple, rows))):
        model = train(other, size=size, begin=0)  # type: ignore[arg-type]
        for a, b in zip(counted.logp(split[1]), model.logp(split[1]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert counted.logp([]) == [] and [len(logp) for logp in counted.logp([[], [0], [0, 5], []])] == [0, 0, 1, 0]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_is_written_is_read_back(smoothing: str, gpt2: TransformerModel, split: Split, tmp_path: Path) -> None:
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
    hashes = config["sha256"] | {"../x": "0"}
    for wrong in ({"smoothing": "magic"}, {"preset": "gpt2"}, {"begin": 10**6}, {"sha256": {}}, {"sha256": hashes}):
        (folder / "config.json").write_text(json.dumps(config | wrong), "utf-8")
        with pytest.raises(ex.ExplorerError, match="does not describe"):
            ngram_files.read_ngram(folder)
    with pytest.raises(ex.ExplorerError, match="Choose a folder"):
        ngram_files.write(four, folder / "counts.npz")


REFUSED: dict[str, list[dict[str, object]]] = {  # what a message begins with, and what is refused with it
    "must be 1, 2, 3 or 4": [{"order": 0}, {"order": 5}, {"order": True}],
    "Did you mean 'kneser-ney'": [{"smoothing": "kneser"}],
    "how many ids": [{"size": None}, {"size": 0}, {"size": 8.5}],
    "which token begins": [{"begin": None}],
    "no token 9": [{"begin": 9}, {"rows": [[0, 9]]}],
    "no token -1": [{"rows": [[0, -1]]}],
    "nothing to count": [{"rows": [[0], []]}, {"rows": []}],
    "whole numbers": [{"rows": [[0, 1.5]]}],
    "must be a list of ids": [{"rows": [0, 1]}, {"rows": ["the dog"]}],
    "list of rows": [{"rows": "0 1"}],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_counted_is_refused_in_words(message: str) -> None:
    for given in REFUSED[message]:
        with pytest.raises(ex.ExplorerError, match=message):
            train(**{"rows": [[0, 1, 2]], "size": 9, "begin": 0} | given)  # type: ignore[arg-type]


def test_what_cannot_be_scored_is_refused_in_words(four: NGram) -> None:
    for call, says in (
        (lambda: four.perplexity([[0], []]), "nothing was predicted"),
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
