"""What the pages of lessons 0 to 6 say in words: every claim here was wrong once, and is held against records, weights or counts."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import unmarked
from opening import opened
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.analysis.evaluation.generating import rewritten
from explorer.analysis.word_vectors import ids_of, unit
from explorer.app import controls
from explorer.app.exercises import table_row
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.families import parts as families
from explorer.app.lessons.heads import questions as heads
from explorer.app.lessons.start import questions as start
from explorer.app.lessons.vectors import editing_questions as edits
from explorer.app.lessons.vectors import networks_questions, sentences
from explorer.app.lessons.vectors import questions as vectors
from explorer.app.lessons.vectors import sentences_questions as whole
from explorer.app.lessons.vectors.parts import known_pairs
from explorer.app.prose import prose
from explorer.app.tour_steps import STEPS
from explorer.models.run_folder import described
from explorer.models.transformer import TransformerModel
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.positions import POSITIONS
from explorer.training.corpora import corpus_of
from explorer.views import VIEWS
from explorer.views.board.stations import STATIONS
from explorer.views.start import KINDS as SIGHTS
from explorer.views.theme import unseen_note

ROOT = Path(__file__).parent.parent


def test_the_picture_of_elmo_says_what_its_uncoloured_cells_are() -> None:
    elmo = ex.load("elmo", device="cpu")
    begin = start.TEXT.index(start.WORD)
    record = ex.analysis.visibility_map(elmo, start.TEXT, (begin, begin + len(start.WORD)))
    drawn = VIEWS["sight"](record).data[0].z
    np.testing.assert_array_equal(np.asarray(drawn) == 0, record.seen == 3)
    assert (record.seen.diagonal() == 3).all() and "itself: both (blank)" in SIGHTS["bilm"]


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
    made = ex.analysis.edit_corpus(edits.CORPUS, (*edits.CORPUS, edits.ADDED), *edits.PAIR, watch=edits.WATCH)
    now = dict(zip(made.words, made.ratios[1], strict=True))
    assert now["gas"] < now["water"] < now["solid"] and np.isnan(now["fashion"])
    caption = " ".join(VIEWS["corpus-ratios"].caption.split())
    assert "in between for words related to both" in caption and "near neither has none (–)" in caption


def straight(relation: str) -> float:
    """The mean cosine of the differences of a relation's pairs in word2vec, as the plane has them."""
    model = ex.load("word2vec", device="cpu")
    pairs = known_pairs("word2vec", relation)
    a, b = (unit(model)[ids_of(model, side)] for side in zip(*pairs, strict=True))
    apart = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
    return float((apart @ apart.T)[np.triu_indices(len(pairs), 1)].mean())


def test_the_tour_opens_the_plane_on_a_relation_whose_lines_are_nearly_parallel() -> None:
    step = next(step for step in STEPS if step.page == "vectors")
    assert straight(step.choices["relation"]) > 0.7 and "Not every relation is" in step.know and straight("gender") < 0.4


def test_what_is_said_of_a_trained_t5_is_said_of_the_stack_whose_numbers_are_shown() -> None:
    model = ex.load("t5", device="cpu")
    shown = ex.places(model).scores[:, 5, :20]
    biases = {stream: ex.trace(model, "a " * 20, target="a " * 20).at(stream, 0).bias for stream in ("encoder", "decoder")}
    nearer = [
        name for name, bias in biases.items() if bias is not None and np.allclose(bias[:, 5, :6], shown[:, :6], atol=1e-5)
    ]
    assert nearer == ["encoder"] and "the encoder of a shipped T5" in POSITIONS["t5"].says(trained=True)


def test_the_picture_of_shuffled_words_says_where_its_two_halves_are() -> None:
    record = ex.shuffle(ex.load("bert", device="cpu"), "The dog saw the cat.")
    with_positions, without = (tuple(VIEWS["order"](record).layout[axis].domain) for axis in ("yaxis", "yaxis2"))
    assert with_positions[0] > without[1] and "Above with positions" in VIEWS["order"].caption


