"""The recorded experiments, at toy sizes: the same numbers again, losses by place as PyTorch has them, and what was never trained."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import guessing_first, opened, pictures
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

import explorer as ex
from explorer.app.lessons.positions import questions as positions
from explorer.app.lessons.training import questions as training
from explorer.app.lessons.training import sizes_questions as sizes_lesson
from explorer.errors import FileError
from explorer.microworld import labelled
from explorer.models import results
from explorer.models.transformer import TransformerModel
from explorer.records import Curve, Curves
from explorer.text.tokenizers import Tokenizer
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES
from explorer.views import VIEWS
from studies import ablations, lengths, objectives, rates, runs, senses, sizes, study
from studies.rates_by_size import label

TWO = ("none", "alibi")
SMALL = lengths.SIZE.but(
    trained=16, read=64, bin=16, steps=6, batch=4, checks=2, stories=60, windows=8, seeds=(0, 1), schemes=TWO
)
BRIEF = rates.RATES.but(steps=4, batch=4, checks=2, held_out=8, examples=3, questions=3, seeds=(0,))


def with_specials() -> Tokenizer:
    """RoBERTa's special tokens, and few others."""
    texts = [" ".join(story) for story in runs.stories_of("microworld", 300)]
    return ex.tokenizer("byte-bpe", texts, size=1200, specials=ex.presets()["roberta"].specials)


