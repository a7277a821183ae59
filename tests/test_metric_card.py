"""BLEU and ROUGE against sacrebleu and rouge-score 0.1.2, and the page of lesson 12 that shows them."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from opening import opened

import explorer as ex
from explorer.app.lessons.decoding import metric_questions as lesson
from explorer.app.lessons.decoding.metric_card import of_labels
from explorer.decoding.scoring import corpus_bleu
from explorer.errors import ExplorerError
from explorer.views import VIEWS

PROVED = (  # text, reference, and what sacrebleu.sentence_bleu (÷ 100) and rouge_scorer (no stemmer) give for them
    (lesson.WRITTEN, lesson.REFERENCE, 0.585905937,
     ((0.8666666667, 0.9285714286, 0.8965517241), (0.7857142857, 0.8461538462, 0.8148148148), (0.8666666667, 0.9285714286, 0.8965517241))),
    ("the cat sat on the mat", "the cat is on the mat", 0.3799178428,
     ((0.8333333333, 0.8333333333, 0.8333333333), (0.6, 0.6, 0.6), (0.8333333333, 0.8333333333, 0.8333333333))),
    ("the the the the the the the", "the cat is on the mat", 0.0780984984,
     ((0.2857142857, 0.3333333333, 0.3076923077), (0.0, 0.0, 0.0), (0.2857142857, 0.3333333333, 0.3076923077))),
    ("It cost 3.5 (or 1,000) dollars &amp; more, x-ray 5-6.", "It cost 3.5 or 1,000 dollars and more; x-ray 5 - 6.", 0.3521856536,
     ((0.9285714286, 0.9285714286, 0.9285714286), (0.8461538462, 0.8461538462, 0.8461538462), (0.9285714286, 0.9285714286, 0.9285714286))),
    ("A dog", "A dog ran home to Anna.", 0.0820849986, ((1.0, 0.3333333333, 0.5), (1.0, 0.2, 0.3333333333), (1.0, 0.3333333333, 0.5))),
    ("nothing here", "A dog ran home.", 0.0, ((0.0, 0.0, 0.0),) * 3),
)  # fmt: skip


@pytest.mark.parametrize(("text", "reference", "bleu", "rouge"), PROVED)
def test_bleu_is_sacrebleu_s_and_rouge_is_rouge_score_s(text: str, reference: str, bleu: float, rouge: object) -> None:
    scored = ex.decoding.score_texts(text, reference)
    assert scored.bleu == pytest.approx(bleu, abs=1e-9)
    assert scored.bleu == pytest.approx(sacrebleu.sentence_bleu(text, [reference]).score / 100, abs=1e-9)
    np.testing.assert_allclose(scored.rouge, rouge, atol=1e-9)


def test_bleu_of_many_texts_is_sacrebleu_s_in_the_lesson_and_in_every_measure() -> None:
    texts, references = zip(*((text, reference) for text, reference, *_ in PROVED), strict=True)
    expected = sacrebleu.corpus_bleu(texts, [references]).score
    assert ex.decoding.score_texts(texts, references).bleu == pytest.approx(expected / 100, abs=1e-9)
    assert corpus_bleu(texts, references) == pytest.approx(expected, abs=1e-7)
    assert abs(expected / 100 - np.mean([bleu for *_, bleu, _ in PROVED])) > 0.01, "it is no mean of the texts"
    stories = [" ".join(story) for story in ex.microworld.texts(200, seed=3)]
    shuffled = [" ".join(words[: n % 7] + words[n % 7 + 1 :]) for n, words in enumerate(map(str.split, stories))]
    assert corpus_bleu(shuffled, stories) == pytest.approx(sacrebleu.corpus_bleu(shuffled, [stories]).score, abs=1e-7)


def test_the_bars_are_the_numbers_of_the_record() -> None:
    scored = ex.decoding.score_texts(lesson.WRITTEN, lesson.REFERENCE)
    drawn = {int(y): float(x) for bar in VIEWS["text-scores"](scored).data for x, y in zip(bar.x, bar.y, strict=True)}
    assert [drawn[n] for n in range(9)] == [*scored.precisions, scored.brevity, scored.bleu, *scored.rouge[:, 2]]


def test_the_most_frequent_label_has_a_high_accuracy_and_no_correlation() -> None:
    rows = of_labels(lesson.SAID.split(), lesson.GOLD.split())
    assert (
        rows["accuracy"] == "0.800" and rows["Matthews correlation"] == "0.000" and rows["Spearman correlation"].startswith("–")
    )
    assert of_labels(["1", "2", "3"], ["10", "20", "40"])["Spearman correlation"] == "1.000"


@pytest.mark.parametrize("given", [("", ""), ("a", ["a", "b"]), ([], [])])
def test_what_cannot_be_scored_is_said_in_one_line(given: tuple[object, object]) -> None:
    if given == ("", ""):
        assert ex.decoding.score_texts("", "").bleu == 0
        return
    with pytest.raises(ExplorerError, match="one reference for each"):
        ex.decoding.score_texts(*given)


def test_the_page_scores_what_is_written_there() -> None:
    at = opened("decoding", part="metrics")
    assert not at.exception and "BLEU" in " ".join(block.value for block in at.markdown)
    at.text_input(key="gold").set_value("no yes").run()
    assert any("10 predicted and 2 gold" in box.value for box in (*at.warning, *at.error, *at.info))


@pytest.mark.usefixtures("unfolded")
def test_any_decoder_writes_and_searches_with_both_penalties() -> None:
    at = opened("decoding", part="beams", writer="llama", rule="((5 + n) / 6)ᵅ", repetition="1.5", pieces="4")
    code = " ".join(block.value for block in at.code)
    assert not at.exception and "'gnmt'" in code and "repetition_penalty=1.5" in code and "'llama'" in code
