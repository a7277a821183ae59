"""Tasks on frozen layers: gold labels, features, metrics, mixes; each against a formula or a case made by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import LONG, quickest
from torch import nn

import explorer as ex
from explorer.analysis import elmo as directions
from explorer.app.lessons.elmo import by_hand
from explorer.app.lessons.elmo import questions as lesson
from explorer.errors import ChoiceError, TextError
from explorer.microworld import labelled
from explorer.models import folders, store
from explorer.models.elmo import ElmoModel
from explorer.records import Abilities, Bench, Curves, LabelCurves, Mixes, Record, TaskTable
from explorer.text.classroom import toys
from explorer.training.finetune import TASKS, LabelledExample, Questions, Task, TokenPosition
from explorer.training.finetune.metrics import interval, span_f1, spearman, tag_spans
from studies import mixes as experiment
from studies.mixes import Frozen, Learning, features
from studies.tagging import Gru

TEXT = "The dog was tired because it ran all day."


@pytest.fixture(scope="module")
def elmo() -> ElmoModel:
    model = ex.build("elmo", tokenizer=ex.tokenizer("characters", toys()[:60], size=4000), device="cpu", dim=8, hidden=12)
    assert isinstance(model, ElmoModel)
    return model


@pytest.mark.parametrize("name", TASKS)
def test_every_place_is_what_it_asks_about(name: str) -> None:
    """Places are whole words, sentences or texts, and both splits ask with answers that can be learned."""
    assert ex.tasks()[name] is TASKS[name]
    questions, new = TASKS[name].make(12, "train"), TASKS[name].make(12, "test")
    for example in questions.examples:
        for place in example.places:
            text = questions.texts[place.text]
            word = text[place.start : place.end]
            assert word.strip() == word and word
            assert not word[0].isalnum() or place.start == 0 or not text[place.start - 1].isalnum()
            assert not word[-1].isalnum() or place.end == len(text) or not text[place.end].isalnum()
    read = [
        {tuple(questions_.texts[place.text] for place in example.places) for example in questions_.examples}
        for questions_ in (questions, new)
    ]
    assert not read[0] & read[1] and len(set(questions.labels)) > 1
    many = {len(example.places) for example in (*questions.examples, *new.examples)}
    assert len(many) == 1


def test_labels_are_those_of_the_stories() -> None:
    story = next(labelled(1, 5))
    questions_by_task = {name: TASKS[name].make(1, "train") for name in TASKS}
    words = [word.text for word in story.words]
    assert questions_by_task["part of speech"].labels == tuple(word.pos for word in story.words)
    assert questions_by_task["last letter"].labels == tuple(word[-1].lower() for word in words if word[-1].isalpha())
    named = [
        mention for mention in story.mentions if mention.form == "name" and mention.kind in ("person", "place", "organisation")
    ]
    assert {(a, b - 1) for a, b, _ in tag_spans(questions_by_task["entities"].labels)} == {(m.first, m.last) for m in named}
    verb, mention = questions_by_task["roles"].examples[0].places
    role = story.roles[0]
    assert story.text[verb.start : verb.end] == words[role.verb]
    assert story.text[mention.start : mention.end].split()[-1] == words[story.mentions[role.mention].last]
    assert questions_by_task["topic"].labels == (story.topic,)


def test_features_are_the_normed_layers_at_the_places(elmo: ElmoModel) -> None:
    texts = (TEXT, "A cat.")
    questions = Questions(
        texts,
        (
            LabelledExample((TokenPosition(0, 4, 7), TokenPosition(1, 0, 6)), "x"),
            LabelledExample((TokenPosition(1, 2, 5), TokenPosition(0, 0, 3)), "y"),
        ),
    )
    vectors = features(elmo, questions)
    tokens, states = elmo.tokenizer.encode(TEXT), elmo.layers([TEXT])[0].astype(np.float64)
    dog = states[:, tokens.texts.index("dog")]
    wanted = (dog - dog.mean(-1, keepdims=True)) / np.sqrt(dog.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(vectors[0, 0], wanted, atol=1e-4)
    cat = nn.functional.layer_norm(torch.tensor(elmo.layers(["A cat."])[0][:, 1:4]), (16,)).mean(1)  # without begin and end
    np.testing.assert_allclose(vectors[0, 1], cat.numpy(), atol=1e-4)
    with pytest.raises(ChoiceError, match="no word from letter"):
        features(elmo, Questions((TEXT,), (LabelledExample((TokenPosition(0, 3, 4),), "x"),)))


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ("O B-PER I-PER O B-LOC", {(1, 3, "PER"), (4, 5, "LOC")}),
        ("B-PER B-PER I-LOC", {(0, 1, "PER"), (1, 2, "PER"), (2, 3, "LOC")}),
        ("I-ORG I-ORG O", {(0, 2, "ORG")}),
        ("O O", set()),
    ],
)
def test_spans_are_read_as_conlleval_reads_them(tags: str, wanted: set) -> None:
    assert tag_spans(tags.split()) == wanted


def test_metrics_are_their_definitions() -> None:
    gold, answers = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG"], ["B-PER", "O", "O", "B-LOC", "O", "B-ORG"]
    assert span_f1(answers, gold) == pytest.approx(2 * 2 / (3 + 3)) and span_f1(gold, gold) == 1 and span_f1(["O"], ["O"]) == 1
    first, other = np.array([1.0, 2.0, 2.0, 5.0]), np.array([3.0, 1.0, 4.0, 9.0])
    assert spearman(first, other) == pytest.approx(np.corrcoef([1, 2.5, 2.5, 4], [2, 1, 3, 4])[0, 1])
    mean, low, high = interval([0.1, 0.2, 0.3])
    assert (mean, high - mean) == pytest.approx((0.2, 4.303 * 0.1 / 3**0.5)) and mean - low == pytest.approx(high - mean)
    assert np.isnan(interval([0.5])[1])
    assert interval([0.9, 1.0, 1.0], (0, 1))[1:] == (pytest.approx(0.967 - 0.1434, abs=1e-3), 1.0)


def ends_of(kept: Record) -> list[np.ndarray]:
    """The ends of the intervals of shares that a record holds, and the upper ends of those of correlations."""
    if isinstance(kept, Curves):
        return [end for line in kept.lines for end in (line.low, line.high) if end is not None]
    if isinstance(kept, (TaskTable, LabelCurves)):
        shares = [metric not in ("Matthews", "Spearman") for metric in kept.metrics]
        if isinstance(kept, TaskTable):
            return [kept.intervals[:, shares], kept.intervals[..., 2].clip(0)]
        return [kept.intervals[shares], kept.intervals[..., 2].clip(0)]
    return [kept.low, kept.high] if isinstance(kept, Abilities) else []


@pytest.mark.parametrize("name", ["finetuning-rates", "labels", "miniglue", "objectives", "prompting"])
def test_no_interval_reaches_where_no_score_can_be(name: str) -> None:
    kept = map(Record.read, sorted((folders.data_folder() / "results" / name).glob("*.npz")))
    ends = [end for record in kept for end in ends_of(record)]
    assert ends and all(np.nanmin(end) >= 0 and np.nanmax(end) <= 1 for end in ends)


def planted(task: Task, signal: int, seed: int = 0) -> Frozen:
    """Three layers of noise, of which one holds the answer."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 600)
    layers = rng.normal(size=(600, 1, 3, 6)).astype(np.float32)
    layers[:, 0, signal, 0] += 4 * labels - 2
    names = tuple("ab"[label] for label in labels)
    return Frozen(task, layers[:400], names[:400], layers[400:], names[400:])