@pytest.fixture(autouse=True)
def few(
    bert: TransformerModel, gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Few stories, and tokenizers that are there already."""
    known: dict[str, Tokenizer] = {"bert": bert.tokenizer, "gpt2": gpt2.tokenizer}
    known["roberta"] = with_specials() if "worth" in request.node.name else gpt2.tokenizer
    monkeypatch.setattr(runs, "tokenizer_of", lambda system, world="toy": known[system])
    monkeypatch.setattr(runs, "STORIES", 60)
    monkeypatch.setattr(senses, "STORIES", 150)
    for cache in (lengths.long_text, senses.uses):
        cache.cache_clear()
        request.addfinalizer(cache.cache_clear)


def batch_of(family: str, model: TransformerModel, wide: int, rows: int = 3) -> Any:
    system, objective = lengths.FAMILIES[family]
    text = lengths.long_text(system, 60, "train")
    ids = lengths.windows(text, np.arange(rows) * wide, wide)
    return lengths.question_batch(objective, ids, model.tokenizer.vocabulary, np.random.default_rng(1))


# lengths


@pytest.mark.parametrize("family", lengths.FAMILIES)
def test_the_loss_by_place_is_the_cross_entropy_of_pytorch(family: str, bert: TransformerModel, gpt2: TransformerModel) -> None:
    model = gpt2 if family == "decoder" else bert
    batch = batch_of(family, model, 48, rows=8)
    losses = lengths.by_place(model, batch, 16)
    with torch.no_grad():
        scores = model.module.head(model.module(torch.as_tensor(np.array(batch.source))))
        loss = functional.cross_entropy(scores.transpose(1, 2), torch.as_tensor(np.array(batch.labels)), reduction="none")
    for mean, part in zip(losses, np.split(np.arange(48), 3), strict=True):
        assert mean == pytest.approx(loss[:, part][torch.as_tensor(batch.loss_mask[:, part])].mean().item(), rel=1e-5)


def test_a_window_is_a_part_of_the_text_and_no_story_begins_where_windows_do(gpt2: TransformerModel) -> None:
    text = lengths.long_text("gpt2", 60, "train")
    batch = batch_of("decoder", gpt2, 20)
    np.testing.assert_array_equal(batch.source.ravel(), text[:60])
    np.testing.assert_array_equal(batch.labels.ravel(), text[1:61])
    end = gpt2.tokenizer.vocabulary.end
    text_before = gpt2.tokenizer.decode([int(i) for i in text[: int(np.argmax(text == end))]])
    assert text_before == " ".join(runs.stories_of("microworld", 60)[0]) and (text == end).sum() == 60


@pytest.mark.parametrize("family", lengths.FAMILIES)
def test_every_scheme_reads_the_same_and_learns_otherwise(family: str) -> None:
    first, other = (lengths.train(family, scheme, 0, SMALL) for scheme in ("rope", "none"))
    assert not any(np.array_equal(left, right) for left, right in zip(first, other, strict=True))
    assert [len(part) for part in first] == [SMALL.checks, SMALL.read // SMALL.bin]
    runs = [lengths.run_of(family, scheme, 0, SMALL) for scheme in ("learned", "alibi")]
    for left, two in zip(*(vars(run.batch(3)).values() for run in runs), strict=True):
        np.testing.assert_array_equal(left, two)


@pytest.mark.parametrize("family", lengths.FAMILIES)
@pytest.mark.parametrize("scheme", ["learned", "t5", "t5, ranges to 64", "disentangled"])
def test_what_is_met_only_beyond_the_trained_length_is_what_the_card_says(family: str, scheme: str) -> None:
    size = lengths.SIZE.but(stories=60)
    model = lengths.untrained(family, scheme, 0, size)
    objective = lengths.FAMILIES[family][1]

    def met(wide: int) -> set[int]:
        """The rows of the scheme's table that a loss depends on."""
        model.module.zero_grad()
        batch = tensors(batch_of(family, model, wide, rows=2), torch.device("cpu"))
        losses = OBJECTIVES[objective].loss(model.module, batch, 0.0)
        sum(losses.values(), torch.zeros(())).backward()
        table = model.module.embeddings.position.table.weight.grad
        return set(table.abs().sum(dim=1).nonzero().flatten().tolist())

    assert (met(size.read) <= met(size.trained)) is (scheme in ("t5, ranges to 64", "disentangled"))


def test_both_pictures_hold_what_the_runs_found() -> None:
    far, learning = lengths.STUDIES["decoder"].measured(SMALL).values()
    runs = [lengths.train("decoder", "alibi", seed, SMALL) for seed in SMALL.seeds]
    for record, place in ((learning, 0), (far, 1)):
        line = record.lines[1]
        assert line.label == "alibi" and line.low is not None and line.high is not None
        np.testing.assert_allclose(line.y, np.mean([run[place] for run in runs], axis=0))
        np.testing.assert_array_equal(line.low, np.min([run[place] for run in runs], axis=0))
        np.testing.assert_array_equal(line.high, np.max([run[place] for run in runs], axis=0))
    assert far.lines[0].x.tolist() == [7.5, 23.5, 39.5, 55.5] and learning.lines[0].x.tolist() == [3, 6]


@LONG
def test_tasks_come_back_in_their_order_from_other_processes() -> None:
    tasks = [(2.0, 3.0), (5.0, 2.0), (3.0, 1.0)]
    assert study.each(math.pow, tasks, processes=2) == study.each(math.pow, tasks, processes=0) == [8.0, 25.0, 3.0]


# hiding


@LONG
def test_hiding_is_measured_from_before_the_first_step() -> None:
    first, other = (rates.hiding(share, 0, BRIEF) for share in (0.4, 0.05))
    np.testing.assert_array_equal(first[0], other[0])
    assert first.shape == (3, 2) and BRIEF.due.tolist() == [0, 2, 4]
    curves, probed = rates.STUDIES["rates"].measured(BRIEF).values()
    place = rates.HIDDEN.index(0.4)
    np.testing.assert_array_equal(curves.lines[place].y, first[:, 0])
    np.testing.assert_array_equal(probed.lines[place].y, first[:, 1])
    assert f"{senses.most_frequent(3, 3):.2f}" in probed.note


# worth


@LONG
@pytest.mark.parametrize("name", ablations.CASES)
def test_worth_is_measured_and_the_ways_differ_in_one_thing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(ablations.CASES[name], stories=40)
    monkeypatch.setitem(ablations.CASES, name, case)
    monkeypatch.setattr(ablations, "HELD", 8)
    begun: list[Any] = []
    run = runs.run
    monkeypatch.setattr(runs, "run", lambda *given, **more: begun.append(run(*given, **more)) or begun[-1])
    record = ablations.STUDIES[name].record(ablations.SIZE.but(steps=4, batch=4, checks=2, seeds=(0,)))
    assert [line.label for line in record.lines] == list(case.ways) and record.lines[0].x.tolist() == [0, 2, 4]
    first, second = (asdict(run.plan) for run in begun[:2])
    assert {part for part in first if first[part] != second[part]} == ({"objective"} if name == "next-sentence" else set())


def test_a_use_is_where_the_gold_word_stands(bert: TransformerModel) -> None:
    uses = senses.uses("train", 3, 128)
    assert max(Counter(uses.words.tolist()).values()) <= 3
    gold = defaultdict(set)
    for story in labelled(senses.STORIES, 2, "train"):
        for word in story.words:
            gold[word.sense].add(word.text.lower())
    for row, place, sense in zip(uses.row, uses.place, uses.senses, strict=True):
        token = bert.tokenizer.text_of(int(uses.inputs.ids[row, place]))
        assert any(word.startswith(token.lower()) for word in gold[sense]), (token, sense)


def test_the_probe_reads_the_last_states_and_beats_none_where_they_say_nothing(bert: TransformerModel) -> None:
    learned, tested = senses.both(6, 6, 128)
    vectors = senses.vectors(bert, learned)
    for n in (0, len(vectors) - 1):
        real = learned.inputs.attention_mask[learned.row[n]]
        ids = torch.as_tensor(learned.inputs.ids[learned.row[n]][real])[None]
        with torch.no_grad():
            state = bert.module(ids, torch.zeros_like(ids))[0, learned.place[n]]
        np.testing.assert_allclose(vectors[n], state.numpy(), atol=1e-5)
    right = []
    for word in sorted(set(learned.words)):
        counts = Counter(learned.senses[learned.words == word].tolist())
        if len(counts) > 1:
            best = max(sorted(counts), key=counts.__getitem__)
            right += [sense == best for sense in tested.senses[tested.words == word]]
    assert senses.most_frequent(6, 6) == pytest.approx(np.mean(right))
    names = sorted({*learned.senses, *tested.senses})
    shown = [np.array([[sense == name for name in names] for sense in part.senses], float) for part in (learned, tested)]
    known = [
        sense in learned.senses
        for sense, word in zip(tested.senses, tested.words, strict=True)
        if len(set(learned.senses[learned.words == word])) > 1
    ]
    assert senses.judged(*shown, learned, tested) == pytest.approx(np.mean(known)), "states that say it are read rightly"


# objectives

TINY = objectives.SIZE.but(steps=2, batch=2, seeds=(0, 1), tested=6, examples=12)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Tokenizer:
    """One tokenizer for all objectives, as the experiment has it."""
    tokenizer = with_specials()
    monkeypatch.setattr(runs, "tokenizer_of", lambda system, world="toy": tokenizer)
    return tokenizer


@LONG
def test_all_objectives_read_the_same_stories_and_what_cannot_be_asked_says_why(shared: Tokenizer) -> None:
    record = objectives.STUDIES["objectives"].record(TINY)
    able = {(i, j) for i, row in enumerate(record.reasons) for j, why in enumerate(row) if not why}
    assert able == {(0, 0), (0, 1), (0, 3), (1, 1), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3), (3, 3)}
    assert {tuple(at) for at in np.argwhere(~np.isnan(record.mean)).tolist()} == able
    np.testing.assert_allclose(record.signal, [0.15, 1, 1, 1], atol=0.02)
    np.testing.assert_allclose(record.pieces, record.pieces[0], rtol=0.05)
    known = record.mean[~np.isnan(record.mean)]
    np.testing.assert_allclose(known, record.rates.mean(-1)[~np.isnan(record.mean)])
    assert ((record.low <= record.mean + 1e-9) & (record.mean <= record.high + 1e-9))[~np.isnan(record.mean)].all()
    table = training.able(record)
    assert table.count("\n| ") == 5 and f"**{100 * record.mean[0, 3]:.0f}%**" in table and record.reasons[3][0] in table


