"""What the pages say of models, records and counts: every claim here was wrong once. The numbers are pinned, not the words."""

from __future__ import annotations

import dataclasses
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
from conftest import unmarked
from opening import opened
from transformers import BertConfig, BertForPreTraining

import explorer as ex
from explorer.analysis.evaluation.generating import rewritten
from explorer.analysis.word_vectors import ids_of, unit
from explorer.app import controls, glossary
from explorer.app.controls import result_of
from explorer.app.exercises import table_row
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.attention import questions as attention_questions
from explorer.app.lessons.corruption import parts as corruption_parts
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as decoding
from explorer.app.lessons.elmo import parts as elmo_parts
from explorer.app.lessons.elmo import questions as elmo
from explorer.app.lessons.families import parts as families
from explorer.app.lessons.finetuning import questions as finetuning
from explorer.app.lessons.heads import behaviour_questions as behaviour
from explorer.app.lessons.heads import questions as heads
from explorer.app.lessons.start import questions as start
from explorer.app.lessons.training import data_questions as data
from explorer.app.lessons.training import parts as training_parts
from explorer.app.lessons.training import questions as training_questions
from explorer.app.lessons.training import systems
from explorer.app.lessons.vectors import editing_questions as edits
from explorer.app.lessons.vectors import networks_questions, sentences
from explorer.app.lessons.vectors import questions as vectors
from explorer.app.lessons.vectors import sentences_questions as whole
from explorer.app.lessons.vectors.parts import known_pairs
from explorer.app.lessons.whatif import questions as whatif
from explorer.app.lessons.whatif.edits import EDITS
from explorer.app.lessons.whatif.faults import NAMES
from explorer.app.prose import prose
from explorer.app.tour_steps import STEPS
from explorer.corruption.choosing import written_words
from explorer.corruption.strategies import STRATEGIES, entry_of
from explorer.models.card_figures import shipped_figures
from explorer.models.run_folder import described
from explorer.models.transformer import TransformerModel
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.positions import POSITIONS
from explorer.records import Damage, Saturation, TrainingStep
from explorer.training.corpora import corpus_of
from explorer.training.finetune.task import LabelledExample, Questions, TokenPosition
from explorer.training.interpolation import fresh
from explorer.views import VIEWS
from explorer.views.board.stations import STATIONS
from explorer.views.theme import unseen_note
from studies.mixes import features

ROOT = Path(__file__).parent.parent


def test_the_picture_of_elmo_says_what_its_uncoloured_cells_are() -> None:
    elmo = ex.load("elmo", device="cpu")
    begin = start.TEXT.index(start.WORD)
    record = ex.analysis.visibility_map(elmo, start.TEXT, (begin, begin + len(start.WORD)))
    drawn = VIEWS["sight"](record).data[0].z
    np.testing.assert_array_equal(np.asarray(drawn) == 0, record.seen == 3)
    assert (record.seen.diagonal() == 3).all()


def test_only_wordpiece_is_given_letters_that_its_texts_do_not_have() -> None:
    shelf = ex.text.classroom.shelf()
    assert not {*"z0123456789"} & {*" ".join(ex.text.classroom.toys(600))}
    lost = {
        name: shelf[name].vocabulary.unknown in shelf[name].encode("z 3", special=False).ids for name in ("wordpiece", "bpe")
    }
    assert lost == {"wordpiece": False, "bpe": True}


@pytest.mark.parametrize("page", sorted(LESSONS))
def test_no_cell_of_a_table_of_slides_is_cut_by_a_bar(page: str) -> None:
    """A | ends a cell, inside a formula as well."""
    assert all(table_row(row).count("|") == 4 for row in prose(page).rows("slides"))
    assert table_row(("$P(k|a)$", "x")) == r"| $P(k\vert a)$ | x |"


def test_kinds_of_ratios_say_what_was_counted() -> None:
    """Of the words with a ratio near 1, the rarest; each still occurs near both."""
    glove = ex.load("glove", device="cpu")
    read = ex.text.counted_examples(list(ex.microworld.stories(3000, 1)), glove.tokenizer)
    record = ex.analysis.count_ratios(glove, "he", "she", read)
    rare = [n for n, kind in enumerate(record.kinds) if kind == "rarely near both"]
    often = [n for n, kind in enumerate(record.kinds) if kind == "often near both"]
    assert len(rare) == len(often) == 3 and record.often[:, rare].min() > 0 and "near neither" not in record.kinds
    assert record.chances[:, rare].max() < record.chances[:, often].min()


def test_a_word_of_the_small_corpus_near_both_is_in_between_and_near_neither_has_no_ratio() -> None:
    record = ex.analysis.edit_corpus(edits.CORPUS, (*edits.CORPUS, edits.ADDED), *edits.PAIR, watch=edits.WATCH)
    now = dict(zip(record.words, record.ratios[1], strict=True))
    assert now["gas"] < now["water"] < now["solid"] and np.isnan(now["fashion"])


def straight(relation: str) -> float:
    """The mean cosine of the differences of a relation's pairs in word2vec, as the plane has them."""
    model = ex.load("word2vec", device="cpu")
    pairs = known_pairs("word2vec", relation)
    a, b = (unit(model)[ids_of(model, side)] for side in zip(*pairs, strict=True))
    apart = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    return float((apart @ apart.T)[np.triu_indices(len(pairs), 1)].mean())


def test_the_tour_opens_the_plane_on_a_relation_whose_lines_are_nearly_parallel() -> None:
    step = next(step for step in STEPS if step.page == "vectors")
    assert straight(step.choices["relation"]) > 0.7 and straight("gender") < 0.4


def test_what_is_said_of_a_trained_t5_is_said_of_the_stack_whose_numbers_are_shown() -> None:
    model = ex.load("t5", device="cpu")
    shown = ex.places(model).scores[:, 5, :20]
    biases = {stream: ex.trace(model, "a " * 20, target="a " * 20).at(stream, 0).bias for stream in ("encoder", "decoder")}
    nearer = [
        name for name, bias in biases.items() if bias is not None and np.allclose(bias[:, 5, :6], shown[:, :6], atol=1e-5)
    ]
    assert nearer == ["encoder"]


