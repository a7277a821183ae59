"""Tasks as text: each question has its prefix and its gold answer, and each task is scored by its metric and beside its rule."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from conftest import LONG

import explorer as ex
from explorer.analysis.evaluation import as_text
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.app.lessons.finetuning import prefixes
from explorer.microworld.derived.acceptability import judged
from explorer.microworld.derived.as_text import PREFIXES, task_of, tasks_as_text
from explorer.microworld.grammar.pairing import pairs
from explorer.models.card_figures import shipped_figures
from explorer.models.transformer import TransformerModel
from explorer.text.examples import Translation
from explorer.training.corpora import corpus_of
from explorer.training.interpolation import fresh


@LONG
def test_every_question_has_its_prefix_and_the_gold_answer_of_its_task() -> None:
    questions = list(tasks_as_text(1200, 3))
    assert Counter(question.task for question in questions) == dict.fromkeys(PREFIXES, 300)
    assert all(task_of(question.source) == question.task for question in questions)
    gold_answers = {
        task: [
            (question.source.removeprefix(PREFIXES[task]), question.target) for question in questions if question.task == task
        ]
        for task in PREFIXES
    }
    assert gold_answers["translation"] == [(pair.english, pair.french) for pair in pairs(300, 3, version="2.1")]
    good = [("not acceptable", "acceptable")[question.good] for question in judged(300, 3)]
    assert [answer for _, answer in gold_answers["acceptability"]] == good
    assert set(Counter(answer for _, answer in gold_answers["sentiment"]).values()) == {100}
    gold = {
        sentence: feeling
        for story in ex.microworld.labelled(2000, 3)
        for sentence, feeling in zip(story.sentences, story.feelings, strict=True)
    }
    assert all(gold[text] == {"glad": 1, "sad": -1, "neither": 0}[answer] for text, answer in gold_answers["sentiment"])
    assert all(answer.endswith((" It ends well.", " It ends badly.", ".", "?", "!")) for _, answer in gold_answers["summary"])


def test_every_fourth_summary_of_version_2_1_is_the_first_of_a_few_plain_sentences() -> None:
    asked = {
        version: [one for one in tasks_as_text(64, 3, version=version) if one.task == "summary"] for version in ("2.0", "2.1")
    }
    prefix = PREFIXES["summary"]
    plain = [question.source.removeprefix(prefix).startswith(question.target) for question in asked["2.1"]]
    assert plain == [number % 4 == 3 for number in range(16)]
    assert not any(question.source.removeprefix(prefix).startswith(question.target) for question in asked["2.0"])
    assert {one.source for one in asked["2.1"][:3]} <= {one.source for one in asked["2.0"]}


def test_held_out_questions_are_of_other_stories() -> None:
    corpus = corpus_of("tasks-as-text:200")
    learned = {text.source for text in corpus.texts if isinstance(text, Translation)}
    for split in ("validation", "test"):
        texts = [text[0] for text in corpus.held(100, split).texts]
        assert len(texts) == 100 and not learned & set(texts)
    assert len(fresh("tasks-as-text-2.1:200", 8)) == 8 and corpus.name == "tasks-as-text-2.1:200"


def test_each_task_is_scored_by_its_metric(bert: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu import corpus_bleu
    from sklearn.metrics import accuracy_score

    pieces = ex.load("t5-tasks", device="cpu").tokenizer
    texts = [Translation(question.source, question.target) for question in tasks_as_text(80, 5, "validation")]
    rng = np.random.default_rng(0)
    answers: dict[str, list[str]] = {}

    def answer(model: object, sources: list[np.ndarray], longest: int) -> list[list[int]]:
        task = task_of(pieces.decode(list(sources[0])))
        gold = [text.target for text in texts if task_of(text.source) == task]
        answers[task] = [right if rng.random() < 0.6 else gold[int(rng.integers(len(gold)))] for right in gold]
        return [pieces.encode(right).ids.tolist() for right in answers[task]]

    monkeypatch.setattr(as_text, "rewritten", answer)
    ask = as_text.by_task(EvalContext(EvalData(texts), pieces, "translation", 128))
    assert ask is not None
    actual = ask(bert).metrics  # whoever is asked: the answers are those above
    gold = {task: [text.target for text in texts if task_of(text.source) == task] for task in PREFIXES}
    assert actual["translation, bleu"] == pytest.approx(corpus_bleu(answers["translation"], [gold["translation"]]).score)
    for task in ("acceptability", "sentiment"):
        assert actual[f"{task}, accuracy"] == accuracy_score(gold[task], answers[task])
        most = Counter(gold[task]).most_common(1)[0][1] / len(gold[task])
        assert actual[f"{task}, most frequent answer"] == most
    assert 0.3 < actual["summary, F1 of words"] < 1 and actual["summary, first sentence and “It ends well.”"] < 0.6
    assert as_text.by_task(EvalContext(EvalData([Translation("A dog.", "Un chien.")]), pieces, "translation", 128)) is None


def test_the_shipped_model_does_each_task_better_than_its_rule() -> None:
    figures = shipped_figures(ex.models()["t5-tasks"].folder, "validation")
    for task, (metric, _, rule, _) in as_text.SCORED.items():
        assert figures[f"{task}, {metric}"] > figures[f"{task}, {rule}"] + 0.1, task


def test_the_prefix_alone_decides_what_is_done() -> None:
    answers = {task: str(prefixes.written(prefixes.TEXT, task).run()) for task in PREFIXES}
    assert answers["acceptability"] == "acceptable" and answers["sentiment"] == "glad"
    assert answers["translation"].startswith("Clara ") and len(set(answers.values())) == 4
    rows = prefixes.scores()
    assert [row["task"] for row in rows] == list(PREFIXES)


@LONG
def test_the_figures_of_the_card_are_measured_again() -> None:
    model = ex.load("t5-tasks", device="cpu")
    assert isinstance(model, TransformerModel)
    texts = corpus_of("tasks-as-text-2.1:160000").held(500, "validation")
    ask = as_text.by_task(EvalContext(texts, model.tokenizer, "translation", model.longest))
    assert ask is not None
    actual, card = ask(model).metrics, shipped_figures(ex.models()["t5-tasks"].folder, "validation")
    assert {name: pytest.approx(value, abs=2e-3) for name, value in actual.items()} == {name: card[name] for name in actual}
