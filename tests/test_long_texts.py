"""Held-out texts that are longer than a model reads: every measure sees all of them, and says on how much it measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ALL, LONG

import explorer as ex
from explorer.analysis.evaluation.windows import MOST, cut
from explorer.models.model import TrainableModel
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories
from explorer.training.checking import measure
from explorer.training.corpora import corpus_of
from explorer.training.progress import measured

SENTENCES = [sentence for story in toy_stories(400, 4) for sentence in story]
CHAPTERS = [" ".join(SENTENCES[n : n + 60]) for n in range(0, 600, 60)]
SMALL: dict[str, Any] = {"dim": 32, "length": 48, "steps": 2, "batch": 4, "checks": 1, "snapshots": 0, "device": "cpu"}
ASKED = {"bert": "mlm+nsp", "gpt2": "causal", "t5": "span-to-text", "elmo": "bilm"}


def trained(name: str, corpus: Any) -> Any:
    """A run of a small model over a corpus."""
    options = {} if name == "elmo" else {"pieces": 400, "heads": 2, "layers": 1}
    return ex.fit(name, corpus=corpus, **{**SMALL, **options})


def held_windows(model: TrainableModel, text: str) -> list[str]:
    return cut(text, model.tokenizer, model.longest)


@LONG
@pytest.mark.parametrize("name", ASKED)
def test_a_chapter_is_measured_whole(name: str) -> None:
    run = trained(name, CHAPTERS)
    *_, step = run
    chapter = CHAPTERS[-1]  # the last 2% of ten: one
    assert step.metrics["held-out loss"] > 0 and step.counts["texts"] == 1
    windows = held_windows(run.model, chapter)
    assert " ".join(windows) == chapter and len(windows) == step.counts["windows"] > 3
    lengths = [len(run.model.tokenizer.encode(window, special=False)) for window in windows]
    assert all(len(run.model.tokens(window)) <= run.model.longest for window in windows)
    expected = {
        "bert": sum(max(1, round(0.15 * length)) for length in lengths),
        "gpt2": sum(lengths) + len(windows),  # and the end of each window
        "elmo": 2 * (sum(lengths) + len(windows)),  # in both directions, and one border
    }
    assert step.counts["predictions"] == expected.get(name, step.counts["predictions"]) > 0
    assert f"(1 text in {len(windows)} windows, {step.counts['predictions']:,} predictions)" in measured(step)


@LONG
@pytest.mark.parametrize("name", ASKED)
def test_a_window_counts_as_a_text_of_its_own(name: str) -> None:
    """What is found on a chapter is what is found on its windows as separate texts; short texts are left as they are."""
    model = trained(name, CHAPTERS).model
    windows = held_windows(model, CHAPTERS[0])
    whole, parts = (measure(model, ASKED[name], texts) for texts in ([CHAPTERS[0]], windows))
    assert whole.metrics == parts.metrics and whole.samples == parts.samples
    assert parts.counts["texts"] == parts.counts["windows"] == len(windows)


def test_windows_end_between_sentences_then_words_then_letters() -> None:
    tokenizer: Tokenizer = ex.load("bert", device="cpu").tokenizer
    story = ["The dog ran home.", "It was hungry."]
    assert cut(story, tokenizer, 128) == [story] and cut(story, tokenizer, 8) == [story[:1], story[1:]]
    long = "dog " * 40
    windows = cut(long, tokenizer, 10)
    assert " ".join(windows) == long.strip() and [len(tokenizer.encode(window)) for window in windows] == [10] * 5
    letters = cut("x" * 300, tokenizer, 10)
    assert "".join(letters).replace(" ", "") == "x" * 300 and all(len(tokenizer.encode(window)) <= 10 for window in letters)


@LONG
def test_a_run_looks_at_some_windows_of_each_chapter_and_a_card_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    most, times = (MOST, 12) if ALL else (MOST // 4, 3)
    monkeypatch.setattr("explorer.analysis.evaluation.windows.MOST", most)
    run = trained("gpt2", CHAPTERS)
    book = [" ".join(CHAPTERS)] * times
    every = times * len(held_windows(run.model, book[0]))
    assert every > most
    some, whole = (measure(run.model, "causal", book, thorough=thorough) for thorough in (False, True))
    assert (some.counts["windows"], whole.counts["windows"]) == (most, every)
    assert some.metrics["perplexity"] == pytest.approx(whole.metrics["perplexity"], rel=0.05)


def test_a_single_text_holds_out_its_end(tmp_path: Path) -> None:
    (tmp_path / "verses.txt").write_text("\n".join(SENTENCES[:500]), "utf-8")
    run = trained("gpt2", tmp_path / "verses.txt")
    assert run.plan.corpus["held"] == 1
    *_, step = run
    assert step.metrics["held-out loss"] > 0 and step.counts["texts"] == 1
    corpus = corpus_of(tmp_path / "verses.txt")
    held_out = corpus.held(9, "validation").texts
    assert [*" ".join(corpus.texts).split(), *" ".join(held_out).split()] == " ".join(SENTENCES[:500]).split()
    assert len(held_out[0].splitlines()) == 10
    assert list(corpus_of([["One.", "Two.", "Three."]]).texts) == [["One.", "Two."]]
    words = corpus_of(["word " * 200])
    assert [len(text.split()) for text in (*words.texts, *words.held(9, "test").texts)] == [196, 4]
    assert not corpus_of(["only one"]).held(9, "test").texts, "two words are not divided"


def test_an_n_gram_reads_texts_of_any_length() -> None:
    *_, step = ex.fit("ngram", corpus=CHAPTERS, pieces=300, portions=2)
    tokens = len(ex.fit("ngram", corpus=CHAPTERS, pieces=300, portions=2).model.tokenizer.encode(CHAPTERS[-1], special=False))
    assert step.counts == {"texts": 1, "windows": 1, "predictions": tokens + 1}
    assert np.isfinite(step.metrics["perplexity"])