@LONG
def test_a_mix_finds_the_layer_that_knows_and_tasks_share_nothing() -> None:
    task = TASKS["part of speech"]
    tasks = {"low": planted(task, 0), "high": planted(task, 2, 1)}
    learning = Learning(tasks, seed=0, steps=120)
    course = list(learning)
    for reader in learning.readers.values():
        reader.zero_grad()
    assert len(course) == 120 and course[0][0].weights.sum() == pytest.approx(1, abs=1e-5)
    low, high = course[-1]
    assert low.weights.argmax() == 0 and high.weights.argmax() == 2 and min(low.weights.max(), high.weights.max()) > 0.5
    scores = learning.scores()
    assert min(scores.values()) > 0.9 and tasks["low"].blind < 0.65
    alone = Learning({name: frozen.only(1) for name, frozen in tasks.items()}, seed=0, steps=120)
    assert all(mix.weights.tolist() == [1.0] for mixes in alone for mix in mixes)
    assert max(alone.scores().values()) < 0.7
    learning._loss("low").backward()  # the gradient of one task reaches no weight of another
    reached = [any(weight.grad is not None for weight in reader.parameters()) for reader in learning.readers.values()]
    assert reached == [True, False]


def test_a_gru_is_pytorch_s_own_on_every_text_alone() -> None:
    uneven = torch.tensor([0, 0, 0, 1, 2, 2])  # texts of different lengths, side by side
    x, tagger = torch.randn((6, 4), generator=torch.Generator().manual_seed(0)), Gru(4, 2)
    scores = tagger(x, uneven)
    for first, last in ((0, 3), (3, 4), (4, 6)):
        torch.testing.assert_close(scores[first:last], tagger.say(tagger.read(x[None, first:last])[0][0]))
    assert Questions((TEXT,), (LabelledExample((TokenPosition(0, 4, 7),), "x"),)).about == (0,)