def test_the_picture_of_shuffled_words_says_where_its_two_halves_are() -> None:
    record = ex.shuffle(ex.load("bert", device="cpu"), "The dog saw the cat.")
    with_positions, without = (tuple(VIEWS["order"](record).layout[axis].domain) for axis in ("yaxis", "yaxis2"))
    assert with_positions[0] > without[1]


def test_rows_of_slides_name_only_slides_that_there_are() -> None:
    """Checked by hand against the decks: L1 has no slide with sinusoids in code, L2 none with heads of pronouns.

    A row corrects a slide, so it names a deck; what no slide says is explained in the text of a part.
    """
    rows = [row for page in LESSONS for row in prose(page).rows("slides")]
    assert not [where for where, *_ in rows if not re.match(r"(L[0-4]|all\b)", where)]


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_queries_keys_and_values_are_a_product_and_a_bias_as_the_steps_say(name: str) -> None:
    model = ex.load(name, device="cpu")
    stack = model.family
    trace = ex.trace(model, "The dog saw the cat.", blocks=True)
    block, attention = trace.block(stack, 0, "attention"), trace.at(stack, 0)
    read = block.normed if block.place == "pre" else block.given
    linear = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention)).query
    matrix, bias = (tensor.detach().numpy() for tensor in (linear.weight, linear.bias))
    product = (read @ matrix.T).reshape(len(read), attention.heads, -1).transpose(1, 0, 2)
    shift = bias.reshape(attention.heads, 1, -1)
    np.testing.assert_allclose(product + shift, attention.q, atol=1e-4)
    assert np.abs(product - attention.q).max() > 0.01, "without the bias it is another number"
    assert all(f"b_{which}" in STATIONS[at].formula for which, at in (("Q", "qkv"), ("K", "qkv"), ("V", "qkv"), ("O", "wo")))


@pytest.mark.parametrize(("name", "supervised"), [("bert-told", True), ("bert", False)])
def test_a_supervised_head_is_called_supervised_and_visible_tokens_are_explained(name: str, supervised: bool) -> None:
    at = opened("heads", model=name)
    texts = unmarked(" ".join(block.value for block in at.markdown))
    assert not at.exception and (prose("heads")("supervised") in texts) is supervised and prose("heads")("visible") in texts


def test_chance_over_the_heads_is_not_rounded_to_nothing() -> None:
    bert = ex.load("bert", device="cpu")
    trace = ex.trace(bert, "The animal didn't cross the street because it was too tired.")
    question = heads.pointing_question(trace)
    many, seen = bert.config.layers * bert.config.heads, len(trace.source)
    assert question is not None and f"by chance, about {many / seen:.1f} of {many} would" in question.why


def test_the_families_page_says_what_gpt_s_three_lines_leave_out(gpt2: TransformerModel, bert: TransformerModel) -> None:
    """The last state times the table is not gpt2's score: a last layer norm is between them, and the page says so."""
    trace = ex.trace(gpt2, "The dog saw the cat.", blocks=True)
    last, table = trace.hidden["decoder"][-1], gpt2.module.head.project.weight.detach().numpy()
    scores = gpt2.logits("The dog saw the cat.")
    assert scores.shape[1] == len(table) and np.abs(last @ table.T - scores).max() > 1
    assert "a last layer norm to $h_L$" in families.beyond(gpt2.config)
    text = families.beyond(bert.config)
    assert all(part in text for part in ("segment embeddings", "normalises $h_0$", "transforms $h_L$", "a bias"))
    assert families.beyond(dataclasses.replace(gpt2.config, final_norm=False)) == ""
    for name, says in (("transformer", "multiplies $UW_e$ by $\\sqrt d$"), ("t5", "multiplies $h_L$ by $1/\\sqrt d$")):
        model = ex.load(name, device="cpu")
        text, factor = families.beyond(model.config), model.config.dim**0.5
        inside = model.module.embeddings.scale if name == "transformer" else 1 / model.module.head.scale
        assert says in text and inside == pytest.approx(factor) and says not in families.beyond(gpt2.config)


def test_the_translator_keeps_negation_gender_and_short_forms() -> None:
    """In the sentences that the pages and the tour open with."""
    model, step = ex.load("transformer", device="cpu"), next(step for step in STEPS if step.part == "cross-attention")

    def french(source: str, strategy: str = "beam", **options: Any) -> str:
        *_, last = ex.decode(model, source, strategy, max_tokens=32, cross=False, **options)
        return model.tokenizer.decode(last.ids).strip()

    for word in ("did not", "didn't", "didn’t"):
        assert french(f"The animal {word} cross the street.", "greedy") == "L'animal n'a pas traversé la rue.", word
    expected = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    assert [french(decoding.SOURCE.replace("did not", word), beams=4) for word in ("did not", "didn't")] == [expected] * 2
    wide = "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    assert french(decoding.SOURCE.replace("tired", "wide"), beams=4) == wide
    assert not any(model.tokens(step.choices["text"]).unseen or ())
    assert "n'a pas traversé" in french(step.choices["text"], "greedy")


@pytest.mark.parametrize("split", ["validation", "test"])
def test_the_translator_reads_short_forms_with_either_apostrophe(split: str) -> None:
    model = ex.load("transformer", device="cpu")
    corpus = corpus_of("english-french-1.1:4000").held(250, split).texts
    short = [pair for pair in corpus if re.search(r"\w['’]\w", pair.source)]
    gold = [model.tokenizer.decode(model.tokenizer.encode(pair.target).ids) for pair in short]
    for other in ({}, {"'": "’", "’": "'"}):
        read = [model.tokenizer.encode(pair.source.translate(str.maketrans(other))).ids for pair in short]
        translations = [model.tokenizer.decode(ids) for ids in rewritten(model, read, 80)]
        assert len(short) > 40 and np.mean([a == b for a, b in zip(translations, gold, strict=True)]) >= 0.95


def test_the_caption_of_curves_holds_for_intervals_and_for_arithmetic() -> None:
    """Bars may be intervals, and what a layer costs was measured on no model at all."""
    assert VIEWS["costs"].fits(ex.result("scale")), "what was measured is no calculation"
    record = ex.analysis.exposure_bias(ex.load("gpt2", device="cpu"), ex.microworld.texts(20, 1, "validation"), count=2)
    assert not VIEWS["exposure"].fits(record.curves) and VIEWS["exposure"].fits(ex.result("scale"))


