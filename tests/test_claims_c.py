"""What pages, captions and the tour say: every claim here was wrong or too wide at the third reading."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import explorer as ex
from explorer.app import glossary
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.families import parts as families
from explorer.app.lessons.finetuning import questions as finetuning
from explorer.app.lessons.heads import behaviour_questions as behaviour
from explorer.app.lessons.training import parts as training
from explorer.app.lessons.training.systems_questions import IDEAS
from explorer.app.lessons.whatif import questions as whatif
from explorer.app.lessons.whatif.edits import EDITS
from explorer.app.lessons.whatif.faults import NAMES
from explorer.app.prose import prose
from explorer.app.tour_steps import STEPS
from explorer.corruption.strategies import STRATEGIES, entry_of
from explorer.models.transformer import TransformerModel
from explorer.nn.positions import POSITIONS
from explorer.views import VIEWS
from explorer.views.board.stations import STATIONS

RUNS = {name: path for name, held in ex.models().items() if (path := held.folder / "run.json").is_file()}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_masking_rates_of_a_training_are_those_of_its_plan(name: str) -> None:
    plan = json.loads(RUNS[name].read_text("utf-8"))["plan"]
    first, last = plan.get("mask_rate_first"), plan.get("mask_rate")
    said = training.hiding(plan)
    assert re.findall(r"\d+%", said) == ([f"{first:.0%}", f"{last:.0%}"] if first and first != last else [])


def test_what_electra_says_of_its_random_tokens_is_what_its_plan_did() -> None:
    plan = json.loads(RUNS["electra"].read_text("utf-8"))["plan"]
    last = round(plan["random_until"] * plan["steps"])
    assert f"Until step {last:,} some of the replaced tokens are random" in training.said_of(plan, "replaced")
    assert plan["teacher"] is None and plan["random_until"] == 0.2 and "In the first fifth" in IDEAS["electra"].says
    assert training.replacing({"steps": 4}) == ""


def test_no_text_repeats_a_masking_rate_that_only_a_plan_knows() -> None:
    """The shipped BERT may be trained again by another plan; 15 % is the published rate, and that of every check."""
    texts = [entry_of(name).says for name in STRATEGIES] + [" ".join(VIEWS["training"].caption.split())]
    texts += [" ".join(row) for row in prose("training").rows("slides")]
    assert all("50 %" not in text for text in texts)


def test_a_sum_of_damages_may_add_up_and_the_caption_says_so() -> None:
    assert "The effects need not add up" in VIEWS["damage"].caption
    assert "nearly adds up" in whatif.ADDS[1]


def test_a_line_through_the_weights_proves_no_barrier_and_no_wide_minimum() -> None:
    caption = VIEWS["along"].caption
    assert "barrier" not in caption and "wide minimum" not in caption and "along this line" in caption


def test_grouped_keys_are_said_of_the_version_that_has_them_and_of_the_model_that_is_shown() -> None:
    config = ex.load("llama", device="cpu").config
    assert 0 < config.kv_heads < config.heads
    assert "from version 2 (70B) on" in IDEAS["llama"].says and "as here" in IDEAS["llama"].says


def test_what_is_made_large_and_what_is_made_small_in_fine_tuning_are_told_apart() -> None:
    """The formula of the slide has no minus; the losses of the pictures are positive."""
    assert "made large" in prose("finetuning")("symbols") and "minus sign" in prose("finetuning")("symbols")
    model = ex.load("gpt2", device="cpu")
    found = ex.training.compare_ways(model, task="new words: kind", ways=["frozen"], examples=25, steps=1, device="cpu")
    assert (found.loss > 0).all()


def test_pre_training_is_praised_only_for_what_the_tasks_ask() -> None:
    record = ex.result("labels")
    assert (
        all(task.startswith("new words") for task in record.tasks) and finetuning.NEW in finetuning.label_question(record).why
    )
    other = replace(record, tasks=("sentiment", *record.tasks[1:]))
    assert finetuning.NEW not in finetuning.label_question(other).why


def test_the_best_head_is_put_beside_what_the_model_does_by_the_cards() -> None:
    found = behaviour.measured()
    cards = {name: (ex.models()[name].folder / "CARD.md").read_text("utf-8") for name in found}
    assert {name for name, (*_, taught) in found.items() if taught} == {"bert-told"}
    for name, (_, head, _) in found.items():
        assert f"| {behaviour.HEAD} (validation) | " in cards[name] and f"{head:.3f}" in cards[name]
    asked = behaviour.head_question(found)
    best = max((name for name, (*_, taught) in found.items() if not taught), key=lambda name: found[name][0])
    assert asked.question.startswith(best) and f"{found[best][1]:.0%}" in asked.why
    assert len(behaviour.rows(found)) == len(found) and behaviour.rows(found)[0]["model"].startswith(best)


def test_who_resolves_it_is_answered_by_the_cards() -> None:
    found = behaviour.paired()
    assert set(found) == set(behaviour.RESOLVING)
    for name, figures in found.items():
        card = (ex.models()[name].folder / "CARD.md").read_text("utf-8")
        for kind, value in zip(behaviour.PAIRED, figures, strict=True):
            assert (f"| {kind} (validation) | " in card) == (value == value) and (value != value or f"{value:.3f}" in card)
    asked = behaviour.who_question(found)
    can = {name for name, figures in found.items() if min(value for value in figures if value == value) > 0.25}
    assert asked.answer in asked.options and {name for name in found if name in asked.answer.split()} == can
    assert behaviour.who_question({"a": (0.0, 0.1, 0.2), "b": (0.3, 0.2, 0.4)}).answer == "none of them"
    every = {name: (0.9, 0.9, 0.9) for name in "abc"}
    assert behaviour.who_question(every).answer == behaviour.ALL in behaviour.who_question(every).options
    assert behaviour.who_question({"a": (0.3, 0.9, float("nan")), "b": (0.1, 0.2, 0.4)}).answer == "only a"


@pytest.mark.parametrize(("head", "answer"), [(0.5, 0), (0.7, 1), (0.9, 2)])
def test_the_answer_about_the_best_head_follows_its_figure(head: float, answer: int) -> None:
    asked = behaviour.head_question({"one": (0.9, head, False), "other": (0.95, 1.0, True)})
    assert asked.answer == asked.options[answer] and asked.question.startswith("one") and "other" in asked.why


def test_nothing_said_of_heads_is_refuted_by_another_model_here() -> None:
    """*The small models have no such heads* was wrong once one of them had learned reasons."""
    said = " ".join(
        (
            prose("heads")("behaviour"),
            prose("heads")("behaviour: conclusion"),
            *(" ".join(row) for row in prose("heads").rows("slides")),
        )
    )
    assert "Clark et al. 2019" in said and "have none" not in said and "no such heads" not in said


def test_the_tour_shows_a_translation_that_keeps_its_negation() -> None:
    step = next(step for step in STEPS if step.part == "cross-attention")
    model = ex.load("transformer", device="cpu")
    tokens = model.tokens(step.choices["text"])
    assert not any(tokens.unseen or ())
    *_, last = ex.decode(model, step.choices["text"], max_tokens=32, candidates=0, cross=False)
    assert "n'a pas traversé" in model.tokenizer.decode(last.ids)


def test_words_with_another_meaning_than_the_glossary_s_are_not_explained() -> None:
    assert "glossary#mask" not in glossary.explained("Mask too little and each text teaches little; mask too much, and …", {})
    assert all("glossary#norm" not in glossary.explained(VIEWS[name].caption, {}) for name in ("order", "residual-stream"))


def test_half_of_the_pairs_follow_each_other_as_the_lab_and_the_tour_say(bert: TransformerModel) -> None:
    others = ex.microworld.texts(20, 3, "validation")
    made = [ex.corrupt(corruption.STORY, "nsp", tokenizer=bert.tokenizer, corpus=others, seed=n) for n in range(80)]
    follows = sum(one.labels["nsp"][0] == 0 for one in made)
    assert 25 <= follows <= 55
    assert "half of the pairs B follows A" in prose("corruption")("two texts")
    assert any("half of the pairs follow each other" in step.know for step in STEPS)


def test_every_symbol_of_the_schemes_is_named_beside_its_formula() -> None:
    said = {name: POSITIONS[name].says(trained=False) for name in ("sinusoidal", "alibi")}
    assert all(f"${symbol}$" in said["sinusoidal"] for symbol in ("p", "i", "d"))
    assert all(f"${symbol}$" in said["alibi"] for symbol in ("i", "j", "m"))


def test_the_spread_of_a_sum_of_products_grows_as_the_root_of_their_number_as_the_board_says() -> None:
    rng = np.random.default_rng(0)
    for d in (16, 64, 256):
        sums = (rng.normal(size=(20_000, d)) * rng.normal(size=(20_000, d))).sum(axis=1)
        assert sums.std() == pytest.approx(np.sqrt(d), rel=0.05)
    assert "grows as √{d}" in STATIONS["scale"].says


def test_scores_are_divided_by_the_root_of_the_width_of_a_head_wherever_it_is_written() -> None:
    """√d without its k was the root of another number on a page that calls the width of the model d."""
    said = [part for station in STATIONS.values() for part in (station.name, station.formula, station.says)]
    said += [text for view in VIEWS.values() for text in (view.title, view.caption)] + list(EDITS) + list(NAMES)
    said += [line.label for line in ex.result("scale").lines] + [ex.result("scale").title, ex.NoScale("encoder").label]
    assert not [text for text in said if re.search(r"√d(?![_ₖ])", text)]
    trace = ex.trace(ex.load("bert", device="cpu"), "The dog saw the cat.", blocks=True)
    d = trace.attention[0].q.shape[-1]
    assert trace.attention[0].scale == pytest.approx(d**-0.5) and d < trace.hidden["encoder"].shape[-1]


def test_the_board_names_the_biases_of_its_products() -> None:
    """x · W_Q alone is another number: test_claims measures by how much."""
    assert all("b_" in STATIONS[name].formula for name in ("qkv", "crossed", "wo"))
    ledger = (Path(ex.__file__).parent / "views" / "board" / "js" / "ledger.js").read_text("utf-8")
    assert all(f"of W_{which}, + bias" in ledger for which in "QKVO")


def test_small_probabilities_are_written_as_numbers_not_in_millionths() -> None:
    """An axis of probabilities said 100µ."""
    model = ex.load("transformer", device="cpu")
    record = ex.analysis.smoothed_targets(model, "The dog was tired.", target="Le chien était fatigué.")
    assert VIEWS["smoothed-targets"](record).layout.xaxis.exponentformat == "none"


def test_the_board_of_the_translation_opens_where_a_row_reads_the_source_as_the_tour_says() -> None:
    """It opened at the decoder's own attention, whose columns are the words that were written."""
    step = next(step for step in STEPS if step.part == "cross-attention")
    assert "Which word of the source the row reads" in step.look
    trace = families.translated(step.choices["text"]).run()
    begin = families.source_first()
    _, columns = trace.axes(begin["stream"])
    assert "".join(columns.texts).replace("·", " ").strip().startswith(step.choices["text"])
    page = Path(ex.__file__).parent / "app" / "lessons" / "families" / "page.py"
    assert "first=parts.source_first()" in page.read_text("utf-8")
    cross = [one for one in trace.attention if one.stream == "cross"]
    assert begin["layer"] == cross[-1].layer
    rows, most = trace.axes("cross")[0].texts, cross[-1].weights[0].argmax(1)
    assert "river" in columns.texts[most[rows.index("·la")]], "the row that predicts “rivière” reads “river”"