def test_every_model_is_put_the_same_questions_and_a_perfect_one_gets_all_right(shared: Tokenizer) -> None:
    stories = [" ".join(story) for story in runs.stories_of("microworld", 2 * TINY.tested, "validation")]
    for system in ("bert", "gpt2", "bart"):
        model = ex.build(system, tokenizer=shared, device="cpu")
        for ids, at in objectives.questions(model, TINY):
            assert shared.decode(ids) in stories and shared.text_of(ids[at]).strip("·").isalpha()
        answers = iter([ids[at] for ids, at in objectives.questions(model, TINY)])
        wanted = np.eye(shared.vocabulary.size)

        def knows(text: Any, target: Any = None, answers: Any = answers, wanted: Any = wanted) -> np.ndarray:
            wide = len(text if target is None else target)
            return np.tile(wanted[next(answers)], (wide, 1))

        model.logits = knows  # type: ignore[method-assign]
        assert objectives.go_on(model, TINY).tolist() == [True] * TINY.tested


def test_a_restored_sentence_must_be_exactly_the_sentence(shared: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = ex.build("bart", tokenizer=shared, device="cpu"), objectives.damaged(TINY)
    assert texts and all(shared.vocabulary.mask in source for source, _ in texts)
    right = [shared.encode(text).ids.tolist() for _, text in texts]
    for answers, whole in ((right, True), ([list(source) for source, _ in texts], False)):  # the damaged text is no answer
        monkeypatch.setattr(objectives, "rewritten", lambda model, sources, longest, answers=answers: answers)
        assert objectives.restore(model, TINY).tolist() == [whole] * len(texts)


def test_a_text_s_vector_is_the_mean_of_its_own_tokens(shared: Tokenizer) -> None:
    texts = ["The dog was tired.", "Anna went home and slept in the garden."]
    for system, stream in (("bert", "encoder"), ("gpt", "decoder"), ("bart", "encoder")):
        model = ex.build(system, tokenizer=shared, device="cpu")
        for text, vector in zip(texts, objectives.summed(model, texts), strict=True):
            np.testing.assert_allclose(vector, ex.trace(model, text).hidden[stream][-1].mean(0), atol=1e-5)


# what was recorded, pictures and questions


def test_the_recorded_decoders_part_ways_beyond_the_trained_length_in_every_seed() -> None:
    record = results.result("lengths-decoder")
    far = {line.label: line for line in record.lines}
    assert list(far) == list(lengths.SCHEMES) and record.mark is not None
    assert min(far[name].low[-1] for name in ("learned", "sinusoidal")) > far["alibi"].high[-1], "absolute places fall behind"
    question = positions.reach_question(record)
    assert far[str(question.answer)].y[-1] == min(line.y[-1] for line in record.lines)


@LONG
@pytest.mark.usefixtures("unfolded")
def test_the_page_shows_what_was_recorded_and_its_code_makes_it() -> None:
    at = opened("positions")
    before = len(pictures(at))
    at = guessing_first(at)
    radio = next(radio for radio in at.radio if radio.key == "guess.reach")
    at = radio.set_value(radio.options[0]).run()
    for family in lengths.FAMILIES:
        at = at.button_group(key="family").set_value(family).run()
        assert not at.exception and len(pictures(at)) == before
        for name in ("lengths", "learning"):
            record = results.result(f"{name}-{family}")
            spec = next(json.loads(c.proto.spec) for c in pictures(at) if record.title in c.proto.alt)
            assert [trace["name"] for trace in spec["data"]][: len(lengths.SCHEMES)] == list(lengths.SCHEMES)
            code = next(block.value for block in at.code if f"'{name}-{family}'" in block.value)
            names: dict[str, Any] = {}
            exec(compile("\n".join(code.splitlines()[:-1]), "page", "exec"), names)  # noqa: S102
            np.testing.assert_array_equal(names["trace"].lines[0].y, record.lines[0].y)
        prose = " ".join(block.value for block in at.markdown)
        assert f"python -m studies.lengths {family}" in prose and "Caution" in prose


def test_a_place_with_a_name_is_drawn_upright(tmp_path: Path) -> None:
    line = Curve("a", np.array([1.0, 2.0]), np.array([3.0, 5.0]), np.array([2.0, 5.0]), np.array([3.5, 6.0]))
    record = Curves("t", "x", "y", (line,), mark=("here", 1.5))
    drawn = VIEWS["curves"](Curves.read(record.write(tmp_path / "curves.npz"))).data[-1]
    assert drawn.name == "here" and list(drawn.x) == [1.5, 1.5] and list(drawn.y) == [2.0, 6.0]
    assert results.result("scale").mark is None, "records from before there were marks still open"


def test_the_question_has_the_scheme_with_the_lowest_far_loss_as_answer() -> None:
    x = np.array([8.0, 248.0])
    lines = tuple(Curve(name, x, np.array([1.0, far])) for name, far in (("a", 3.0), ("b", 0.9), ("c", 2.0)))
    exercise = positions.reach_question(Curves("t", "x", "y", lines, mark=("trained", 64.0)))
    assert exercise.answer == "b" and exercise.options == ("a", "b", "c")
    assert "64" in exercise.question and "248" in exercise.question


# two sizes on the same text

SHORT_SIZES = sizes.SIZE.but(sizes=("tiny",), steps=3, stories=40, batch=4, held_out=4, checks=1)


def line(name: str, y: list[float]) -> Curve:
    values = np.array(y)
    return Curve(name, np.array([0.5, 1.0, 2.0]), values, values - 0.01, values + 0.01)


def test_each_size_takes_the_best_rate_of_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "data_folder", lambda: tmp_path)
    with pytest.raises(FileError, match=r"rates_by_size decoder"):
        sizes.best_rates("decoder")
    lines = line(label("gpt2", "tiny"), [2.0, 1.0, 3.0]), line(label("gpt2", "small"), [0.5, 1.0, 3.0])
    results.write_result("rates-decoder", Curves("t", "x", "y", lines, "n"), "card")
    assert sizes.best_rates("decoder") == {"tiny": 1.0, "small": 0.5}