def test_a_block_without_parameters_is_not_said_to_equal_a_sentence(bart: TransformerModel) -> None:
    built = ex.analysis.blueprint(bart, "The dog saw the cat.", target="The dog saw the cat.")
    shared = next(part for part in built.parts if "shared" in part.written)
    assert families.counted(shared) == "Parameters here: **0** (shared with the decoder, counted there)."
    assert "equal to" in families.counted(next(part for part in built.parts if part.counted))


@pytest.fixture(scope="module")
def bart() -> TransformerModel:
    return ex.load("bart", device="cpu")


def test_t5_does_not_divide_its_scores_and_starts_with_smaller_queries() -> None:
    """By the root of the width of a head."""
    shipped = ex.load("t5", device="cpu")
    trace = ex.trace(shipped, "The dog saw the cat.", target="The dog.")
    assert {attention.scale for attention in trace.attention} == {1.0}
    model = ex.build("t5", tokenizer=shipped.tokenizer, device="cpu")
    layer = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention))
    query, key = (part.weight.detach().std().item() for part in (layer.query, layer.key))
    assert query / key == pytest.approx((model.config.dim / model.config.heads) ** -0.5, rel=0.05)


def test_queries_times_keys_is_one_matrix_of_the_stream_as_the_composed_form_says() -> None:
    """x W_Q W_Kᵀ xᵀ, with the terms of the biases, is the model's q·k; its matrix has rank d_k."""
    model = ex.load("bert", device="cpu")
    trace = ex.trace(model, "The dog saw the cat.", blocks=True)
    block, attention = trace.block("encoder", 0, "attention"), trace.attention[0]
    layer = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention))
    q, k = ((part.weight.detach().double().numpy(), part.bias.detach().double().numpy()) for part in (layer.query, layer.key))
    d = attention.q.shape[-1]
    x = block.given.astype(np.float64)
    form = q[0][:d].T @ k[0][:d]
    product = x @ form @ x.T + (x @ q[0][:d].T @ k[1][:d])[:, None] + x @ k[0][:d].T @ q[1][:d] + q[1][:d] @ k[1][:d]
    np.testing.assert_allclose(product, attention.stage("scores", 0), atol=1e-3)
    assert np.linalg.matrix_rank(form) == d < form.shape[0]


def test_the_small_world_fills_the_blanks_of_its_own_texts_only() -> None:
    """As the corruption lab says: one *Anna* yes, both not, and nothing of the lectures' three kinds."""
    bert, hidden = ex.load("bert", device="cpu"), ("night", "34", "Hollywood", "nightmare")
    texts = list(corruption.PRESETS.values())
    for text, word in zip(texts, hidden, strict=False):
        guess = ex.guess(bert, ex.hide(text, [word], tokenizer=bert.tokenizer))
        assert guess.truth[guess.corruption.scored].min() < 0.01, word
    anna = [n for n, word in enumerate(bert.tokenizer.encode(texts[-1]).texts) if word == "anna"]
    for words, right in (([anna[0] - 1], True), ([anna[1] - 1], True), (["Anna"], False)):
        guess = ex.guess(bert, ex.hide(texts[-1], words, tokenizer=bert.tokenizer))
        named = [guess.texts[place][0] == "anna" for place in np.flatnonzero(guess.corruption.scored)]
        assert len(named) == (1 if right else len(anna)) and all(named) is right and any(named) is right


def pointed(text: str) -> list[str]:
    """The token to which each head of bert-told attends most from "it"."""
    trace = ex.trace(ex.load("bert-told", device="cpu"), text)
    row = trace.source.texts.index("it")
    return [trace.source.texts[int(weights[row].argmax())] for a in trace.attention for weights in a.weights]


def test_the_opening_sentence_shows_what_the_warning_beside_the_lecture_s_says() -> None:
    """The supervised head finds the noun in the opening sentence only; the models know every word of both."""
    head = 4  # head 0 of layer 1
    assert pointed(SENTENCE)[head] == "dog" and pointed(controls.LECTURED)[head] == "it"
    assert "from *it* to *dog*; here it attends to *it* itself" in controls.WARNING
    assert "of another form" in prose("heads")("supervised") and "has not seen" not in prose("heads")("supervised")
    for name in ("bert", "bert-told", "gpt2", "bart", "t5", "transformer"):
        assert not unseen_note(ex.load(name, device="cpu").tokens(SENTENCE)), name


@pytest.mark.parametrize(
    ("lesson", "part"), [("positions", "schemes"), ("attention", "walk"), ("heads", "board"), ("families", "input")]
)
def test_the_lecture_s_sentence_is_one_click_away_and_so_is_the_way_back(lesson: str, part: str) -> None:
    at = opened(lesson, part=part)
    assert at.text_input(key="text").proto.default == SENTENCE and not at.info
    at = at.button(key="lectured").click().run()
    assert at.text_input(key="text").value == controls.LECTURED and any(controls.WARNING in widget.value for widget in at.info)
    at = at.button(key="lectured").click().run()
    assert at.text_input(key="text").value == SENTENCE and not at.exception


@pytest.mark.usefixtures("unfolded")
def test_an_encoder_s_visible_tokens_are_explained_at_both_lenses_and_the_gradient_hides_one() -> None:
    assert prose("heads")("visible") in unmarked(" ".join(block.value for block in opened("heads", part="lens").markdown))
    inside = opened("families", part="residual-stream", model="bert", inside="A lens on every layer")
    assert prose("heads")("visible") in unmarked(" ".join(block.value for block in inside.markdown))
    hidden = opened("heads", part="gradients")
    assert not hidden.exception and prose("heads")("visible") not in unmarked(
        " ".join(block.value for block in hidden.markdown)
    )
    assert any("The [MASK] did not cross" in block.value for block in hidden.code)
    shown = hidden.toggle(key="gradient.hide").set_value(False).run()
    assert prose("heads")("visible") in unmarked(" ".join(block.value for block in shown.markdown))


def test_a_bar_says_where_a_token_only_continues_a_word(bart: TransformerModel, bert: TransformerModel) -> None:
    span = (start.TEXT.index("mouse"), start.TEXT.index("mouse") + len("mouse"))
    record = ex.analysis.word_prediction(bart, start.TEXT, span)
    record = dataclasses.replace(record, texts=(("er", *record.texts[0][1:]), *record.texts[1:]))
    names = VIEWS["expects"](record).layout.yaxis.ticktext
    assert "…er" in names and "mouse" in names and sum("…" in name for name in names) == 1
    assert not any(
        "…" in name for name in VIEWS["expects"](ex.analysis.word_prediction(bert, start.TEXT, span)).layout.yaxis.ticktext
    )


