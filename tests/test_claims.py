"""What the pages say of models, records and counts: every claim here was wrong once. The numbers are pinned, not the words."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, some, unmarked
from opening import opened
from streamlit.testing.v1 import AppTest
from transformers import BertConfig, BertForPreTraining

import explorer as ex
from explorer.app import controls, lectured
from explorer.app.controls import result_of
from explorer.app.exercises import table_row
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.attention import questions as attention_questions
from explorer.app.lessons.elmo import parts as elmo_parts
from explorer.app.lessons.elmo import questions as elmo
from explorer.app.lessons.finetuning import questions as finetuning
from explorer.app.lessons.heads import behaviour_questions as behaviour
from explorer.app.lessons.heads import questions as heads
from explorer.app.lessons.training import data_questions as data
from explorer.app.lessons.training import parts as training_parts
from explorer.app.lessons.training import questions as training_questions
from explorer.app.lessons.training import systems
from explorer.app.lessons.whatif.edits import EDITS
from explorer.app.lessons.whatif.faults import NAMES
from explorer.app.prose import prose
from explorer.models.card_figures import shipped_figures
from explorer.models.run_folder import described
from explorer.models.transformer import TransformerModel
from explorer.nn.attention import MultiHeadAttention
from explorer.records import Saturation, TrainingStep
from explorer.training.corpora import CORPORA
from explorer.training.finetune.task import LabelledExample, Questions, TokenPosition
from explorer.training.interpolation import fresh
from explorer.views import VIEWS
from explorer.views.board.stations import STATIONS
from explorer.views.theme import unseen_note
from studies import model_cards, recipes
from studies.mixes import features

ROOT = Path(__file__).parent.parent
RUNS = {name: path for name, stored in ex.models().items() if (path := stored.folder / "run.json").is_file()}


def card_of(name: str) -> str:
    return (ex.models()[name].folder / "CARD.md").read_text("utf-8")


def plan_of(name: str) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(RUNS[name].read_text("utf-8"))["plan"]
    return plan


def texts_of(at: AppTest) -> str:
    return unmarked(" ".join(block.value for block in at.markdown))


def test_only_wordpiece_is_given_letters_that_its_texts_do_not_have() -> None:
    assert not {*"z0123456789"} & {*" ".join(ex.text.classroom.toys(600))}
    for name, lost in (("wordpiece", False), ("bpe", True)):
        tokenizer = ex.text.classroom.shelf()[name]
        assert (tokenizer.vocabulary.unknown in tokenizer.encode("z 3", special=False).ids) is lost


@pytest.mark.parametrize("page", sorted(LESSONS))
def test_rows_of_slides_name_a_deck_and_no_cell_is_cut_by_a_bar(page: str) -> None:
    """A row corrects a slide, so it names a deck; a | ends a cell, inside a formula as well."""
    rows = prose(page).rows("slides")
    assert all(table_row(row).count("|") == 4 and re.match(r"(L[0-4]|all\b)", row[0]) for row in rows)
    assert table_row(("$P(k|a)$", "x")) == r"| $P(k\vert a)$ | x |"


def test_what_is_said_of_a_trained_t5_is_said_of_the_stack_whose_numbers_are_shown() -> None:
    model = ex.load("t5", device="cpu")
    shown = ex.places(model).scores[:, 5, :6]
    biases = {stream: ex.trace(model, "a " * 20, target="a " * 20).at(stream, 0).bias for stream in ("encoder", "decoder")}
    nearer = [name for name, bias in biases.items() if bias is not None and np.allclose(bias[:, 5, :6], shown, atol=1e-5)]
    assert nearer == ["encoder"]


def test_the_picture_of_shuffled_words_says_where_its_two_halves_are(bert: TransformerModel) -> None:
    figure = VIEWS["order"](ex.shuffle(bert, "The dog saw the cat."))
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1], "above with positions, below without"


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_queries_and_keys_are_a_product_and_a_bias_and_their_scores_one_matrix_of_the_stream(name: str) -> None:
    """x W_Q W_Kᵀ xᵀ, with the terms of the biases, is the model's q·k; its matrix has rank d_k."""
    model = ex.load(name, device="cpu")
    trace = ex.trace(model, "The dog saw the cat.", blocks=True)
    block, attention = trace.block(model.family, 0, "attention"), trace.at(model.family, 0)
    x = (block.normed if block.place == "pre" else block.given).astype(np.float64)
    layer = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention))
    q, k = ((part.weight.detach().double().numpy(), part.bias.detach().double().numpy()) for part in (layer.query, layer.key))
    product, shift = ((y.reshape(-1, attention.heads, len(x[0]) // attention.heads).swapaxes(0, 1)) for y in (x @ q[0].T, q[1]))
    np.testing.assert_allclose(product + shift, attention.q, atol=1e-4)
    assert np.abs(product - attention.q).max() > 0.01, "without the bias it is another number"
    d = attention.q.shape[-1]
    form = q[0][:d].T @ k[0][:d]
    scores = x @ form @ x.T + (x @ q[0][:d].T @ k[1][:d])[:, None] + x @ k[0][:d].T @ q[1][:d] + q[1][:d] @ k[1][:d]
    seen = np.ones_like(scores, bool) if attention.allowed is None else attention.allowed
    np.testing.assert_allclose(scores[seen], attention.stage("scores", 0)[seen], atol=1e-3)
    assert np.linalg.matrix_rank(form) == d < form.shape[0]
    assert all(f"b_{which}" in STATIONS[at].formula for which, at in (("Q", "qkv"), ("K", "qkv"), ("V", "qkv"), ("O", "wo")))


@LONG
@pytest.mark.parametrize(("name", "supervised"), [("bert-told", True), ("bert", False)])
def test_a_supervised_head_is_called_supervised_and_visible_tokens_are_explained(name: str, supervised: bool) -> None:
    texts = " ".join(texts_of(opened("heads", model=name, part=part)) for part in ("many-texts", "lens"))
    assert (prose("heads")("supervised") in texts) is supervised and prose("heads")("visible") in texts


def test_chance_over_the_heads_is_not_rounded_to_nothing(bert: TransformerModel) -> None:
    trace = ex.trace(bert, "The animal didn't cross the street because it was too tired.")
    question, many = heads.pointing_question(trace), bert.config.layers * bert.config.heads
    assert question is not None and f"by chance, about {many / len(trace.source):.1f} of {many} would" in question.why


def test_the_caption_of_curves_holds_for_intervals_and_for_arithmetic(gpt2: TransformerModel) -> None:
    """Bars may be intervals, and what a layer costs was measured on no model at all."""
    assert VIEWS["costs"].fits(ex.result("scale")), "what was measured is no calculation"
    record = ex.analysis.exposure_bias(gpt2, ex.microworld.texts(20, 1, "validation"), count=2)
    assert not VIEWS["exposure"].fits(record.curves) and VIEWS["exposure"].fits(ex.result("scale"))


def test_t5_does_not_divide_its_scores_and_starts_with_smaller_queries() -> None:
    """By the root of the width of a head."""
    shipped = ex.load("t5", device="cpu")
    trace = ex.trace(shipped, "The dog saw the cat.", target="The dog.")
    assert {attention.scale for attention in trace.attention} == {1.0}
    model = ex.build("t5", tokenizer=shipped.tokenizer, device="cpu")
    layer = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention))
    query, key = (part.weight.detach().std().item() for part in (layer.query, layer.key))
    assert query / key == pytest.approx((model.config.dim / model.config.heads) ** -0.5, rel=0.05)


def test_the_models_do_what_the_warning_beside_the_lecture_s_sentence_says() -> None:
    """With either reason, however it is written: where the supervised head attends, and what BERT fills in. The words are known."""
    told, bert = (ex.load(name, device="cpu") for name in ("bert-told", "bert"))
    for text in (controls.LECTURED, controls.LECTURED.replace("tired.", "wide").replace("didn't", "did not")):
        warning, trace = lectured.expected_of(text), ex.trace(told, text)
        row = trace.attention[-1].weights[0, trace.source.texts.index("it")]
        assert f"here to *{trace.source.texts[int(row.argmax())]}*." in warning
        tokens = bert.tokens(text.replace(" it ", " the [MASK] "))
        chances = torch.softmax(torch.tensor(bert.logits(tokens))[tokens.texts.index("[MASK]")].double(), -1)
        for noun in ("animal", "street"):
            assert f"*{noun}* {float(chances[bert.tokens(noun).ids[1]]):.2f}" in warning
    for name in ("bert", "bert-told", "gpt2", "bart", "t5", "transformer"):
        assert not unseen_note(ex.load(name, device="cpu").tokens(SENTENCE)), name


@pytest.mark.parametrize(("lesson", "part"), [("attention", "walk"), ("heads", "board"), ("families", "input")])
def test_the_lecture_s_sentence_is_among_those_to_try_and_so_is_the_opening_one(lesson: str, part: str) -> None:
    at = opened(lesson, part=part)
    assert at.text_input(key="text").proto.default == SENTENCE and not at.info
    at.session_state[f"can.{at.selectbox[0].value}"] = True
    at = at.run().button(key="can.The lecture's sentence").click().run()
    assert at.text_input(key="text").value == controls.LECTURED and any(
        lectured.expected_of(controls.LECTURED) in widget.value for widget in at.info
    )
    at = at.button(key="can.The opening sentence").click().run()
    assert at.text_input(key="text").value == SENTENCE and not at.exception


@LONG
@pytest.mark.usefixtures("unfolded")
def test_an_encoder_s_visible_tokens_are_explained_at_both_lenses_and_the_gradient_hides_one() -> None:
    note, hidden = prose("heads")("visible"), opened("heads", part="gradients")
    assert note in texts_of(opened("heads", part="lens"))
    assert note in texts_of(opened("families", part="residual-stream", model="bert", inside="A lens on every layer"))
    assert not hidden.exception and note not in texts_of(hidden)
    assert any("The [MASK] did not cross" in block.value for block in hidden.code)
    assert note in texts_of(hidden.toggle(key="gradient.hide").set_value(False).run())


def test_the_rows_of_a_decoder_are_not_taken_for_those_of_its_source(bert: TransformerModel) -> None:
    bart = ex.load("bart", device="cpu")
    title = VIEWS["sightlines"](
        (ex.visibility(bert, SENTENCE), ex.visibility(bart, SENTENCE, target=SENTENCE))
    ).layout.title.text
    assert "bart (decoder to source): 100%" in title and "bert: 100%" in title


def test_what_pages_say_of_how_models_were_trained_is_what_their_plans_did() -> None:
    four = [described(ex.models()[name].folder)["plan"] for name in ("elmo", "bert", "gpt", "bart")]
    assert [plan["corpus"]["name"] for plan in four] == [f"microworld-2.{part}:240000" for part in (0, 2, 0, 0)]
    assert len({plan["steps"] for plan in four}) > 1
    starts = {name: ex.load(name, device="cpu").config.tables for name in ("bert", "gpt2", "bart")}
    assert starts == {"bert": "sines", "gpt2": "sines", "bart": "random"}, "tables of positions"
    assert plan_of("bert")["mask_rate"] > 0.15 and "%" not in prose("heads")("visible"), "no published rate is said of it"
    config = ex.load("llama", device="cpu").config
    assert 0 < config.kv_heads < config.heads
    optimisers = {name: "adamw" if name in ("word2vec", "glove") else "muon" for name in RUNS}
    assert {name: plan_of(name)["optimiser"] for name in RUNS} == optimisers
    electra = plan_of("electra")
    until = f"Until step {round(electra['random_until'] * electra['steps']):,} some of the replaced tokens are random"
    assert until in training_parts.said_of(electra, "replaced") and training_parts.replacing({"steps": 4}) == ""
    assert electra["teacher"] is None and electra["random_until"] == 0.2


def test_a_stream_of_pre_norm_mostly_grows_and_post_norm_rescales_every_sum(
    gpt2: TransformerModel, bert: TransformerModel
) -> None:
    """*The stream only grows* was wrong: a vector that is added may point against it."""
    pre, post = (ex.trace(model, SENTENCE, blocks=True).blocks for model in (gpt2, bert))
    grown = [np.linalg.norm(block.total, axis=-1) > np.linalg.norm(block.given, axis=-1) for block in pre]
    assert 0.5 < np.mean(grown) < 1
    assert all(np.array_equal(later.given, block.total) for block, later in pairwise(pre)), "nothing rescales it"
    assert all(np.array_equal(later.given, block.normed) for block, later in pairwise(post))
    for block in post:
        np.testing.assert_allclose(block.norm_input, block.total, atol=1e-6)


def test_figures_of_systems_are_those_of_the_card_of_the_shipped_seed(bert: TransformerModel) -> None:
    card, electra = (shipped_figures(ex.models()[name].folder) for name in ("bert", "electra"))
    assert (card["nsp accuracy"], card["nsp, shared-name rule"], electra["replaced f1"]) == (0.582, 0.540, 0.613)
    rows = [{"asked to": "classify", "answers": "the second follows the first: 9%"}]
    assert "58.2%" in training_questions.classify_note(rows, card) and "wrong" in training_questions.classify_note(rows, {})
    assert not training_questions.classify_note([{"asked to": "classify", "answers": "(not possible: …)"}], card)
    assert all(part in training_questions.longer(card) for part in ("78%", "larger and trained longer"))
    assert sum(part.numel() for part in bert.module.parameters()) > 4 * ex.result("objectives").weights[0]


@pytest.mark.parametrize("name", ["gpt2", "llama", "olmo"])
def test_a_perplexity_is_shown_for_new_words_too(name: str) -> None:
    figures, seed = model_cards.figures(card_of(name)), plan_of(name)["seed"]
    rows = ("perplexity (validation)", "perplexity (test)", "4-gram perplexity (test)")
    known, new, counted = (figures[row][seed] for row in rows)
    text = training_questions.new_words(*(shipped_figures(ex.models()[name].folder, split) for split in ("validation", "test")))
    assert f"{known:.3g}" in text and f"**{new:.3g}** (4-gram {counted:.3g})" in text
    assert ("worse than counting" in text) == (new > counted) and training_questions.new_words({"perplexity": 2.0}, {}) == ""


def test_published_models_are_about_a_hundred_times_larger(bert: TransformerModel) -> None:
    ours, sizes = sum(part.numel() for part in bert.module.parameters()), {name: weights for name, weights, *_ in data.SCALE}
    assert all(70 < sizes[name] / ours < 140 for name in ("GPT", "BERT base")) and 225 < 335_141_888 / ours < 275
    assert 393_000 / int(ex.result("miniglue").note.split()[0]) == pytest.approx(2000, rel=0.05)


@pytest.mark.parametrize("name", sorted(training_parts.kept()))
def test_half_way_through_its_last_training_a_model_has_the_rate_that_it_wrote_down(name: str) -> None:
    """A model that was trained further has the steps of both trainings, and the schedule of the second."""
    steps, begun, now = training_parts.read_steps(name), training_parts.begun(name), training_parts.halfway(name)
    assert bool(begun) == (name in ("bert", "gpt2", "t5-tasks", "transformer")) and begun < now < steps[-1].step
    said = result_of(training_parts.schedule_of(training_parts.kept()[name], now - begun))
    near = min((step for step in steps if step.rate and step.step > begun), key=lambda step: abs(step.step - now))
    shares = said.shares[said.names.index(said.chosen)]
    last = steps[-1].step - begun
    assert float(np.interp(near.step - begun, said.at, shares)) == pytest.approx(near.rate, abs=0.02 + 3 / last)
    assert list(said.at).index(said.now) >= 0 and said.now == now - begun


@pytest.mark.parametrize("name", some(sorted(training_parts.kept()), *sorted(training_parts.kept())[::3]))
def test_the_first_loss_is_explained_as_it_was(name: str) -> None:
    step = next(iter(training_parts.read_steps(name)))
    vocabulary = ex.load(name, device="cpu").tokenizer.vocabulary.size
    question = training_questions.first_question((step,), vocabulary, systems.teacher_of(name))
    if name == "distilbert":
        assert "copied" in question.why and "random" not in question.question and question.answer == "far below ln |V|"
    elif name != "induction":
        assert question.answer == f"ln |V| = {np.log(vocabulary):.2f}"
    assert ("is higher" in question.why) == name.startswith("t5")  # it scores with large embeddings


@LONG
def test_new_texts_are_of_the_world_that_a_training_read(bert: TransformerModel) -> None:
    folders = {training_parts.plan(folder)["corpus"]["name"]: folder for folder in training_parts.kept().values()}
    for corpus, folder in folders.items():
        if corpus.startswith("microworld") and "+" not in corpus:
            version = corpus.partition(":")[0].partition("-")[2] or "1.0"
            expected = list(ex.microworld.stories(2, 2, "test", version=version))
            assert fresh(training_parts.corpus_of(folder), 2) == expected, corpus
    assert len(fresh("english-french-2.2:9", 9)) == 9
    with pytest.raises(ex.ExplorerError, match="no longer made"):
        fresh("english-french:9", 9)  # a plan without a version means the first
    assert fresh("microworld+repeats", 3) == CORPORA["microworld+repeats"]().held(3, "test").texts
    texts = ex.microworld.texts(300, 1, version="2.2")  # as bert read them last
    each = np.mean([len(bert.tokenizer.encode(text).ids) for text in texts])
    cost = training_parts.budget(training_parts.shelf()["bert"], 1000)
    assert cost.pieces / 1000 / plan_of("bert")["batch"] == pytest.approx(each, rel=0.2), (
        "tokens of a text; pairs are cut from longer ones"
    )


def test_a_loss_is_drawn_only_where_it_was_asked_for() -> None:
    steps, first = training_parts.read_steps("bert"), recipes.EVERY["bert-first"].options
    paired = next(step.step for step in steps if step.losses["nsp"])
    assert paired > first["pairs_after"] * first["steps"] == 16_800
    drawn = {line.name: line for line in VIEWS["training"](steps).data}
    for name in ("nsp", "nsp, each batch"):
        assert drawn[name].x[0] == paired and min(drawn[name].y) > 0, "a loss of 0 would be a model that is always right"
    assert 0.1 < drawn["nsp"].y[0] < math.log(2) + 0.1, "between a coin and what it learns"
    assert drawn["mlm"].x[0] == drawn["sum: mlm + nsp"].x[0] == 1
    never = tuple(TrainingStep(n, {"mlm": 1.0, "nsp": 0.0}, 1.0) for n in (1, 2))
    assert not len({line.name: line for line in VIEWS["training"](never).data}["nsp"].x)


def test_the_note_on_the_line_names_its_masking_rate() -> None:
    assert training_parts.line_rate("bert") == 0.15 and math.isnan(training_parts.line_rate("gpt2"))
    for corpus, rate, new in (("microworld-2.0", 0.15, True), ("microworld", 0.15, True), ("toy", math.nan, False)):
        note = training_questions.line_note(corpus, rate)
        assert (("never occurred" in note), ("15%" in note)) == (new, new), corpus
    assert "never occurred" not in training_questions.line_note("english-french", 0)


def test_a_tie_of_the_mix_is_no_gain() -> None:
    measured = ex.result("mixes")
    assert not (elmo.gained(measured) > 0).all(axis=1).any(), "for no task does the interval lie above every layer"
    question = elmo.use_question(measured)
    assert question.answer == "for none" and "part of speech" not in question.why.split(".")[0]
    rows = {row.split("|")[8].split(",")[0].strip(): row for row in elmo.compared(measured).splitlines()[2:]}
    for n, task in enumerate(measured.tasks):
        _, low, high = measured.gains[n, elmo.BASE]
        assert task not in rows or ("a tie" in rows[task]) == (low <= 0 <= high), task
    assert "a tie" in rows["entailment"] and "a tie" not in rows["roles"]


def test_a_fair_baseline_of_word_senses_is_about_layer_0() -> None:
    measured, task = ex.result("mixes"), ex.tasks()["word sense"]
    n = measured.tasks.index("word sense")
    assert measured.blind[n] < 0.005
    sizes = ((300, "train"), (150, "test"))
    train, test = ([(label.split(".")[0], label) for label in task.make(*size).labels] for size in sizes)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, label in train:
        counts[word][label] += 1
    right = [counts[word].most_common(1)[0][0] == label for word, label in test if word in counts]
    assert np.mean(right) == pytest.approx(measured.intervals[n, elmo.BASE, 0], abs=0.05), "as good as words without context"
    assert elmo_parts.per_word() == (pytest.approx(np.mean(right)), len(right))


def test_layer_0_of_a_sentence_is_the_mean_of_its_words_whatever_their_order() -> None:
    """So the bar of layer 0 is the baseline without context; the LSTM layers read the order."""
    words = ["the", "old", "king", "sold", "a", "small", "boat"]
    texts = (" ".join(words), "boat small a sold king old the", *words)
    labels = tuple(LabelledExample((TokenPosition(n, 0, len(text)),), "x") for n, text in enumerate(texts))
    first, other, *each = features(ex.load("elmo", device="cpu"), Questions(texts, labels))[:, 0]
    np.testing.assert_allclose(first[0], other[0], atol=1e-5)
    assert all(np.abs(first[layer] - other[layer]).max() > 0.01 for layer in (1, 2))
    np.testing.assert_allclose(first[0], np.mean([layers[0] for layers in each], axis=0), atol=1e-5)


RECORDED = {"elmo": "crossed mixes tagging", "finetuning": "labels finetuning-rates miniglue", "decoding": "blank-pairs"}
RECORDED |= {"training": "rates rates-senses signal left-out next-sentence masks rates-decoder sizes-decoder"}
RECORDED |= {"corruption": "planted", "prompting": "prompting"}


@pytest.mark.parametrize(("lesson", "names"), RECORDED.items())
def test_what_was_recorded_says_by_which_command_it_is_measured_again(lesson: str, names: str) -> None:
    """The command of the card stands on the page as well."""
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "explorer" / "app" / "lessons" / lesson).glob("*.*"))
    for name in names.split():
        module = re.findall(r"studies\.(\w+)", (ROOT / "data" / "results" / name / "CARD.md").read_text("utf-8"))[-1]
        patterns = (rf"studies\.{module}\b", rf"recorded\.again\([^\n]*{module}\b", rf"`explorer {module}`")
        assert re.search("|".join(patterns), pages), f"{name}: {module}"