def test_the_bench_fits_a_ridge_anew() -> None:
    frozen = planted(TASKS["part of speech"], 1)
    bench = experiment.bench(frozen, np.full((1, 3), 1 / 3))
    s = np.array([0.2, 0.5, 0.3])
    x = np.hstack((np.tensordot(bench.train.astype(np.float64), s, (1, 0)), np.ones((len(bench.train), 1))))
    y = np.where(bench.gold[:, None] == np.arange(2), 1.0, -1.0)
    head = np.linalg.lstsq(
        np.vstack((x, 10.0**0.5 * np.eye(x.shape[1]))), np.vstack((y, np.zeros((x.shape[1], 2)))), rcond=None
    )[0]
    new = np.hstack((np.tensordot(bench.test.astype(np.float64), s, (1, 0)), np.ones((len(bench.test), 1))))
    assert bench.score(s) == pytest.approx(((new @ head).argmax(1) == bench.asked).mean())
    assert bench.score(10 * s) == bench.score(s) and bench.score(np.eye(3)[1]) > bench.score(np.eye(3)[0])
    with pytest.raises(ChoiceError, match="3 shares"):
        bench.score(np.zeros(3))


@LONG
def test_the_experiment_measures_and_its_record_opens_again(tmp_path: Path) -> None:
    """Small, but whole: two biLMs, two seeds of heads, every way; the record is written, read, told and asked about."""
    texts = [story[:2] for story in toy_stories()]
    options = {
        "corpus": texts,
        "held": texts[:1],
        "dim": 8,
        "hidden": 12,
        "steps": 2,
        "batch": 4,
        "checks": 0,
        "snapshots": 1,
        "pieces": 400,
    }
    tasks = ("part of speech", "roles", "entailment", "word sense")
    given = {"bilms": (0, 1), "heads": (0, 1), "stories": 8, "tested": 6, "steps": 5, "tasks": tasks}
    size = experiment.SIZE.but(**given, options=options, workshop=tmp_path)
    measured, *benches = experiment.STUDIES["mixes"].measured(size).values()
    assert measured.shares.shape == (4, 4, 3, 3) and measured.scores.shape == (4, 4, 4) and measured.steps.tolist() == [1, 2, 5]
    np.testing.assert_allclose(measured.shares.sum(-1), 1, atol=1e-5)
    by_bilm = measured.scores.reshape(4, 2, 2, 4).mean(2)
    np.testing.assert_allclose(measured.intervals[..., 0], by_bilm.mean(1))
    np.testing.assert_allclose(measured.gains[..., 0], (by_bilm[..., :1] - by_bilm).mean(1), atol=1e-12)
    again = Mixes.read(measured.write(tmp_path / "record.npz"))
    np.testing.assert_array_equal(again.shares, measured.shares)
    assert {bench.task for bench in benches} == {"part of speech", "word sense"} and isinstance(benches[0], Bench)
    card = experiment.STUDIES["mixes"].card_of(measured, size)
    assert "part of speech" in card and "of 2 biLMs" in card
    assert lesson.lowest_question(measured).answer in measured.tasks
    assert "entailment" in lesson.compared(measured) and "| +4.7 | 24.9% |" in lesson.compared(measured)
    assert "| +2.07 | 21.0% |" in lesson.compared(measured)