def test_the_rows_of_a_decoder_are_not_taken_for_those_of_its_source(bart: TransformerModel, bert: TransformerModel) -> None:
    figure = VIEWS["sightlines"](tuple(ex.visibility(m, SENTENCE, **t) for m, t in ((bert, {}), (bart, {"target": SENTENCE}))))
    titles = [note.text for note in figure.layout.annotations]
    assert titles[0] == "bert" and "rows: decoder; columns: source" in titles[1]
    assert "bart (decoder to source): 100%" in figure.layout.title.text and "bert: 100%" in figure.layout.title.text


def test_the_tour_s_word_is_better_filled_by_models_that_see_both_sides(bert: TransformerModel, bart: TransformerModel) -> None:
    step = next(step for step in STEPS if step.page == "start" and step.part == "predictions")
    word = step.do.split("“")[1].split("”")[0]
    span = (start.TEXT.index(word), start.TEXT.index(word) + len(word))
    both, left = (
        [float(ex.analysis.word_prediction(model, start.TEXT, span).truth[0]) for model in models]
        for models in ((bert, bart), (ex.load("gpt", device="cpu"),))
    )
    assert both[0] > 0.5 and min(both) > 50 * max(left)


def test_the_lesson_on_vectors_opens_with_words_that_training_has_seen_often() -> None:
    """A hundred times per million or more; the trained vectors tell the first pair from its negative samples."""
    word2vec = ex.load("word2vec", device="cpu")
    read = ex.text.counted_examples(list(ex.microworld.stories(3000, 1)), word2vec.tokenizer)
    record = ex.analysis.skipgrams(word2vec, vectors.TEXT, read)
    chances = record.said[record.of(int(record.pairs[0, 0]))[0]]
    assert record.share.min() > 1e-4 and chances[0] > 0.5 > 2 * chances[1:].max()
    network = ex.analysis.skipgram_network(word2vec, *networks_questions.PAIR)
    word, near, *others = network.chances
    assert near >= max(others), "the context word is the most probable one"
    assert straight(vectors.PARALLEL) > 0.7, "with which the plane opens"
    at = opened("vectors", part="plane")
    assert at.button_group(key="relation").value == vectors.PARALLEL


def test_a_word_of_one_sense_has_uses_too_and_its_vector_changes(bert: TransformerModel) -> None:
    uses = ex.microworld.uses("movie", 6)
    assert len(uses) == 6 and all(text[begin:].startswith("movie") and sense == "" for text, begin, sense in uses)
    assert all(sense.startswith("light.") for *_, sense in ex.microworld.uses("light", 6)), "of several senses only gold ones"
    record = ex.analysis.contexts(bert, "movie", uses)
    assert record.likeness(2)[0, 1:].max() < 0.9 and "movie" in vectors.AMBIGUOUS
    assert "mean cosine of two uses" in VIEWS["contexts"](record, layer=2).layout.title.text


def test_what_is_said_of_inference_labels_follows_their_interval() -> None:
    record = sentences.recorded_ranking()
    assert record is not None
    at = record.ways.index(whole.LABELS)
    mean, low, high = record.intervals[0, at]
    assert low < 0 < high and f"reaches {mean:.2f}" in whole.best_question(record).why
    sure = dataclasses.replace(record, intervals=np.where(np.arange(len(record.ways))[:, None] == at, 0.5, record.intervals))
    assert "inference labels" not in whole.best_question(sure).why


def test_the_four_models_of_the_front_page_read_the_same_stories() -> None:
    """But not equally often: their steps differ, and their sizes."""
    plans = [described(ex.models()[name].folder)["plan"] for name in ("elmo", "bert", "gpt", "bart")]
    assert {str(plan["corpus"]["name"]) for plan in plans} == {"microworld-1.1:120000"}
    assert len({plan["steps"] for plan in plans}) > 1


def test_how_a_table_of_positions_starts_is_said_of_the_models_that_start_so() -> None:
    starts = {name: ex.load(name, device="cpu").config.tables for name in ("bert", "gpt2", "bart")}
    assert starts == {"bert": "sines", "gpt2": "sines", "bart": "random"}


def test_no_masking_rate_is_said_of_an_encoder_that_was_trained_with_another() -> None:
    plan = described(ex.models()["bert"].folder)["plan"]
    assert plan["mask_rate"] > 0.15 < plan["mask_rate_first"] and "%" not in prose("heads")("visible")


def test_a_stream_of_pre_norm_mostly_grows_but_a_sum_can_shrink_and_post_norm_rescales_every_sum(
    gpt2: TransformerModel, bert: TransformerModel
) -> None:
    """*The stream only grows* was wrong: a vector that is added may point against it."""
    pre, post = (ex.trace(model, SENTENCE, blocks=True).blocks for model in (gpt2, bert))
    before, after = (
        np.concatenate([np.linalg.norm(getattr(block, part), axis=-1) for block in pre]) for part in ("given", "total")
    )
    assert 0.5 < (after > before).mean() < 1
    assert all(np.array_equal(later.given, block.total) for block, later in pairwise(pre)), "nothing rescales it"
    assert all(np.array_equal(later.given, block.normed) for block, later in pairwise(post))
    for block in post:
        np.testing.assert_allclose(block.norm_input, block.total, atol=1e-6)


RUNS = {name: path for name, stored in ex.models().items() if (path := stored.folder / "run.json").is_file()}