def test_the_cost_of_published_trainings_follows_from_their_sizes() -> None:
    """BERT's 39.7 epochs and GPT's petaflop-day, which a slide gives as 26."""
    rows = {name: 6 * weights * tokens / data.DAY for name, weights, tokens, _ in data.SCALE}
    assert rows["GPT"] == pytest.approx(0.65, abs=0.01) and rows["GPT-3"] == pytest.approx(3650, rel=0.01)
    large = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    weights = {name: count for name, count, *_ in data.SCALE}
    with torch.device("meta"):
        for name, config in (("BERT base", BertConfig()), ("BERT large", large)):
            assert sum(part.numel() for part in BertForPreTraining(config).parameters()) == weights[name]
    text = data.at_scale(4_000_000, 1e6)
    assert "4,000,000 | 1,000,000 | 2.4 × 10¹³ |" in text and f"{rows['BERT base'] * data.DAY / 2.4e13:,.0f}" in text
    assert data.labels_question().answer == "about six hundred thousand times" and "625,000" in data.labels_question().why


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_masking_rates_of_a_training_are_those_of_its_plan(name: str) -> None:
    first, last = (plan_of(name).get(key) for key in ("mask_rate_first", "mask_rate"))
    rates = re.findall(r"\d+%", training_parts.hiding(plan_of(name)))
    assert rates == ([f"{first:.0%}", f"{last:.0%}"] if first and first != last else [])