def toy_stories() -> list:
    from explorer.text.toy import toy_stories as stories

    return list(stories(40, 1))


def test_the_order_of_tasks_is_judged_by_every_bilm() -> None:
    shares = np.zeros((3, 2, 1, 3))
    shares[0, :, 0, 0] = shares[1, :, 0, 1] = shares[2, 0, 0, 2] = shares[2, 1, 0, 0] = 1
    some = np.zeros((3, 4, 3))
    record = Mixes(
        ("last letter", "entities", "topic"), ("accuracy",) * 3, ((0, 0), (1, 0)), np.array([1]), shares, np.ones((3, 2, 1)),
        ("mix", "layer 0", "layer 1", "layer 2"), np.zeros((3, 2, 4)), some, some, np.zeros(3),
    )  # fmt: skip
    assert experiment.followed(record, experiment.ORDER) == [True, False]


def test_both_sides_are_the_model_s_own_probabilities(elmo: ElmoModel) -> None:
    record, scores = directions.both_sides(elmo, TEXT), elmo.outputs(TEXT)
    ids = elmo.tokenizer.encode(TEXT).ids
    for place in range(1, len(ids) - 1):
        for side, row in ((0, scores["lm"][place - 1]), (1, scores["backward"][place + 1])):
            chances = np.exp(row.astype(np.float64)) / np.exp(row.astype(np.float64)).sum()
            assert record.truth[side, place] == pytest.approx(chances[ids[place]], rel=1e-4)
            assert record.shares[side, place, 0] == pytest.approx(chances.max(), rel=1e-4)
    assert np.isnan(record.truth[0, 0]) and np.isnan(record.truth[1, -1])


def test_the_halves_are_the_differences_of_what_tasks_read(elmo: ElmoModel) -> None:
    """Against the layers as a task reads them: both directions side by side. The forward half cannot know what comes later."""
    texts = ("Anna sees the dog now .", "Anna sees the dog here .")
    record, (first, second) = tuple(ex.trace(elmo, text) for text in texts), elmo.layers([elmo.tokens(text) for text in texts])
    wide = elmo.config.dim
    for place in (1, 3):
        for layer in (1, 2):
            forward, backward = ex.views["halves"](record, place=place, layer=layer).data[:2]
            moved = np.abs(np.asarray(second) - np.asarray(first))[layer, place]
            np.testing.assert_allclose(np.r_[forward.y, backward.y], moved, atol=1e-5)
            assert not np.any(forward.y) and np.all(np.asarray(backward.y) > 0) and len(forward.y) == wide


def test_the_halves_open_at_the_lesson_s_word() -> None:
    record = tuple(ex.trace(ex.load("elmo", device="cpu"), text) for text in (lesson.TEXT, lesson.OTHER))
    assert record[0].source.texts[ex.views["halves"].controls(record)["place"].first] == lesson.WORD


def test_filters_are_the_convolutions_of_pytorch(elmo: ElmoModel) -> None:
    record = directions.letter_filters(elmo, "dogs")
    assert record.letters == ("⟨", "d", "o", "g", "s", "⟩") and len(record.widths) == sum(
        many for _, many in elmo.config.filters
    )
    from explorer.text.letters import letters

    x = elmo.module.characters.letters(torch.tensor(letters(["dogs"]))).transpose(1, 2)
    answers = [
        nn.functional.max_pool1d(convolution(x), convolution(x).shape[-1])[0, :, 0]
        for convolution in elmo.module.characters.filters
    ]
    np.testing.assert_allclose(record.strongest, torch.cat(answers).detach().numpy(), atol=1e-6)
    with pytest.raises(TextError, match="not one word"):
        directions.letter_filters(elmo, "two words")