def test_the_page_says_so_where_bert_is_wrong(bert: TransformerModel) -> None:
    guess = ex.guess(bert, ex.hide(corruption.STORY, ["tired"], tokenizer=bert.tokenizer))
    place = int(guess.corruption.scored.argmax())
    assert guess.texts[place][0] != "tired", "the shipped BERT finds another word that fits"
    assert prose("corruption")("another token") in corruption.guess_question(guess, place).why
    milk = ex.guess(bert, ex.hide(corruption.STORY, [corruption.HIDDEN], tokenizer=bert.tokenizer))
    place = int(milk.corruption.scored.argmax())
    question = corruption.guess_question(milk, place)
    assert question.answer == corruption.HIDDEN and prose("corruption")("another token") not in question.why, (
        "the word that is hidden first is found"
    )
    words = written_words(bert.tokens(corruption.STORY), bert.tokenizer)
    assert list(words)[corruption_parts.first_hidden(list(words))] == corruption.HIDDEN
    for text, blank in zip(corruption.PRESETS.values(), corruption.BLANKED, strict=True):
        written = list(written_words(bert.tokens(text), bert.tokenizer))
        assert written[corruption_parts.first_hidden(written)].lower() == blank, (
            "what is hidden first is the blank of the lecture"
        )


def test_figures_of_systems_are_those_of_the_card_of_the_shipped_seed() -> None:
    bert, electra = (shipped_figures(ex.models()[name].folder) for name in ("bert", "electra"))
    assert (bert["nsp accuracy"], bert["nsp, shared-name rule"], electra["replaced f1"]) == (0.764, 0.540, 0.655)
    rows = [{"asked to": "classify", "answers": "the second follows the first: 9%"}]
    assert "76.4%" in training_questions.classify_note(rows, bert) and "wrong" in training_questions.classify_note(rows, {})
    assert not training_questions.classify_note([{"asked to": "classify", "answers": "(not possible: …)"}], bert)
    assert "84%" in training_questions.longer(bert)
    shipped = sum(part.numel() for part in ex.load("bert", device="cpu").module.parameters())
    measured = ex.result("objectives")
    assert "larger and trained longer" in training_questions.longer(bert) and shipped > 4 * measured.weights[0]


def test_a_perplexity_is_shown_for_new_words_too() -> None:
    for name in ("gpt2", "llama", "olmo"):
        card = (ex.models()[name].folder / "CARD.md").read_text("utf-8")
        seed = training_parts.plan(ex.models()[name].folder)["seed"]
        known, new, counted = (
            float(re.findall(rf"^\| {figure} \|(.*)\|", card, re.MULTILINE)[0].split("|")[seed])
            for figure in (r"perplexity \(validation\)", r"perplexity \(test\)", r"4-gram perplexity \(test\)")
        )
        text = training_questions.new_words(
            *(shipped_figures(ex.models()[name].folder, split) for split in ("validation", "test"))
        )
        assert f"{known:.3g}" in text and f"**{new:.3g}** (4-gram {counted:.3g})" in text
        assert ("worse than counting" in text) == (new > counted)
    assert training_questions.new_words({"perplexity": 2.0}, {}) == ""


def test_published_models_are_about_a_hundred_times_larger() -> None:
    ours = sum(part.numel() for part in ex.load("bert", device="cpu").module.parameters())
    sizes = {name: weights for name, weights, *_ in data.SCALE}
    assert all(70 < sizes[name] / ours < 140 for name in ("GPT", "BERT base")) and 225 < 335_141_888 / ours < 275
    assert 393_000 / int(ex.result("miniglue").note.split()[0]) == pytest.approx(2000, rel=0.05)


@pytest.mark.parametrize("name", sorted(training_parts.kept()))
def test_the_first_loss_is_explained_as_it_was(name: str) -> None:
    step = next(iter(training_parts.read_steps(name)))
    vocabulary = ex.load(name, device="cpu").tokenizer.vocabulary.size
    question = training_questions.first_question((step,), vocabulary, systems.teacher_of(name))
    if name == "distilbert":
        assert "copied" in question.why and "random" not in question.question and question.answer == "far below ln |V|"
    elif name != "induction":
        assert question.answer == f"ln |V| = {np.log(vocabulary):.2f}"
    assert ("lies above" in question.why) == name.startswith("t5")  # it scores with large embeddings


def test_the_page_names_the_optimisers_of_the_shipped_models() -> None:
    plans = {name: json.loads(path.read_text("utf-8"))["plan"] for name, path in RUNS.items()}
    adam = {name for name, plan in plans.items() if plan["optimiser"] == "adamw"}
    assert adam == {"word2vec", "glove"} and all(plans[name]["optimiser"] == "muon" for name in set(plans) - adam)


def test_what_a_model_cannot_do_is_told_as_it_is() -> None:
    for name in ("bart", "t5"):
        fill = ex.analysis.abilities(ex.load(name, device="cpu"))[0]
        assert not fill.able and "[MASK]" not in fill.says and "left to right" not in fill.says


def test_new_texts_are_of_the_world_that_a_training_read() -> None:
    named = {training_parts.plan(folder)["corpus"]["name"]: (name, folder) for name, folder in training_parts.kept().items()}
    for corpus, (name, folder) in named.items():
        version = "1.1" if "-1.1" in corpus else "1.0"
        if corpus.startswith("microworld") and "+" not in corpus:
            assert fresh(training_parts.corpus_of(folder), 2) == list(ex.microworld.stories(2, 2, "test", version=version)), (
                name
            )
    texts = list(ex.microworld.stories(300, 1, version="1.1"))  # as bert read them
    each = np.mean([len(ex.load("bert", device="cpu").tokenizer.encode(" ".join(story)).ids) for story in texts])
    cost = training_parts.budget(training_parts.shelf()["bert"], 1000)
    assert cost.pieces / 1000 / 32 == pytest.approx(each, rel=0.1), "tokens of a text"
    assert fresh("english-french-1.1:9", 9) != fresh("english-french:9", 9) == fresh("english-french-1.0", 9)
    assert "never had" in training_questions.line_note(
        "microworld-1.1", 0.15
    ) and "never had" not in training_questions.line_note("english-french", 0)


def test_a_loss_is_drawn_only_where_it_was_asked_for() -> None:
    steps = training_parts.read_steps("bert")
    paired = next(step.step for step in steps if step.losses["nsp"])
    planned = training_parts.plan(training_parts.shelf()["bert"])
    assert paired > planned["pairs_after"] * planned["steps"] == 18_000
    drawn = {line.name: line for line in VIEWS["training"](steps).data}
    for name in ("nsp", "nsp, each batch"):
        assert drawn[name].x[0] == paired and min(drawn[name].y) > 0, "a loss of 0 would be a model that is always right"
    assert drawn["nsp"].y[0] == pytest.approx(math.log(2), abs=0.1)
    assert drawn["mlm"].x[0] == drawn["sum: mlm + nsp"].x[0] == 1
    never = tuple(TrainingStep(n, {"mlm": 1.0, "nsp": 0.0}, 1.0) for n in (1, 2))
    assert not len({line.name: line for line in VIEWS["training"](never).data}["nsp"].x)