def test_pre_training_is_praised_only_for_what_the_tasks_ask() -> None:
    record = ex.result("labels")
    assert all(task.startswith("new words") for task in record.tasks)
    for tasks, praised in ((record.tasks, True), (("sentiment", *record.tasks[1:]), False)):
        assert (finetuning.NEW in finetuning.label_question(replace(record, tasks=tasks)).why) is praised


def test_the_best_head_is_put_beside_what_the_model_does_by_the_cards() -> None:
    by_model = behaviour.best_heads()
    assert {name for name, (*_, taught) in by_model.items() if taught} == {"bert-told"}
    for name, (_, head, _) in by_model.items():
        assert f"| {behaviour.HEAD} (validation) | " in card_of(name) and f"{head:.3f}" in card_of(name)
    question = behaviour.head_question(by_model)
    best = max((name for name, (*_, taught) in by_model.items() if not taught), key=lambda name: by_model[name][0])
    assert question.question.startswith(best) and f"{by_model[best][1]:.0%}" in question.why
    assert len(behaviour.rows(by_model)) == len(by_model) and behaviour.rows(by_model)[0]["model"].startswith(best)
    for head, answer in ((0.5, 0), (0.7, 1), (0.9, 2)):
        question = behaviour.head_question({"one": (0.9, head, False), "other": (0.95, 1.0, True)})
        assert question.answer == question.options[answer] and question.question.startswith("one") and "other" in question.why