@LONG
def test_what_a_run_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights are as many as the library's class has, its tokens those of its batches, its rate the one that is given."""
    begun: list[Any] = []
    run = runs.run
    monkeypatch.setattr(runs, "run", lambda *given, **more: begun.append(run(*given, **more)) or begun[-1])
    trained = sizes.train("decoder", "tiny", SHORT_SIZES, 2.0)
    (run,) = begun
    config = run.model.config
    shape = {"n_positions": config.length, "n_embd": config.dim, "n_layer": config.layers, "n_head": config.heads}
    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=config.vocab, **shape))
    assert trained.weights == sum(weight.numel() for weight in theirs.parameters())
    assert trained.tokens == sum(run.batch(n).tokens for n in (1, 2, 3)) and trained.steps[-1] == 3
    assert np.isfinite(trained.losses).all() and trained.seconds > 0
    assert [rate for _, rate in run.optimiser.optimisers] == pytest.approx([2 * sizes.ADAM_RATE, 2 * 0.02])
    record, kept = sizes.measure("decoder", [trained], SHORT_SIZES).values()
    assert kept == {"tiny": {"weights": trained.weights, "tokens": trained.tokens, "seconds": trained.seconds}}
    assert record.lines[0].y.tolist() == trained.losses and "× 2 the usual rates" in record.note


