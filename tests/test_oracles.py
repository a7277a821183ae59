"""Our metrics against those of scikit-learn, seqeval and SciPy, on random answers."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.training.finetune.metrics import METRICS, accuracy, interval, macro_f1, span_f1, spearman

TAGS = ("O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG")


def answers(seed: int, names: tuple[str, ...], count: int = 60) -> tuple[list[str], list[str]]:
    """Gold answers, and answers of which about two in three are right."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(names, count)
    chosen = np.where(rng.random(count) < 0.65, gold, rng.choice(names, count))
    return chosen.tolist(), gold.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_spans_score_as_seqeval_scores_them(seed: int) -> None:
    from seqeval.metrics import classification_report, f1_score

    predicted, gold = answers(seed, TAGS)
    assert span_f1(predicted, gold) == pytest.approx(f1_score([gold], [predicted]))
    report = classification_report([gold], [predicted], output_dict=True, zero_division=0)
    for name in (name for name in report if "avg" not in name):
        own, right = ([tag if tag.endswith(f"-{name}") else "O" for tag in tags] for tags in (predicted, gold))
        assert span_f1(own, right) == pytest.approx(report[name]["f1-score"])


@pytest.mark.parametrize("seed", range(10))
def test_classes_score_as_scikit_learn_scores_them(seed: int) -> None:
    from sklearn import metrics as theirs

    predicted, gold = answers(seed, ("glad", "sad", "neither", "rare"), 12 + seed)
    predicted[0] = "never right"
    assert accuracy(predicted, gold) == pytest.approx(theirs.accuracy_score(gold, predicted))
    assert macro_f1(predicted, gold) == pytest.approx(theirs.f1_score(gold, predicted, average="macro", zero_division=0))
    assert METRICS["macro F1"] is macro_f1


@pytest.mark.parametrize("seed", range(10))
def test_rank_correlation_with_ties_is_scipy_s(seed: int) -> None:
    from scipy import stats

    rng = np.random.default_rng(seed)
    first, other = rng.integers(0, 6, 40), rng.normal(size=40).round(1)
    assert spearman(first, other) == pytest.approx(stats.spearmanr(first, other).statistic)


@pytest.mark.parametrize("count", range(2, 17))
def test_intervals_are_student_s(count: int) -> None:
    from scipy import stats

    values = np.random.default_rng(count).normal(size=count)
    low, high = stats.t.interval(0.95, count - 1, loc=values.mean(), scale=stats.sem(values))
    bounds = interval(values)
    assert bounds.mean == pytest.approx(values.mean())
    apart = bounds.high - bounds.mean, bounds.mean - bounds.low
    assert apart == pytest.approx((high - values.mean(), values.mean() - low), rel=5e-4)
