"""Vectors of sentences: each way against the model's own numbers, Sentence-BERT against its formulas, what the studies record."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from conftest import LONG
from test_short_studies import drawn, part

import explorer as ex
from explorer.app.lessons.vectors import misled_questions as traps
from explorer.app.lessons.vectors import sentences_questions as lesson
from explorer.errors import ChoiceError, TextError
from explorer.microworld.derived.misleading import KINDS, misleading
from explorer.models import results
from explorer.models.elmo import ElmoModel
from explorer.models.model import trainable
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.records import Likeness, Nearer, Ranked, cosine
from explorer.text.classroom import toys
from explorer.training.finetune import sentences, siamese
from explorer.training.finetune.metrics import interval, spearman
from explorer.views import VIEWS
from studies import misled as study
from studies import sentences as experiment
from studies.study import intervals

TEXTS = ("The dog was tired because it ran all day.", "A cat.", "Anna gave the red key to Tom in the garden.")


@pytest.fixture(scope="module")
def glove() -> StaticModel:
    model = ex.load("glove", device="cpu")
    assert isinstance(model, StaticModel)
    return model


def state(model: TransformerModel, text: str) -> np.ndarray:
    return ex.trace(model, text).hidden["encoder"][-1].astype(np.float64)


# ways


def test_every_way_is_its_formula_on_the_states_of_a_single_text(bert: TransformerModel, glove: StaticModel) -> None:
    means, firsts = sentences.mean_state(bert, TEXTS), sentences.cls_state(bert, TEXTS)
    for n, text in enumerate(TEXTS):
        np.testing.assert_allclose(means[n], state(bert, text).mean(0), atol=2e-5)
        np.testing.assert_allclose(firsts[n], state(bert, text)[0], atol=2e-5)
    words = [glove.tokenizer.core.token_to_id(word) for word in ("A", "cat", ".")]
    np.testing.assert_allclose(sentences.mean_of_words(glove, TEXTS)[1], glove.vectors[words].mean(0), atol=1e-6)
    assert np.isnan(sentences.mean_of_words(glove, ["zzyzx"])).all()


def test_the_ends_of_an_elmo_have_read_everything_from_their_side() -> None:
    elmo = ex.build("elmo", tokenizer=ex.tokenizer("characters", toys()[:60], size=4000), device="cpu", dim=8, hidden=12)
    assert isinstance(elmo, ElmoModel)
    read = ex.trace(elmo, TEXTS[0])
    words = np.flatnonzero(~np.array(read.source.special))
    wanted = np.concatenate((read.hidden["backward"][-1, words[0]], read.hidden["forward"][-1, words[-1]]))
    ends = sentences.both_ends(elmo, [TEXTS[0]])
    np.testing.assert_allclose(ends[0], wanted, atol=1e-5)
    every = [read.hidden[side][-1, words].mean(0) for side in ("backward", "forward")]
    np.testing.assert_allclose(sentences.mean_state(elmo, [TEXTS[0]])[0], np.concatenate(every), atol=1e-5)
    sat, ran, other = "The dog sat.", "The dog ran.", "A dog sat."
    half = elmo.config.dim
    for pair in ([sat, other], [sat, ran]):  # any word, wherever it stands, is read by both ends
        ends = sentences.both_ends(elmo, pair)
        assert (ends[0, :half] != ends[1, :half]).any() and (ends[0, half:] != ends[1, half:]).any()


def test_cosines_and_shared_words_are_counted_by_hand() -> None:
    first, other = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[4.0, 3.0], [0.0, 2.0]])
    np.testing.assert_allclose(cosine(first, other), [24 / 25, 0])
    shares = sentences.shared_words(["The dog ran.", "A cat!"], ["The dog, it sat.", "no"])
    np.testing.assert_allclose(shares, [2 / 5, 0])


def test_likeness_knows_nothing_of_order_where_words_are_averaged(bert: TransformerModel, glove: StaticModel) -> None:
    likeness = sentences.likeness(lesson.TEXTS, [("mean of words", glove), ("mean of tokens", bert)])
    np.testing.assert_allclose(likeness.cosines, likeness.cosines.transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(likeness.cosines[:, range(5), range(5)], 1)
    assert likeness.cosines[0, 0, 2] == pytest.approx(1, abs=1e-12) and likeness.cosines[1, 0, 2] < 0.99999
    exercise = lesson.turned_question(likeness)
    assert exercise.answer == f"those with the {lesson.WORDS}" and exercise.answer in exercise.options
    none, every = (
        lesson.turned_question(Likeness(likeness.texts, likeness.ways[part], likeness.cosines[part], likeness.unseen[part]))
        for part in (slice(1, None), slice(1))
    )
    assert (none.answer, every.answer) == ("none of them", "all of them")
    drawn = ex.views["sentence-likeness"](likeness, way=likeness.ways[1])
    np.testing.assert_allclose(np.array(drawn.data[0].z), likeness.cosines[1])


def test_what_cannot_be_compared_is_said(bert: TransformerModel, gpt2: TransformerModel, glove: StaticModel) -> None:
    for texts in (["one", "  "], ["one"] * 13, ["word " * 20_000, "one"]):
        with pytest.raises(TextError, match="1 sentences|13 sentences|at most"):
            sentences.likeness(texts, [("[CLS]", bert)])
    for way, model in (("sum", bert), ("[CLS]", gpt2), ("mean of words", bert), ("both ends", glove)):
        with pytest.raises(ChoiceError, match="no method" if way == "sum" else "This needs "):
            sentences.likeness(TEXTS, [(way, model)])
    odd = sentences.likeness(["<script>", "😀 مرحبا", "zzyzx"], [("mean of words", glove), ("[CLS]", bert)])
    assert np.isnan(odd.cosines[0, 2]).all() and odd.unseen[1].max() > 0
    assert "never seen" in ex.views["sentence-likeness"](odd).layout.title.text


# Sentence-BERT


def small(bert: TransformerModel, pairs: siamese.Pairs, **options: int) -> siamese.Siamese:
    return siamese.Siamese(bert, pairs, **{"seed": 0, "steps": 6, "batch": 8, **options})


def test_the_loss_of_grades_is_the_squared_gap_of_the_cosine(bert: TransformerModel) -> None:
    pairs = siamese.graded(12, 3)
    run = small(bert, pairs)
    rows = [0, 3, 7, 11]
    u, v = (np.array([state(bert, side[n]).mean(0) for n in rows]) for side in (pairs.first, pairs.second))
    cosines = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    assert run.loss(rows).item() == pytest.approx(((cosines - pairs.gold[rows]) ** 2).mean(), abs=1e-5)
    turned = siamese.Pairs(pairs.second, pairs.first, pairs.gold)
    assert small(bert, turned).loss(rows).item() == pytest.approx(run.loss(rows).item(), abs=1e-6), "both share all weights"


def test_the_loss_of_classes_is_the_softmax_of_both_and_their_difference(bert: TransformerModel) -> None:
    pairs = experiment.inferred(12, 3)
    run = small(bert, pairs)
    assert run.head is not None and pairs.classes == ("entailment", "contradiction", "neutral")
    rows = [1, 2, 6]
    u, v = (np.array([state(bert, side[n]).mean(0) for n in rows]) for side in (pairs.first, pairs.second))
    w = run.head.classify.weight.detach().double().numpy()
    scores = np.hstack((u, v, np.abs(u - v))) @ w.T
    logp = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    assert run.loss(rows).item() == pytest.approx(-logp[range(3), pairs.gold[rows]].mean(), abs=1e-4)


@LONG
def test_training_lowers_the_loss_and_leaves_the_first_model_alone(bert: TransformerModel) -> None:
    before = {name: value.clone() for name, value in bert.module.state_dict().items()}
    pairs = siamese.graded(32, 3)
    run, again = (small(bert, pairs, steps=12, batch=16) for _ in range(2))
    losses = list(run)
    assert np.mean(losses[-3:]) < 0.6 * losses[0] and losses[:2] == [loss for _, loss in zip(range(2), again, strict=False)]
    assert all(bool((value == before[name]).all()) for name, value in bert.module.state_dict().items())
    assert not run.model.module.training and run.model.name == "sentence-bert"
    assert sum(siamese.siamese_rate_share(step, 25) for step in range(1, 26)) < 25 and siamese.siamese_rate_share(2, 25) == 1


def test_what_cannot_be_learned_is_said(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model, pairs, message in ((gpt2, 40, "encoder"), (bert, 12, "takes 16 pairs")):
        with pytest.raises(ChoiceError, match=message):
            siamese.Siamese(model, siamese.graded(pairs, 3))


# the experiment

FROZEN = (("glove", "mean of words"), ("bert", "[CLS]"))
SMALL = experiment.SIZE.but(seeds=(0, 1), trained_pairs=60, tested=24, steps=2, frozen=FROZEN)


def test_no_sentence_is_learned_from_that_is_asked_about() -> None:
    questions = experiment.questions(0, SMALL)
    every = {sentence for pairs in questions.values() for sentence in pairs.sentences}
    learned = experiment.lessons(siamese.graded, 0, SMALL, {**questions, "own": siamese.graded(9, 200, "train")})
    assert every and not every & learned.sentences and not siamese.graded(9, 200, "train").sentences & learned.sentences
    assert len(learned.first) == len(learned.gold) < SMALL.trained_pairs
    full = experiment.SIZE
    questions = experiment.questions(0, full)
    new = {sentence for pairs in questions.values() for sentence in pairs.sentences}
    for make in experiment.TAUGHT.values():
        assert not new & experiment.lessons(make, 0, full, questions).sentences


@LONG
def test_the_experiment_measures_what_the_formulas_say() -> None:
    record, model = experiment.STUDIES["sentences"].measured(SMALL).values()
    assert record.ways == (experiment.COUNTED, "glove, mean of words", "bert, [CLS]", *experiment.TAUGHT)
    assert record.scores.shape == (2, 5, 2) and record.cosines.shape == (5, 24) and set(record.grades) == set(range(6))
    pairs = siamese.graded(24, 100, "validation")
    glove = ex.load("glove", device="cpu")
    cosines = cosine(sentences.mean_of_words(glove, pairs.first), sentences.mean_of_words(glove, pairs.second))
    assert record.scores[0, 1, 0] == pytest.approx(spearman(cosines, pairs.gold))
    np.testing.assert_allclose(record.intervals[1, 2], interval(record.scores[1, 2]))
    np.testing.assert_allclose(record.gains[0, 2], interval(record.scores[0, -1] - record.scores[0, 2]))
    with torch.no_grad():  # the model of the first seed
        cosines = experiment.cosines(model, "mean of tokens", pairs.first, pairs.second)
    np.testing.assert_allclose(cosines, record.cosines[-1], atol=1e-6)


def test_the_recorded_sentence_bert_ranks_above_mean_bert_and_mean_glove() -> None:
    """With 95% confidence, seed by seed, on both kinds of new sentences."""
    record = results.recorded("sentences", Ranked)
    for way in ("bert, mean of tokens", "bert, [CLS]", "glove, mean of words", "word2vec, mean of words"):
        assert (record.gains[:, record.ways.index(way), 1] > 0).all(), way
    np.testing.assert_allclose(record.intervals, intervals(record.scores))
    assert lesson.best_question(record).answer == record.ways[int(record.intervals[0, :, 0].argmax())]
    assert len(record.scores[0, 0]) >= 3


def test_the_kept_sentence_bert_is_the_one_that_was_recorded() -> None:
    """Stored in 16 bits, it gives the pairs of the first seed nearly the cosines of the record."""
    record = results.recorded("sentences", Ranked)
    pairs = next(iter(experiment.questions(0, experiment.SIZE).values()))
    cosines = experiment.cosines(sentences.sentence_bert(), "mean of tokens", pairs.first, pairs.second)
    np.testing.assert_allclose(cosines, record.cosines[record.ways.index(record.best)], atol=0.02)


def test_exercises_follow_from_the_records(bert: TransformerModel, glove: StaticModel) -> None:
    likeness = sentences.likeness(lesson.TEXTS, [("mean of words", glove), ("mean of tokens", bert)])
    record = Ranked(
        ("k",), ("a", "b"), "b", np.array([[[0.2, 0.4], [0.6, 0.8]]]), np.array([[[0.3, 0, 1], [0.7, 0, 1]]]), np.zeros((1, 2, 3)),
        np.array([0.0, 5.0]), np.ones((2, 2)),
    )  # fmt: skip
    exercises = (*lesson.exercises(likeness, record), lesson.best_question(record))
    assert all(exercise.right(exercise.shown) for exercise in exercises)
    assert [exercise.answer for exercise in exercises[-2:]] == ["a", "b"]
    assert exercises[1].answer == pytest.approx(0.1296)


# sentences for which shared words mislead

FEW = study.SIZE.but(seeds=(0, 1), trained=20, tested=12, steps=2)


def words(text: str) -> list[str]:
    return text.lower().replace(",", "").rstrip(".").split()


def test_names_are_exchanged_in_one_kind_and_one_word_in_the_other() -> None:
    for question in misleading(200, 0):
        first, other = words(question.text), words(question.another)
        if question.kind == KINDS[0]:
            assert Counter(first) == Counter(other) and sum(a != b for a, b in zip(first, other, strict=True)) == 2
        else:
            assert 1 <= sum(a != b for a, b in zip(first, other, strict=True)) <= 2, "a verb may have a particle"
        assert question.same not in (question.text, question.another)


def test_the_same_event_names_the_same_people_things_and_places() -> None:
    for question in misleading(60, 1):
        word_sets = [{word.strip(".,") for word in text.split()} for text in (question.text, question.same)]
        names = [{word for word in some if word[0].isupper()} - {"In", "It", "The"} for some in word_sets]
        assert names[0] == names[1], "who took part"
        assert len(word_sets[0] & word_sets[1]) >= 5, "a name or two, a colour, a thing, a place, and the article"


def test_every_question_misleads_who_counts_shared_words() -> None:
    questions = study.misled(80, 3, "validation")
    assert len(questions) == 80 and Counter(entry.kind for entry in questions) == Counter({kind: 40 for kind in KINDS})
    for entry in questions:
        text, same, another = (set(words(sentence)) for sentence in (entry.text, entry.same, entry.another))
        assert len(text & another) / len(text | another) > len(text & same) / len(text | same)
    pairs = study.as_pairs(questions)
    assert len(pairs.first) == 160 and pairs.gold.tolist() == [1.0, 0.0] * 80
    assert pairs.second[:2] == (questions[0].same, questions[0].another)


@LONG
def test_no_misleading_sentence_is_learned_from_that_is_asked_about() -> None:
    new = {text for entry in study.questions(0, study.SIZE) for text in (entry.text, entry.same, entry.another)}
    learned = study.as_pairs(study.misled(study.SIZE.trained, 200)).without(new)
    assert not new & learned.sentences and len(learned.first) > study.SIZE.trained, "two pairs each"


@LONG
def test_the_study_counts_what_its_cosines_say() -> None:
    record = study.STUDIES["misled"].record(FEW)
    assert record.scores.shape == (2, len(record.ways), 2) and record.kinds == KINDS
    assert (record.scores[:, record.ways.index(study.COUNTED)] == 0).all(), "such questions alone are asked"
    questions = [entry for entry in study.questions(1, FEW) if entry.kind == KINDS[1]]
    bert = trainable(ex.load("bert", device="cpu"))
    x, same, other = (
        sentences.mean_state(bert, [getattr(entry, name) for entry in questions]) for name in ("text", "same", "another")
    )
    wanted = (cosine(x, same) > cosine(x, other)).mean()
    assert record.scores[1, record.ways.index(study.PLAIN), 1] == pytest.approx(wanted)
    title = VIEWS["sentence-traps"](record, kind=KINDS[0]).layout.title.text
    assert record.examples[0][0].split()[0] in title


def misled_record(plain: tuple[float, float, float], taught: tuple[float, float, float]) -> Nearer:
    rows = np.array([[plain, taught]] * 2)
    return Nearer(KINDS, (traps.PLAIN, traps.TAUGHT), rows, rows, (("a", "b", "c"),) * 2)


@pytest.mark.parametrize(("low", "high", "place"), [(0.1, 0.3, 0), (0.4, 0.6, 1), (0.7, 0.9, 2)])
def test_the_question_follows_from_the_interval(low: float, high: float, place: int) -> None:
    exercise = traps.plain_question(misled_record(((low + high) / 2, low, high), (1, 1, 1)))
    assert exercise.answer == exercise.options[place] and exercise.options[1].startswith("neither")


def test_a_tie_is_called_a_tie() -> None:
    conclusion = traps.misled_conclusion(misled_record((0.5, 0.3, 0.7), (0.6, 0.4, 0.8)))
    assert conclusion.count(" a tie (tied for best") == 2
    clear = traps.misled_conclusion(misled_record((0.4, 0.3, 0.5), (0.9, 0.8, 1.0)))
    assert clear.count("+50 points (best: *sentence-bert, from such pairs*)") == 2


def test_the_record_is_of_this_study_and_learning_from_such_pairs_helps() -> None:
    record = results.recorded("misled", Nearer)
    plain, taught = (record.intervals[:, record.ways.index(way)] for way in (study.PLAIN, study.TAUGHT))
    assert record.intervals.min() >= 0 and record.intervals.max() <= 1, "no share lies beyond"
    assert (taught[:, 1] > plain[:, 2]).all() and (taught[:, 1] > 0.5).all()
    assert record.scores.shape[2] >= 3 and (record.scores[:, 0] == 0).all()
    first = study.questions(0, study.SIZE)
    assert record.examples[0] == next((entry.text, entry.same, entry.another) for entry in first if entry.kind == KINDS[0])


@pytest.mark.usefixtures("unfolded")
def test_the_bars_wait_where_one_guesses_first() -> None:
    at = part("vectors", "misled", guess="1")
    assert not at.exception and not any("Which is nearer" in title for title in drawn(at) if "<br>" in title)
    radio = next(radio for radio in at.radio if radio.key == "guess.misled")
    at = radio.set_value(radio.options[0]).run()
    assert not at.exception and any("Which is nearer" in title for title in drawn(at))
