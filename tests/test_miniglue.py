"""The study of models and tasks: the table, its intervals, what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import explorer as ex
from explorer import cli
from explorer.errors import ChoiceError
from explorer.models import results
from explorer.records import LabelCurves, TaskTable
from explorer.training.finetune.metrics import CORRELATION, interval
from studies import miniglue
from studies.study import intervals

RESULTS = Path(__file__).parent.parent / "docs" / "results.md"


def table(scores: np.ndarray) -> TaskTable:
    systems = ("BERT", "BERT, from scratch")[: len(scores)]
    tasks = tuple(f"task {n}" for n in range(scores.shape[1]))
    seconds, blind = np.ones_like(scores), np.full(len(tasks), 0.5)
    return TaskTable(
        systems, tasks, ("accuracy",) * len(tasks), scores, intervals(scores, CORRELATION), seconds, blind, "a note"
    )


def test_intervals_and_what_lies_apart() -> None:
    glue = table(np.array([[[0.9, 0.91, 0.92], [0.5, 0.7, 0.9]], [[0.6, 0.61, 0.62], [0.4, 0.6, 0.8]]]))
    np.testing.assert_allclose(glue.intervals[1, 0], interval([0.6, 0.61, 0.62]))
    assert miniglue.above(glue, "BERT", "BERT, from scratch") == ("task 0",)
    assert glue.average.tolist() == pytest.approx([(0.91 + 0.7) / 2, (0.61 + 0.6) / 2])
    text, card = glue.as_text(), miniglue.STUDIES["miniglue"].card_of(glue)
    assert "0.910 ± 0.025" in text and "0.500" in text and "12 s in all" in text
    assert "- BERT above from scratch: task 0." in card and "BERT > BERT, from scratch" in card
    assert glue.as_plain()["scores"]["BERT"]["task 1"] == [0.5, 0.7, 0.9]


def test_a_name_that_is_none_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(ChoiceError, match="Did you mean 'BERT'"):
        miniglue.again(1, 12, 2, ("BART",), ())


def test_the_record_has_five_seeds_and_says_where_pre_training_helps() -> None:
    kept = results.recorded("miniglue", TaskTable)
    np.testing.assert_allclose(kept.intervals, intervals(kept.scores, CORRELATION), equal_nan=True)
    assert np.isfinite(kept.scores).all() and kept.tasks == tuple(miniglue.COLUMNS) and kept.scores.shape[2] == 5
    assert {"word vectors", "ELMo + biLSTM, from scratch", "GPT, from scratch", "BERT, from scratch"} <= set(kept.systems)
    for name, least in (("word vectors", 4), ("BERT", 3), ("GPT", 1)):
        clear = miniglue.above(kept, name, f"{name}, from scratch")
        assert len(clear) >= least and f"- {name} above from scratch: {', '.join(clear)}." in results.result_card("miniglue")
    heads = kept.as_text().splitlines()[0].split("  ")
    assert [head.strip() for head in heads if head.strip()] == [*kept.tasks, "mean", "seconds"], "names of tasks do not touch"


def test_the_command_prints_what_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    cli.miniglue(recorded=True)
    assert capsys.readouterr().out.rstrip() == results.recorded("miniglue", TaskTable).as_text()
    cli.labels(recorded=True)
    assert capsys.readouterr().out.rstrip() == results.recorded("labels", LabelCurves).as_text()


def test_word_vectors_begin_as_word2vec_s_or_at_random_and_are_trained() -> None:
    """As the lesson says of these two rows; nothing else differs between them."""
    (name, full), (same, scratch) = (miniglue.SYSTEMS[row] for row in ("word vectors", "word vectors, from scratch"))
    shipped = ex.load("word2vec", device="cpu").module.words.weight
    assert name == same == "word2vec"
    for how in (full, scratch):
        run = ex.finetune(name, task="sentiment", how=how, examples=8, steps=1, checks=0, snapshots=0, device="cpu")
        begun = run.model.module.words.weight.detach().clone()
        assert begun.shape == shipped.shape and begun.equal(shipped) == (how == full)
        assert [step.step for step in run] == [1] and not run.model.module.words.weight.equal(begun)