def test_a_word_has_one_vector_of_letters_and_many_above(elmo: ElmoModel) -> None:
    uses = [("The dog ran.", 4, "a"), ("Anna has a dog.", 11, "b"), ("A dog!", 2, "a")]
    record = ex.analysis.contexts(elmo, "dog", uses)
    np.testing.assert_allclose(record.likeness(0), 1, atol=1e-5)
    assert not record.points(0).any() or np.abs(record.points(0)).max() < 1e-5
    assert record.likeness(2)[0, 1] < 0.9999
    x = record.vectors[2].astype(np.float64) - record.vectors[2].mean(0)
    np.testing.assert_allclose((record.points(2) ** 2).sum(), (np.linalg.svd(x)[1][:2] ** 2).sum(), rtol=1e-6)
    named, opened = (ex.analysis.contexts(model, "dog", uses) for model in ("elmo", ex.load("elmo")))
    assert named == opened, "a model may be given by its name"


@pytest.mark.parametrize("name", ["bert", "gpt2", "word2vec"])
def test_any_model_has_a_vector_for_each_use_and_its_nearest_is_that_of_scikit_learn(name: str) -> None:
    from sklearn.neighbors import NearestNeighbors

    model = ex.load(name, device="cpu")
    uses = [("The dog ran.", 4, "a"), ("Anna has a dog.", 11, "b"), ("A dog!", 2, "a"), ("Then the dog slept.", 9, "b")]
    record = ex.analysis.contexts(model, "dog", uses)
    for layer, vectors in enumerate(record.vectors):
        near = NearestNeighbors(n_neighbors=2, metric="cosine").fit(vectors).kneighbors(vectors)
        actual = record.likeness(layer)[np.arange(4), record.nearest(layer)]
        np.testing.assert_allclose(actual, 1 - near[0][:, 1], atol=1e-5)
    read = ex.trace(model, uses[1][0])
    last = next(iter(read.hidden.values()))[:, next(n for n, text in enumerate(read.source.texts) if "dog" in text)]
    np.testing.assert_allclose(record.vectors[:, 1], last, atol=1e-5)
    assert (name == "word2vec") == bool(np.ptp(record.vectors[-1], axis=0).max() < 1e-6), "a table knows no context"


def test_a_word_of_several_tokens_has_the_mean_of_their_vectors() -> None:
    model = ex.load("bert", device="cpu")
    record = ex.analysis.contexts(model, "flibberty", [("A flibberty ran.", 2, ""), ("A flibberty!", 2, "")])
    read = ex.trace(model, "A flibberty ran.")
    count = len(read.source) - 5
    assert count > 1
    np.testing.assert_allclose(record.vectors[:, 0], read.hidden["encoder"][:, 2 : 2 + count].mean(1), atol=1e-5)


def test_the_lesson_asks_what_its_records_say(elmo: ElmoModel) -> None:
    before, after = ex.trace(elmo, lesson.TEXT), ex.trace(elmo, lesson.OTHER)
    place = before.source.texts.index(lesson.WORD)
    assert lesson.halves(before, after, place) == {"forward": 0, "backward": elmo.config.dim}
    assert lesson.half_question(before, after, place).answer == "the backward half"
    assert lesson.half_question(after, before, len(before.source) - 1).answer != "none of them"
    items = lesson.exercises(before, place, [many for _, many in elmo.config.filters])
    h = elmo.layers([lesson.TEXT])[0][:, place, 0]
    assert items[0].answer == pytest.approx(1.5 * (0.2 * h[0] + 0.5 * h[1] + 0.3 * h[2]), abs=1e-5)
    assert store.models() == ex.models()