def test_the_note_on_the_line_names_its_masking_rate() -> None:
    assert training_parts.line_rate("bert") == 0.15 and math.isnan(training_parts.line_rate("gpt2"))
    assert "15%" in training_questions.line_note("microworld", 0.15) and "never had" in training_questions.line_note(
        "microworld", 0.15
    )
    assert "masking" not in training_questions.line_note("toy", math.nan) and "never had" not in training_questions.line_note(
        "toy", math.nan
    )


def test_a_tie_of_the_mix_is_no_gain() -> None:
    measured = ex.result("mixes")
    assert not (elmo.gained(measured) > 0).all(axis=1).any(), "for no task does the interval lie above every layer"
    question = elmo.use_question(measured)
    assert question.answer == "for none" and "part of speech" not in question.why.split(".")[0]
    rows = {row.split("|")[6].split(",")[0].strip(): row for row in elmo.compared(measured).splitlines()[2:]}
    for n, task in enumerate(measured.tasks):
        _, low, high = measured.gains[n, elmo.BASE]
        assert task not in rows or ("a tie" in rows[task]) == (low <= 0 <= high), task
    assert "a tie" in rows["entailment"] and "a tie" not in rows["roles"]


def test_a_fair_baseline_of_word_senses_is_about_layer_0() -> None:
    measured, task = ex.result("mixes"), ex.tasks()["word sense"]
    n = measured.tasks.index("word sense")
    assert measured.blind[n] < 0.005
    train, test = task.make(300, "train"), task.make(150, "test")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for label in train.labels:
        counts[label.split(".")[0]][label] += 1
    share = np.mean(
        [counts[word].most_common(1)[0][0] == label for label in test.labels if (word := label.split(".")[0]) in counts]
    )
    assert share == pytest.approx(measured.intervals[n, elmo.BASE, 0], abs=0.05), "about as good as words without context"
    assert elmo_parts.per_word() == (pytest.approx(share), sum(label.split(".")[0] in counts for label in test.labels))


def test_layer_0_of_a_sentence_is_the_mean_of_its_words_whatever_their_order() -> None:
    """So the bar of layer 0 is the baseline without context; the LSTM layers read the order."""
    model, text = ex.load("elmo", device="cpu"), "the old king sold a small boat"
    shuffled = "boat small a sold king old the"
    questions = Questions((text, shuffled), tuple(LabelledExample((TokenPosition(n, 0, len(text)),), "x") for n in (0, 1)))
    first, other = features(model, questions)[:, 0]
    np.testing.assert_allclose(first[0], other[0], atol=1e-5)
    assert all(np.abs(first[layer] - other[layer]).max() > 0.01 for layer in (1, 2))
    words = [
        features(model, Questions((word,), (LabelledExample((TokenPosition(0, 0, len(word)),), "x"),)))[0, 0, 0]
        for word in text.split()
    ]
    np.testing.assert_allclose(first[0], np.mean(words, axis=0), atol=1e-5)


def test_the_first_story_goes_on_as_a_story_and_a_search_finds_a_better_end() -> None:
    """What lesson 12 and its notebook open with: whole sentences about things of a story, and four tokens where greedy is caught."""
    model = ex.load("gpt2", device="cpu")
    known = set(" ".join(ex.microworld.texts(2000, 1, version="1.1")).lower().replace(".", " ").replace(",", " ").split())
    for strategy, options in (("greedy", {}), ("beam", {"beams": 4, "length_penalty": 1.0})):
        text = list(ex.decode(model, decoding.PROMPT, strategy, max_tokens=14, **options))[-1].text
        assert text.endswith(".") and text.count(".") == 1 and set(text.lower().strip(" .").replace(",", "").split()) <= known
    few = desk.few("gpt2", decoding.PROMPT)
    greedy, best = (result_of(call) for call in desk.everything("gpt2", decoding.PROMPT, few))
    assert len(few) == 8 and {*greedy.ids.tolist(), *best.ids.tolist()} <= set(few) and best.total > greedy.total + 0.1
    following = ex.decoding.distribution(model, decoding.PROMPT)
    assert len(desk.few("gpt2", "The dog")) == 8 and int(following.ids[0]) == few[0]
    assert desk.world_of("gpt2") == desk.world_of("t5") == {"version": "1.1"} and desk.world_of("gpt2-tiny") == {}


def test_what_is_said_of_the_sum_is_its_answer() -> None:
    for total, answer in ((1.0, "less than the sum"), (3.7, "about the sum"), (9.0, "more than the sum")):
        heads, parts = np.full((1, 4), 1.0), np.zeros((1, 1))
        question = whatif.sum_question(Damage("m", "encoder", heads, parts, ("attention",), np.array([total])))
        assert question.answer == answer and whatif.ADDS[question.options.index(answer)] in question.why


def test_how_much_of_the_lectures_texts_is_cut() -> None:
    tokenizer, counts = ex.load("bert", device="cpu").tokenizer, [0, 0]
    for name in ("Computable", "World knowledge", "Memorised"):
        cut = Counter(word for word in tokenizer.encode(corruption.PRESETS[name]).words if word >= 0)
        counts = [counts[0] + sum(count > 1 for count in cut.values()), counts[1] + len(cut)]
    assert 0.2 < counts[0] / counts[1] < 0.5


def test_neighbouring_tokens_are_words_of_their_own() -> None:
    """The shipped BERT cuts almost no word, so no reservation about tokens of one word is made."""
    tokenizer = ex.load("bert", device="cpu").tokenizer
    cut = [tokenizer.encode(" ".join(story)).words for story in ex.microworld.stories(50, 1, "validation", version="1.1")]
    shares = [sum(a == b >= 0 for a, b in zip(words, words[1:], strict=False)) / len(words) for words in cut]
    assert np.mean(shares) < 0.01