def test_who_resolves_it_is_answered_by_the_cards() -> None:
    by_model = behaviour.paired()
    assert set(by_model) == set(behaviour.RESOLVING)
    for name, figures in by_model.items():
        for kind, value in zip(behaviour.PAIRED, figures, strict=True):
            there = value == value
            assert (f"| {kind} (validation) | " in card_of(name)) == there and (not there or f"{value:.3f}" in card_of(name))
    question = behaviour.who_question(by_model)
    can = {name for name, figures in by_model.items() if min(value for value in figures if value == value) > 0.25}
    assert question.answer in question.options and {name for name in by_model if name in question.answer.split()} == can
    for figures, answer in (
        ({"a": (0.0, 0.1, 0.2), "b": (0.3, 0.2, 0.4)}, "none of them"),
        ({name: (0.9, 0.9, 0.9) for name in "abc"}, behaviour.ALL),
        ({"a": (0.3, 0.9, math.nan), "b": (0.1, 0.2, 0.4)}, "only a"),
    ):
        question = behaviour.who_question(figures)
        assert question.answer == answer and answer in question.options


def test_scores_are_divided_by_the_root_of_the_width_of_a_head_wherever_it_is_written() -> None:
    """√d without its k was the root of another number on a page that calls the width of the model d."""
    scale = ex.result("scale")
    texts = [part for station in STATIONS.values() for part in (station.name, station.formula, station.says)]
    texts += [text for view in VIEWS.values() for text in (view.title, view.caption)] + list(EDITS) + list(NAMES)
    texts += [*(line.label for line in scale.lines), scale.title, ex.NoScale("encoder").label]
    assert not [text for text in texts if re.search(r"√d(?![_ₖ])", text)]


