"""Fine-tuning as a run: what moves, what is learned, what is kept; for every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, long

import explorer as ex
from explorer.errors import ChoiceError, ExplorerError, TextError
from explorer.models import store
from explorer.models.finetuned import LAYER, FinetunedModel
from explorer.models.task_rows import AskedText, cut_row, task_row
from explorer.nn.threads import one_thread
from explorer.text.marks import MARKS
from explorer.training.finetune.labelled import Labelled, draw_labelled, flat, gold, task_named
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.targets import IGNORED, task_loss

SMALL: dict[str, Any] = {"examples": 24, "steps": 3, "checks": 0, "snapshots": 0, "asked": 12, "device": "cpu"}


def tuned(model: Any = "bert", task: str = "sentiment", **options: Any) -> FinetuneRun:
    return ex.finetune(model, task=task, **{**SMALL, **options})


def weights(run: FinetuneRun) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in run.model.module.state_dict().items()}


FAMILIES = [
    ("bert", "entities"),
    ("bert", "questions"),
    ("bert", "similarity"),
    ("gpt2", "acceptability"),
    ("bart", "sentiment"),
    ("elmo", "entities"),
    ("word2vec", "topic"),
    ("bag of words", "topic"),
]
MORE = [  # each another task of a kind that is above, or the same with another family
    ("bert", "entailment"),
    ("bart", "summary"),
    ("gpt2", "paraphrase"),
    ("gpt", "part of speech"),
    ("elmo", "paraphrase"),
    ("word2vec", "similarity"),
    ("bag of words", "entities"),
]


@LONG
@pytest.mark.parametrize(("model", "task"), [*FAMILIES, *long(*MORE)])
def test_every_family_learns_answers_and_is_kept(model: str, task: str, tmp_path: Path) -> None:
    """The loss falls on texts that are seen again and again, and the folder opens as the model that was written."""
    run = tuned(model, task, examples=8, batch=8, steps=12, schedule="constant")
    steps = list(run)
    assert steps[-1].losses["task"] < steps[0].losses["task"] and len(steps) == 12
    texts = [example.given.asked for example in run.examples]
    answers = run.model.answers(texts)
    assert len(answers) == 8 and all(
        len(example) == max(1, len(text.words)) for example, text in zip(answers, texts, strict=True)
    )
    store.write(run.model, tmp_path / "kept")
    again = ex.load(tmp_path / "kept", device="cpu")
    assert isinstance(again, FinetunedModel) and again.output == run.model.output
    assert again.answers(texts) == answers
    assert ex.load(f"{tmp_path}/kept").classify(texts[0].text if texts[0].pair is None else (texts[0].text, texts[0].pair))


@LONG
def test_a_pre_trained_model_learns_sentiment() -> None:
    run = tuned(examples=120 if ALL else 100, steps=60 if ALL else 40, asked=60)
    blind = run.blind("validation")
    list(run)
    assert run.score("validation") > blind + 0.15


@LONG
@pytest.mark.parametrize(
    ("how", "inside"),
    [("frozen", ()), ("last-1", ("layers.3.",)), ("lora", ("lora_",)), ("full", ("layers.", "embeddings.", "head.project"))],
)
def test_only_what_shall_move_moves(how: str, inside: tuple[str, ...]) -> None:
    run = tuned(how=how)
    before = weights(run)
    list(run)
    changed = {name for name, value in weights(run).items() if not torch.equal(value, before[name])}
    assert changed and all(LAYER in name or any(part in name for part in inside) for name in changed)
    assert all(any(part in name for name in changed) for part in inside)
    moving, every = run.moved
    assert every == sum(value.numel() for value in run.model.module.parameters())
    parts = dict(run.model.module.named_parameters())
    assert moving == sum(value.numel() for name, value in parts.items() if name in changed)


def test_the_model_that_is_given_stays_as_it_is() -> None:
    model = ex.load("bert", device="cpu")
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    list(tuned(model))
    list(tuned(model, how="lora"))
    after = model.module.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(value, after[name]) for name, value in before.items())


def test_scratch_has_the_shape_and_not_the_weights() -> None:
    run, usual = tuned(how="scratch", seed=1), tuned(how="full", seed=1)
    assert run.model.config == usual.model.config
    assert not torch.equal(
        run.model.module.layers[0].attention.query.weight, usual.model.module.layers[0].attention.query.weight
    )


@LONG
def test_frozen_states_are_computed_once_and_change_nothing() -> None:
    for model, task in (("bert", "entailment"), ("elmo", "paraphrase"), ("gpt2", "entities")):
        run = tuned(model, task, how="frozen")
        part = run.batch(1).examples
        known = run._known(part)
        assert known is not None
        torch.testing.assert_close(
            task_loss(run.model, part, known)["task"], task_loss(run.model, part)["task"], atol=1e-5, rtol=1e-4
        )
    assert tuned(how="last-1")._known(run.examples[:2]) is None


@LONG
@pytest.mark.parametrize("how", ["lora", *long("full", "frozen")])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(how: str, tmp_path: Path) -> None:
    whole = tuned(how=how, steps=5)
    wanted = [dict(step.losses) for step in whole]
    half = tuned(how=how, steps=5, folder=tmp_path / "run")
    actual = []
    for step in half:
        actual.append(dict(step.losses))
        if step.step == 2:
            half.stop()
    rest = tuned(how=how, steps=5, folder=tmp_path / "run")
    assert rest.step == 2
    actual += [dict(step.losses) for step in rest]
    assert actual == wanted
    last, kept = store.state(whole.model.module), ex.load(tmp_path / "run", device="cpu")
    weights = store.state(kept.module)
    assert last.keys() == weights.keys() and all(torch.equal(value, weights[name]) for name, value in last.items())
    with pytest.raises(ChoiceError, match="another run"):
        tuned(how=how, steps=6, folder=tmp_path / "run")


def test_snapshots_open_as_models_with_their_output_layer(tmp_path: Path) -> None:
    run = tuned(folder=tmp_path / "run", snapshots=2, steps=4)
    steps = list(run)
    assert [step.snapshot for step in steps if step.snapshot] == [1, 4]
    early = ex.load(tmp_path / "run", step=1, device="cpu")
    assert isinstance(early, FinetunedModel) and early.output.labels == run.model.output.labels
    assert early.classify("Anna was glad.")[0] in run.model.output.labels


def test_steps_tell_the_held_out_score_and_samples() -> None:
    (*_, last) = tuned("gpt2", "acceptability", steps=2, checks=2)
    assert set(last.metrics) == {"Matthews"} and -1 <= last.metrics["Matthews"] <= 1
    assert last.samples and " → " in last.samples[0]


def test_decoders_read_start_delim_extract_and_go_on_predicting_words() -> None:
    run = tuned("gpt2", "entailment", lm_weight=0.5)
    row = run.examples[0].rows[0]
    texts = [run.model.tokenizer.core.id_to_token(int(row.ids[n])) for n in np.flatnonzero(row.part < 0)]
    assert tuple(texts) == MARKS
    part = run.batch(1).examples
    with torch.no_grad():
        light, heavy = (task_loss(run.model, part, lm_weight=weight) for weight in (0.5, 1.0))
    assert heavy["lm"].item() == pytest.approx(2 * light["lm"].item()) and heavy["task"].item() == light["task"].item()
    (step, *_) = run
    assert set(step.losses) == {"task", "lm"}
    whole = ex.load("gpt2", device="cpu")
    assert run.model.config.vocab == whole.config.vocab + 3
    assert not any(mark in whole.tokenizer.core.get_vocab() for mark in MARKS)


def test_lm_loss_is_the_mean_of_the_next_tokens() -> None:
    run = tuned("gpt2", "sentiment", lm_weight=1.0)
    example = run.examples[0]
    with torch.no_grad():
        actual = task_loss(run.model, [example], lm_weight=1.0)["lm"].item()
        ids = torch.tensor(example.rows[0].ids)[None]
        logp = run.model.module.outputs(run.model.module(ids))["lm"].log_softmax(-1)
    wanted = -np.mean([float(logp[0, n, ids[0, n + 1]]) for n in range(ids.shape[1] - 1)])
    assert actual == pytest.approx(wanted, rel=1e-5)


def test_labels_of_words_stand_at_their_first_token() -> None:
    run = tuned("roberta", "entities", examples=6, batch=4)
    example = run.examples[0]
    row, labels = example.rows[0], run.model.output.labels
    places = row.first(example.given.asked.words).tolist()  # two marks may be one token, such as ."
    assert len(example.target) == len(row) and (example.target != IGNORED).sum() == len(set(places))
    for (start, end), tag, place in zip(example.given.asked.words, example.given.tags, places, strict=True):
        if places.count(place) > 1:
            continue
        assert labels[example.target[place]] == tag
        assert run.model.tokenizer.core.id_to_token(int(row.ids[place])).lstrip("Ġ")[0] == example.given.asked.text[start]
        assert all(example.target[n] == IGNORED for n in row.inside(start, end)[1:])


def test_answers_are_stretches_of_the_text() -> None:
    run = tuned("bert", "questions")
    example = run.examples[0]
    first, last = example.target
    offsets, text = example.rows[0].offsets, example.given.asked.pair or ""
    assert text[offsets[first][0] : offsets[last][1]] == example.given.label
    assert all(answers[0] in (texts.given.asked.pair or "") for texts, answers in zip(
        run.examples, run.model.answers([example.given.asked for example in run.examples]), strict=True))  # fmt: skip


def test_a_fine_tuned_model_is_traced_and_says_its_classes() -> None:
    run = tuned()
    list(run)
    record = ex.trace(run.model, "Anna was glad.")
    assert record.source.texts[0] == "[CLS]" and record.residual < 1e-5
    scores = run.model.outputs("Anna was glad.")["labels"]
    chances = run.model.probabilities(["Anna was glad."])[0]
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(), chances, atol=1e-6)
    assert run.model.classify(["Anna was glad."]) == [run.model.output.labels[int(chances.argmax())]]
    tags = tuned("bert", "entities").model.classify("Anna lives in Bern.")[0]
    assert [word for word, _ in tags] == ["Anna", "lives", "in", "Bern", "."]


@SAMPLED
@pytest.mark.parametrize("given", ["", " ", 5, [5], ("a", "b", "c"), ["fine", ""], ("a", "")])
def test_what_is_no_text_is_said(given: Any) -> None:
    with pytest.raises(TextError, match="Give a text, a pair of texts in a tuple, or a list of them"):
        tuned().model.classify(given)


def test_bags_count_words() -> None:
    run = tuned("bag of words", "topic")
    layer, vocab = run.model.layer, run.model.tokenizer.vocabulary.size
    ids = torch.tensor([[5, 6, 5, 0]])
    counted = layer.pooled(ids[..., None], torch.tensor([[True, True, True, False]]))
    assert counted.shape == (1, vocab)
    assert counted[0, 5].item() == pytest.approx(np.log(3)) and counted[0, 6].item() == pytest.approx(np.log(2))
    assert counted.sum().item() == pytest.approx(np.log(3) + np.log(2), rel=1e-5)


def test_tasks_are_drawn_by_split_and_seed() -> None:
    for name in ("sentiment", "acceptability", "paraphrase", "similarity", "questions", "entities", "summary"):
        task = task_named(name)
        first, same, other = (
            draw_labelled(task, 20, "train", 7),
            draw_labelled(task, 20, "train", 7),
            draw_labelled(task, 20, "train", 8),
        )
        assert first == same and len(first) == 20 and not {x.asked for x in first} & {x.asked for x in other}
        assert not {x.asked for x in first} & {x.asked for x in draw_labelled(task, 20, "test", 7)}
    labels = [first.label for first in draw_labelled(task_named("paraphrase"), 40, "train")]
    assert labels.count("same") == labels.count("different")


def test_tags_of_two_texts_are_kept_apart() -> None:
    texts = tuple(Labelled(AskedText("Anna", words=((0, 4),)), tags=("B-PER",)) for _ in range(2))
    assert gold(texts) == ("B-PER", "O", "B-PER", "O") == flat([("B-PER",), ("B-PER",)], tagged=True)


def test_long_texts_are_refused_cut_or_left_out() -> None:
    task = task_named("sentiment")
    short = draw_labelled(task, 12, "train")
    long = Labelled(AskedText("Anna was glad. " * 60), "glad")
    with pytest.raises(TextError, match="1 of 13 texts have more than the 128 tokens"):
        tuned(examples=(*short, long), too_long="error")
    assert len(tuned(examples=(*short, long)).examples) == 12
    cut = tuned(examples=(*short, long), too_long="cut").examples
    assert len(cut) == 13 and len(cut[-1].rows[0]) == 128
    row = task_row(ex.load("bert").tokenizer, "one two three", "four")
    assert cut_row(row, len(row) - 2).part.tolist().count(0) == row.part.tolist().count(0) - 2


@SAMPLED
@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("bert", {"task": "sentimant"}, "Did you mean 'sentiment'"),
        ("bert", {"task": "roles"}, "asks about 2 places"),
        ("bert", {"task": "summary"}, "Choose bart or t5"),
        ("bart", {"task": "entities"}, "not with a tag for each word"),
        ("elmo", {"task": "questions"}, "does not read question and text together"),
        ("spanbert", {"task": "entailment"}, "cannot read a pair"),
        ("bert", {"how": "lora-ish"}, "Did you mean 'lora'"),
        ("bert", {"how": "last-9"}, "names too many"),
        ("bert", {"how": "last-k"}, "how many layers move"),
        ("elmo", {"how": "lora"}, "no attention layers"),
        ("bart", {"how": "frozen"}, "leaves nothing to move"),
        ("bert", {"lm_weight": 0.5}, "only a decoder"),
        ("bert", {"rate": -1}, "must be a number"),
        ("bert", {"steps": 0}, "must be a whole number"),
        ("bert", {"examples": 0}, "must be a whole number"),
        ("bert", {"examples": 1}, "one label only"),
        ("bert", {"rank": 0}, "must be a whole number"),
        ("bert", {"colour": 1}, "no setting of finetune"),
        ("bert", {"too_long": "burn"}, "too_long"),
    ],
)
def test_what_cannot_be_learned_is_said_before_the_first_step(model: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExplorerError, match=message):
        tuned(model, **{"task": "sentiment", **options})


def test_a_small_model_learns_with_one_thread_and_a_large_one_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads wait for each other after every layer; on a busy machine a step then takes twenty times as long."""
    seen, states = [], FinetunedModel.states
    monkeypatch.setattr(FinetunedModel, "states", lambda *given: (seen.append(torch.get_num_threads()), states(*given))[1])
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run = ex.finetune("bert", task="sentiment", examples=8, steps=1, checks=0, snapshots=0, device="cpu")
        list(run)
        run.model.classify(["Anna was happy."])
        assert seen and set(seen) == {1} and torch.get_num_threads() == 2
        with one_thread(torch.nn.Linear(3000, 3000)):
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