def test_where_a_fault_acts_is_read_from_the_first_layer_that_moved() -> None:
    moved = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.0]])
    assert "layers 0 to 1 are unchanged" in whatif.where_it_acts(moved) and "Layer 0's" in whatif.where_it_acts(moved[1:])
    assert "change already" in whatif.where_it_acts(moved[2:]) and "in or before" in whatif.where_it_acts(moved[2:])
    gone = ex.change(ex.load("bert", device="cpu"), "The dog slept.", [ex.NoPositions("encoder")])
    assert "in or before layer 0's attention" in whatif.where_it_acts(gone.downstream("encoder")), (
        "positions are added before it"
    )


RECORDED = {
    "corruption": ("planted",),
    "training": ("rates", "rates-senses", "signal", "left-out", "next-sentence", "masks", "rates-decoder", "sizes-decoder"),
    "elmo": ("crossed", "mixes", "tagging"),
    "finetuning": ("labels", "finetuning-rates", "miniglue"),
    "prompting": ("prompting",),
    "decoding": ("blank-pairs",),
}


@pytest.mark.parametrize("lesson", RECORDED)
def test_what_was_recorded_says_by_which_command_it_is_measured_again(lesson: str) -> None:
    """The command of the card stands on the page as well."""
    pages = "".join(path.read_text("utf-8") for path in (Path(ex.__file__).parent / "app" / "lessons" / lesson).glob("*.*"))
    for name in RECORDED[lesson]:
        card = (Path(ex.__file__).parent.parent / "data" / "results" / name / "CARD.md").read_text("utf-8")
        module = re.findall(r"studies\.(\w+)", card)[-1]
        patterns = (rf"studies\.{module}\b", rf"recorded\.again\([^\n]*{module}\b", rf"`explorer {module}`")
        assert re.search("|".join(patterns), pages), f"{name}: {module}"


@pytest.mark.usefixtures("unfolded")
def test_the_fault_is_not_the_edit_above_and_its_code_runs() -> None:
    at = opened("whatif")
    fault = next(radio for radio in at.radio if radio.key == "guess.fault")
    right = next(name for name in fault.options if "feed-forward" in name)
    fault.set_value(right).run()  # what was done is shown
    codes = [block.value for block in at.code if "ex.change(" in block.value]
    for code in codes:
        compile(code, "page", "exec")
    assert "..." not in "".join(codes) and "…" not in "".join(codes)
    edits = {edit for code in codes for edit in re.findall(r"ex\.[A-Z]\w+\([^\]\n]*", code)}
    assert len(codes) >= 3 and len(edits) == 2, "one edit of the visitor's in two figures, and the fault"


def test_the_cost_of_published_trainings_follows_from_their_sizes() -> None:
    """BERT's 39.7 epochs and GPT's petaflop-day, which a slide gives as 26."""
    rows = {name: 6 * weights * tokens / data.DAY for name, weights, tokens, _ in data.SCALE}
    assert rows["GPT"] == pytest.approx(0.65, abs=0.01) and rows["GPT-3"] == pytest.approx(3650, rel=0.01)
    with torch.device("meta"):
        large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
        published = [BertForPreTraining(BertConfig(**shape)) for shape in ({}, large)]
    weights = {name: count for name, count, *_ in data.SCALE}
    counted = [sum(part.numel() for part in model.parameters()) for model in published]
    assert counted == [weights["BERT base"], weights["BERT large"]]
    text = data.at_scale(*(4_000_000, 1e6))
    assert (
        "| this one | 4,000,000 | 1,000,000 | 2.4 × 10¹³ |" in text and f"{rows['BERT base'] * data.DAY / 2.4e13:,.0f}" in text
    )
    assert data.labels_question().answer == "about six hundred thousand times" and "625,000" in data.labels_question().why


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_masking_rates_of_a_training_are_those_of_its_plan(name: str) -> None:
    plan = json.loads(RUNS[name].read_text("utf-8"))["plan"]
    first, last = plan.get("mask_rate_first"), plan.get("mask_rate")
    outcome = training_parts.hiding(plan)
    assert re.findall(r"\d+%", outcome) == ([f"{first:.0%}", f"{last:.0%}"] if first and first != last else [])


def test_what_electra_says_of_its_random_tokens_is_what_its_plan_did() -> None:
    plan = json.loads(RUNS["electra"].read_text("utf-8"))["plan"]
    last = round(plan["random_until"] * plan["steps"])
    assert f"Until step {last:,} some of the replaced tokens are random" in training_parts.said_of(plan, "replaced")
    assert plan["teacher"] is None and plan["random_until"] == 0.2
    assert training_parts.replacing({"steps": 4}) == ""


def test_no_text_repeats_a_masking_rate_that_only_a_plan_knows() -> None:
    """The shipped BERT may be trained again by another plan; 15 % is the published rate, and that of every check."""
    texts = [entry_of(name).says for name in STRATEGIES] + [" ".join(VIEWS["training"].caption.split())]
    texts += [" ".join(row) for row in prose("training").rows("slides")]
    assert all("50 %" not in text for text in texts)


def test_grouped_keys_are_said_of_the_version_that_has_them_and_of_the_model_that_is_shown() -> None:
    config = ex.load("llama", device="cpu").config
    assert 0 < config.kv_heads < config.heads


def test_what_is_made_large_and_what_is_made_small_in_fine_tuning_are_told_apart() -> None:
    """The formula of the slide has no minus; the losses of the pictures are positive."""
    model = ex.load("gpt2", device="cpu")
    trained = ex.training.compare_ways(model, task="new words: kind", ways=["frozen"], examples=25, steps=1, device="cpu")
    assert (trained.loss > 0).all()


def test_pre_training_is_praised_only_for_what_the_tasks_ask() -> None:
    record = ex.result("labels")
    assert (
        all(task.startswith("new words") for task in record.tasks) and finetuning.NEW in finetuning.label_question(record).why
    )
    other = replace(record, tasks=("sentiment", *record.tasks[1:]))
    assert finetuning.NEW not in finetuning.label_question(other).why


def test_the_best_head_is_put_beside_what_the_model_does_by_the_cards() -> None:
    by_model = behaviour.best_heads()
    cards = {name: (ex.models()[name].folder / "CARD.md").read_text("utf-8") for name in by_model}
    assert {name for name, (*_, taught) in by_model.items() if taught} == {"bert-told"}
    for name, (_, head, _) in by_model.items():
        assert f"| {behaviour.HEAD} (validation) | " in cards[name] and f"{head:.3f}" in cards[name]
    question = behaviour.head_question(by_model)
    best = max((name for name, (*_, taught) in by_model.items() if not taught), key=lambda name: by_model[name][0])
    assert question.question.startswith(best) and f"{by_model[best][1]:.0%}" in question.why
    assert len(behaviour.rows(by_model)) == len(by_model) and behaviour.rows(by_model)[0]["model"].startswith(best)