def test_the_pictures_show_the_numbers_of_their_records() -> None:
    rng = np.random.default_rng(0)
    shares, scores = rng.dirichlet(np.ones(3), (2, 4, 3)), rng.random((2, 4, 3))
    record = Mixes(
        ("a", "b"), ("accuracy",) * 2, ((0, 0), (0, 1), (1, 0), (1, 1)), np.array([1, 5, 9]), shares, np.ones((2, 4, 3)),
        ("mix", "layer 0", "layer 1", "layer 2"), rng.random((2, 4, 4)), scores, scores - 0.5, np.array([0.1, 0.2]),
    )  # fmt: skip
    order = np.argsort([(shares[n, :, -1] @ [0, 1, 2]).mean() for n in range(2)])
    for step in (1, 9):
        bars = ex.views["mix-shares"](record, step=step).data
        wanted = shares[order][:, :, [1, 5, 9].index(step)].mean(1)
        np.testing.assert_allclose([bar.y for bar in bars], wanted.T)
    np.testing.assert_allclose([bar.y for bar in ex.views["mix-scores"](record).data[:4]], scores[order][..., 0].T)
    task = ex.views["mix-triangle"](record, step=9).data[1]
    corners = np.array([[0, 0], [1, 0], [0.5, 3**0.5 / 2]])
    np.testing.assert_allclose(np.array([task.x, task.y])[:, -7::2], (shares[0, :, 2] @ corners).T)
    bench = experiment.bench(planted(TASKS["part of speech"], 2), np.array([[0.1, 0.2, 0.7]]))
    figure = ex.views["mix-bench"](bench, s0=0, s1=5, s2=15, example=3)
    assert figure.data[0].y.tolist() == [0, 0.25, 0.75]
    wanted = [bench.score(np.array(way)) for way in ([0, 0.25, 0.75], [0.1, 0.2, 0.7], *np.eye(3).tolist())]
    assert list(figure.data[2].y) == wanted
    np.testing.assert_allclose(figure.data[3].z[-1], np.average(bench.test[3], axis=0, weights=[0, 5, 15])[:64], rtol=1e-6)
    np.testing.assert_array_equal(figure.data[3].z[:-1], bench.test[3][:, :64])


def test_a_click_in_the_triangle_sets_the_three_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = experiment.bench(planted(TASKS["part of speech"], 2), np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]))
    figure = ex.views["mix-place"](bench, s0=0, s1=5, s2=15)
    grid, learned, mine = figure.data
    corners = np.array([[0, 0], [1, 0], [0.5, 3**0.5 / 2]])
    np.testing.assert_allclose(np.array([mine.x[0], mine.y[0]]), np.array([0, 0.25, 0.75]) @ corners)
    np.testing.assert_allclose(np.array([learned.x, learned.y]).T, bench.learned @ corners)
    state = {f"mix-bench.x.s{layer}": 10 for layer in range(3)}
    monkeypatch.setattr(by_hand.st, "session_state", state)
    for number in (0, 57, len(grid.x) - 1):
        state["mix-bench.x.place"] = SimpleNamespace(
            selection=SimpleNamespace(points=[{"customdata": grid.customdata[number]}])
        )  # type: ignore[assignment]
        by_hand.clicked("mix-bench.x")
        weights = np.array([state[f"mix-bench.x.s{layer}"] for layer in range(3)])
        assert weights.sum() == 20 and weights.min() >= 0
        np.testing.assert_allclose(weights / 20 @ corners, [grid.x[number], grid.y[number]], atol=1e-12)
        moved = ex.views["mix-place"](bench, **{f"s{layer}": int(value) for layer, value in enumerate(weights)}).data[2]
        assert moved.x[0] == pytest.approx(grid.x[number]) and moved.y[0] == pytest.approx(grid.y[number])
    before = dict(state)
    for points in ([], [{"x": 0.5}]):  # nothing, or a point of a run
        state["mix-bench.x.place"] = before["mix-bench.x.place"] = SimpleNamespace(selection=SimpleNamespace(points=points))  # type: ignore[assignment]
        by_hand.clicked("mix-bench.x")
        assert state == before


def test_a_slider_of_the_bench_answers_at_once() -> None:
    """As many examples, layers and numbers as the recorded benches have: one move costs far less than 0.3 s of a processor."""
    rng = np.random.default_rng(0)
    layers = rng.normal(size=(experiment.KEPT, 3, 192)).astype(np.float16)
    gold = rng.integers(0, 40, experiment.KEPT)
    bench = Bench("x", tuple(map(str, range(40))), layers, gold, layers, gold, np.full((9, 3), 1 / 3))
    ex.views["mix-bench"](bench, s0=1, s1=2, s2=3, example=0)
    assert quickest(lambda: ex.views["mix-bench"](bench, s0=3, s1=2, s2=1, example=9)) < 0.3