def curves(large: list[float]) -> Curves:
    return Curves("t", "x", "y", (line("tiny", [3.0, 2.0, 2.5]), line("small", large)), "n")


def test_the_lesson_calls_a_tie_a_tie() -> None:
    for large, answer in (([3.0, 2.0, 2.5], "SAME"), ([1.0, 2.0, 2.5], "LOWER"), ([3.0, 2.0, 1.5], "HIGHER")):
        assert sizes_lesson.rate_question(curves(large)).answer == getattr(sizes_lesson, answer)
    tie = sizes_lesson.rate_question(curves([1.99, 2.0, 2.5]))
    assert tie.answer == sizes_lesson.SAME and "overlap" in tie.why
    beside = sizes_lesson.off_the_best(curves([1.0, 2.0, 2.5]))
    assert "at × 0.5 the smallest loses 1.00 nats and the largest 0.00; at × 2 the smallest loses 0.50 nats" in beside
    assert "by step 2." in sizes_lesson.at_the_end(curves([3.0, 2.6, 2.4]))
    assert "last loss by" not in sizes_lesson.at_the_end(curves([3.0, 3.0, 3.0]))


@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_the_record_is_what_its_card_says(family: str) -> None:
    rates, record = (results.recorded(f"{name}-{family}", Curves) for name in ("rates", "sizes"))
    colours = {line.name: line.meta for line in VIEWS["curves"](rates).data}
    assert all(line.meta == colours[line.name] for line in VIEWS["curves"](record).data)
    for curve, size in zip(record.lines, sizes.SIZE.sizes, strict=True):
        (measured,) = (other for other in rates.lines if other.label == curve.label)
        rate = measured.x[measured.y.argmin()]
        assert f"{size} at × {rate:g} the usual rates" in record.note
        assert curve.x[-1] == sizes.SIZE.steps