def test_rows_of_slides_name_only_slides_that_there_are() -> None:
    """Checked by hand against the decks: L1 has no slide with sinusoids in code, L2 none with heads of pronouns.

    A row corrects a slide, so it names a deck; what no slide says is explained in the text of a part.
    """
    rows = [row for page in LESSONS for row in prose(page).rows("slides")]
    assert not [where for where, *_ in rows if not re.match(r"(L[0-4]|all\b)", where) or "further reading" in where]
    assert not [says for where, says, _ in rows if "sines, then" in says or "antecedent" in says]
    assert any("represents a single attention head" in says and where.startswith("L2") for where, says, _ in rows)
    assert any(
        "reduced to the original input/output dimensionality" in says and where.startswith("L2") for where, says, _ in rows
    )


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_queries_keys_and_values_are_a_product_and_a_bias_as_the_steps_say(name: str) -> None:
    model = ex.load(name, device="cpu")
    stack = model.family
    trace = ex.trace(model, "The dog saw the cat.", blocks=True)
    block, attention = trace.block(stack, 0, "attention"), trace.at(stack, 0)
    read = block.normed if block.place == "pre" else block.given
    linear = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention)).query
    matrix, bias = (one.detach().numpy() for one in (linear.weight, linear.bias))
    made = (read @ matrix.T).reshape(len(read), attention.heads, -1).transpose(1, 0, 2)
    shift = bias.reshape(attention.heads, 1, -1)
    np.testing.assert_allclose(made + shift, attention.q, atol=1e-4)
    assert np.abs(made - attention.q).max() > 0.01, "without the bias it is another number"
    assert all(f"b_{which}" in STATIONS[at].formula for which, at in (("Q", "qkv"), ("K", "qkv"), ("V", "qkv"), ("O", "wo")))


@pytest.mark.parametrize(("name", "supervised"), [("bert-told", True), ("bert", False)])
def test_a_supervised_head_is_called_supervised_and_visible_tokens_are_explained(name: str, supervised: bool) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    at.query_params["model"] = name
    at = at.switch_page(str(LESSONS["heads"].page)).run()
    said = unmarked(" ".join(block.value for block in at.markdown))
    assert (
        not at.exception
        and (prose("heads")("supervised") in said) is supervised
        and prose("heads")("visible") in said
        and "Pronoun → antecedent" in said
    )


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
    said = families.beyond(bert.config)
    assert all(part in said for part in ("segment embeddings", "normalises $h_0$", "transforms $h_L$", "a bias"))
    assert families.beyond(dataclasses.replace(gpt2.config, final_norm=False)) == ""
    for name, says in (("transformer", "multiplies $UW_e$ by $\\sqrt d$"), ("t5", "multiplies $h_L$ by $1/\\sqrt d$")):
        model = ex.load(name, device="cpu")
        said, factor = families.beyond(model.config), model.config.dim**0.5
        inside = model.module.embeddings.scale if name == "transformer" else 1 / model.module.head.scale
        assert says in said and inside == pytest.approx(factor) and says not in families.beyond(gpt2.config)


def test_the_translator_keeps_the_negation_of_short_forms() -> None:
    model = ex.load("transformer", device="cpu")
    for word in ("did not", "didn't", "didn’t"):
        *_, last = ex.decode(model, f"The animal {word} cross the street.", max_tokens=32, candidates=0, cross=False)
        assert model.tokenizer.decode(last.ids).strip() == "L'animal n'a pas traversé la rue.", word
    assert "*didn't* is *n'a pas*" in prose("decoding")("gender")


@pytest.mark.parametrize("split", ["validation", "test"])
def test_the_translator_reads_short_forms_with_either_apostrophe(split: str) -> None:
    model = ex.load("transformer", device="cpu")
    held = corpus_of("english-french-1.1:4000").held(250, split).texts
    short = [pair for pair in held if re.search(r"\w['’]\w", pair.source)]
    gold = [model.tokenizer.decode(model.tokenizer.encode(pair.target).ids) for pair in short]
    for other in ({}, {"'": "’", "’": "'"}):
        read = [model.tokenizer.encode(pair.source.translate(str.maketrans(other))).ids for pair in short]
        said = [model.tokenizer.decode(ids) for ids in rewritten(model, read, 80)]
        assert len(short) > 40 and np.mean([a == b for a, b in zip(said, gold, strict=True)]) >= 0.95