@pytest.mark.parametrize(
    ("first", "last", "answer"), [(0.3, 0.5, 2), (0.5, 0.3, 1), (0.4, 0.45, 0), (0.45, 0.4, 0), (0.2, 0.95, 2)]
)
def test_the_largest_weight_without_the_division_rises_falls_or_stays(first: float, last: float, answer: int) -> None:
    """By more than a tenth of all weight, in the mean over many queries."""
    largest = np.array([[first, first], [last, last]])
    record = Saturation(np.array([1, 256]), np.zeros((2, 10)), largest, largest, largest, 100)
    question = attention_questions.scale_question(record)
    assert question.answer == question.options[answer] and f"{first:.2f} at dₖ = 1 to {last:.2f} at dₖ = 256" in question.why


@pytest.mark.parametrize(("name", "terms"), [("bert", "4 attentions of 4 heads"), ("transformer", "12 attentions of 4 heads")])
def test_every_head_of_every_attention_has_its_own_matrices(name: str, terms: str) -> None:
    """Counted in the rows of the matrices themselves; a layer of the first decoder has two attentions, its encoder's one."""
    model = ex.load(name, device="cpu")
    trace = ex.trace(model, SENTENCE, **({"target": SENTENCE} if name == "transformer" else {}))
    width = trace.attention[0].q.shape[-1]
    every = [part.query.weight for part in model.module.modules() if isinstance(part, MultiHeadAttention)]
    question = heads.sets_question(trace)
    assert question.answer == sum(len(weight) for weight in every) / width
    assert len({weight.data_ptr() for weight in every}) == len(every) and question.why.startswith(terms)
    first = torch.nn.Transformer(batch_first=True, device="meta")  # of 2017: as large as the paper's
    assert [first.nhead * len(attentions(stack.layers[0])) for stack in (first.encoder, first.decoder)] == [8, 16]


def attentions(layer: torch.nn.Module) -> list[torch.nn.Module]:
    """PyTorch's own attentions in one of its layers."""
    return [part for part in layer.modules() if isinstance(part, torch.nn.MultiheadAttention)]