def test_who_resolves_it_is_answered_by_the_cards() -> None:
    by_model = behaviour.paired()
    assert set(by_model) == set(behaviour.RESOLVING)
    for name, figures in by_model.items():
        card = (ex.models()[name].folder / "CARD.md").read_text("utf-8")
        for kind, value in zip(behaviour.PAIRED, figures, strict=True):
            assert (f"| {kind} (validation) | " in card) == (value == value) and (value != value or f"{value:.3f}" in card)
    question = behaviour.who_question(by_model)
    can = {name for name, figures in by_model.items() if min(value for value in figures if value == value) > 0.25}
    assert question.answer in question.options and {name for name in by_model if name in question.answer.split()} == can
    assert behaviour.who_question({"a": (0.0, 0.1, 0.2), "b": (0.3, 0.2, 0.4)}).answer == "none of them"
    every = {name: (0.9, 0.9, 0.9) for name in "abc"}
    assert behaviour.who_question(every).answer == behaviour.ALL in behaviour.who_question(every).options
    assert behaviour.who_question({"a": (0.3, 0.9, float("nan")), "b": (0.1, 0.2, 0.4)}).answer == "only a"


@pytest.mark.parametrize(("head", "answer"), [(0.5, 0), (0.7, 1), (0.9, 2)])
def test_the_answer_about_the_best_head_follows_its_figure(head: float, answer: int) -> None:
    question = behaviour.head_question({"one": (0.9, head, False), "other": (0.95, 1.0, True)})
    assert question.answer == question.options[answer] and question.question.startswith("one") and "other" in question.why


def test_words_with_another_meaning_than_the_glossary_s_are_not_explained() -> None:
    assert "glossary#mask" not in glossary.explained("Mask too little and each text teaches little; mask too much, and …", {})
    assert all("glossary#norm" not in glossary.explained(VIEWS[name].caption, {}) for name in ("order", "residual-stream"))


def test_half_of_the_pairs_follow_each_other_as_the_lab_and_the_tour_say(bert: TransformerModel) -> None:
    others = ex.microworld.texts(20, 3, "validation")
    pairs = [ex.corrupt(corruption.STORY, "nsp", tokenizer=bert.tokenizer, corpus=others, seed=n) for n in range(80)]
    follows = sum(pair.labels["nsp"][0] == 0 for pair in pairs)
    assert 25 <= follows <= 55


def test_every_symbol_of_the_schemes_is_named_beside_its_formula() -> None:
    texts = {name: POSITIONS[name].says(trained=False) for name in ("sinusoidal", "alibi")}
    assert all(f"${symbol}$" in texts["sinusoidal"] for symbol in ("p", "i", "d"))
    assert all(f"${symbol}$" in texts["alibi"] for symbol in ("i", "j", "m"))


def test_the_spread_of_a_sum_of_products_grows_as_the_root_of_their_number_as_the_board_says() -> None:
    rng = np.random.default_rng(0)
    for d in (16, 64, 256):
        sums = (rng.normal(size=(20_000, d)) * rng.normal(size=(20_000, d))).sum(axis=1)
        assert sums.std() == pytest.approx(np.sqrt(d), rel=0.05)


def test_scores_are_divided_by_the_root_of_the_width_of_a_head_wherever_it_is_written() -> None:
    """√d without its k was the root of another number on a page that calls the width of the model d."""
    texts = [part for station in STATIONS.values() for part in (station.name, station.formula, station.says)]
    texts += [text for view in VIEWS.values() for text in (view.title, view.caption)] + list(EDITS) + list(NAMES)
    texts += [line.label for line in ex.result("scale").lines] + [ex.result("scale").title, ex.NoScale("encoder").label]
    assert not [text for text in texts if re.search(r"√d(?![_ₖ])", text)]
    trace = ex.trace(ex.load("bert", device="cpu"), "The dog saw the cat.", blocks=True)
    d = trace.attention[0].q.shape[-1]
    assert trace.attention[0].scale == pytest.approx(d**-0.5) and d < trace.hidden["encoder"].shape[-1]


def test_small_probabilities_are_written_as_numbers_not_in_millionths() -> None:
    """An axis of probabilities said 100µ."""
    model = ex.load("transformer", device="cpu")
    record = ex.analysis.smoothed_targets(model, "The dog was tired.", target="Le chien était fatigué.")
    assert VIEWS["smoothed-targets"](record).layout.xaxis.exponentformat == "none"


def test_the_board_of_the_translation_opens_where_a_row_reads_the_source_as_the_tour_says() -> None:
    """It opened at the decoder's own attention, whose columns are the words that were written."""
    step = next(step for step in STEPS if step.part == "cross-attention")
    trace = families.translated(step.choices["text"]).run()
    begin = families.source_first()
    _, columns = trace.axes(begin["stream"])
    assert "".join(columns.texts).replace("·", " ").strip().startswith(step.choices["text"])
    cross = [attention for attention in trace.attention if attention.stream == "cross"]
    assert begin["layer"] == cross[-1].layer
    rows, most = trace.axes("cross")[0].texts, cross[-1].weights[0].argmax(1)
    assert "river" in columns.texts[most[rows.index("·la")]], "the row that predicts “rivière” reads “river”"


@pytest.mark.parametrize(
    ("first", "last", "answer"), [(0.3, 0.5, 2), (0.5, 0.3, 1), (0.4, 0.45, 0), (0.45, 0.4, 0), (0.2, 0.95, 2)]
)
def test_the_largest_weight_without_the_division_rises_falls_or_stays(first: float, last: float, answer: int) -> None:
    """By more than a tenth of all weight, in the mean over many queries."""
    largest = np.array([[first, first], [last, last]])
    record = Saturation(np.array([1, 256]), np.zeros((2, 10)), largest, largest, largest, 100)
    question = attention_questions.scale_question(record)
    assert question.answer == question.options[answer] and f"{first:.2f} at dₖ = 1 to {last:.2f} at dₖ = 256" in question.why