def test_the_caption_of_curves_holds_for_intervals_and_for_arithmetic() -> None:
    """Bars may be intervals, and what a layer costs was measured on no model at all."""
    caption = VIEWS["curves"].caption
    assert "unless the line above the picture says" in caption and "measured or calculated" in caption
    assert "error bars" in VIEWS["costs"].caption and "runs" not in VIEWS["costs"].caption
    assert VIEWS["costs"].fits(ex.result("scale")), "what was measured is no calculation"
    record = ex.analysis.exposure_bias(ex.load("gpt2", device="cpu"), ex.microworld.texts(20, 1, "validation"), count=2)
    assert "95 % intervals" in record.curves.note and "95 % intervals" in VIEWS["exposure"].caption
    assert not VIEWS["exposure"].fits(record.curves) and VIEWS["exposure"].fits(ex.result("scale"))


def test_a_block_without_parameters_is_not_said_to_equal_a_sentence(bart: TransformerModel) -> None:
    built = ex.analysis.blueprint(bart, "The dog saw the cat.", target="The dog saw the cat.")
    shared = next(part for part in built.parts if "shared" in part.written)
    assert families.counted(shared) == "Parameters here: **0** (shared with the decoder, counted there)."
    assert "equal to" in families.counted(next(part for part in built.parts if part.counted))


@pytest.fixture(scope="module")
def bart() -> TransformerModel:
    return ex.load("bart", device="cpu")


def test_t5_multiplies_its_scores_by_one_and_so_does_the_board() -> None:
    trace = ex.trace(ex.load("t5", device="cpu"), "The dog saw the cat.", target="The dog.")
    assert {attention.scale for attention in trace.attention} == {1.0}
    assert "its scores are multiplied by 1" in prose("attention")("t5")


def test_t5_starts_with_queries_that_are_smaller_by_the_root_of_a_head_s_width() -> None:
    model = ex.build("t5", tokenizer=ex.load("t5", device="cpu").tokenizer, device="cpu")
    layer = next(part for part in model.module.modules() if isinstance(part, MultiHeadAttention))
    query, key = (part.weight.detach().std().item() for part in (layer.query, layer.key))
    assert query / key == pytest.approx((model.config.dim / model.config.heads) ** -0.5, rel=0.05)
    assert "smaller by the factor $1/\\sqrt{d_k}$" in prose("attention")("t5")


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
    made = x @ form @ x.T + (x @ q[0][:d].T @ k[1][:d])[:, None] + x @ k[0][:d].T @ q[1][:d] + q[1][:d] @ k[1][:d]
    np.testing.assert_allclose(made, attention.stage("scores", 0), atol=1e-3)
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
    assert at.text_input(key="text").value == controls.LECTURED and any(controls.WARNING in one.value for one in at.info)
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
    assert both[0] > 0.5 and min(both) > 50 * max(left) and "A model that sees both sides fills the gap" in step.know


def test_the_lesson_on_vectors_opens_with_words_that_training_has_seen_often() -> None:
    """A hundred times per million or more; the trained vectors tell the first pair from its negative samples."""
    word2vec = ex.load("word2vec", device="cpu")
    read = ex.text.counted_examples(list(ex.microworld.stories(3000, 1)), word2vec.tokenizer)
    record = ex.analysis.skipgrams(word2vec, vectors.TEXT, read)
    said = record.said[record.of(int(record.pairs[0, 0]))[0]]
    assert record.share.min() > 1e-4 and said[0] > 0.5 > 2 * said[1:].max()
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
    record = sentences.measured()
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
    assert "the same stories of one small world" in prose("start")(
        "what happens here"
    ) and "how long they were trained" in prose("start")("what happens here")


def test_how_a_table_of_positions_starts_is_said_of_the_models_that_start_so() -> None:
    starts = {name: ex.load(name, device="cpu").config.tables for name in ("bert", "gpt2", "bart")}
    assert starts == {"bert": "sines", "gpt2": "sines", "bart": "random"}
    assert "In *bert* and *gpt2* here it starts as sinusoids" in " ".join(VIEWS["place-vectors"].caption.split())


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
    assert 0.5 < (after > before).mean() < 1 and "it mostly grows" in " ".join(VIEWS["residual-stream"].caption.split())
    assert all(np.array_equal(later.given, block.total) for block, later in pairwise(pre)), "nothing rescales it"
    assert all(np.array_equal(later.given, block.normed) for block, later in pairwise(post))
    for block in post:
        np.testing.assert_allclose(block.norm_input, block.total, atol=1e-6)
