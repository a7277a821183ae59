"""Statements of the pages that lecturers found wrong or misleading: each test computes what a statement claims, whatever its words."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, sample
from markdown_it import MarkdownIt
from transformers import BertConfig, BertForPreTraining, BertModel

import explorer as ex
from explorer.analysis.parameters import total
from explorer.analysis.predictions import teacher_and_student
from explorer.app import glossary
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.families.published import shape_of
from explorer.app.lessons.finetuning import parts as tuning_parts
from explorer.app.lessons.finetuning import questions as tuning
from explorer.app.lessons.heads import questions as heads
from explorer.app.lessons.prompting import questions as prompting
from explorer.app.lessons.vectors import questions as vectors
from explorer.app.lessons.whatif import questions as whatif
from explorer.app.lessons.yours import questions as yours
from explorer.app.lessons.yours import twin
from explorer.app.prose import prose
from explorer.models.abilities import ABILITIES
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.models.transformer import TransformerModel
from explorer.records import Neighbours, PromptScores, Ratios, Solved
from explorer.text.sidebyside import LANGUAGES
from explorer.training.finetune import TASKS, bodies
from explorer.training.finetune.labelled import draw_labelled, task_named
from explorer.training.finetune.plan import FinetunePlan
from explorer.training.interpolation import questions
from explorer.views import VIEWS, theme
from explorer.views.board.stations import STATIONS
from explorer.views.theme import DEPTH
from studies import models_page
from studies.models_page import SPLITS


def title_of(figure: object) -> str:
    """The title of a figure as one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", str(figure.layout.title.text)).split())  # type: ignore[attr-defined]


MARKDOWN = MarkdownIt("commonmark").enable("table")


def tables(text: str) -> list[list[int]]:
    """Of each table of a text as Markdown shows it: how many cells each row has."""
    found: list[list[int]] = []
    for token in MARKDOWN.parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append(0)
        elif token.type in ("th_open", "td_open"):
            found[-1][-1] += 1
    return found


@pytest.mark.parametrize("lesson", sorted(LESSONS))
def test_a_table_keeps_its_cells_when_the_glossary_marks_it(lesson: str) -> None:
    """A bar in a meaning ended the cell in which its term was marked; cells beyond the head's are dropped, so text is compared as well."""
    for text in prose(lesson).sections.values():
        seen: dict[str, str] = {}
        marked = glossary.explained(text, seen)
        assert tables(marked) == tables(text)
        plain, shown = (re.sub(r"<[^>]+>", "", MARKDOWN.render(each)) for each in (text, marked))
        assert shown.split() == plain.split()


def test_every_meaning_can_be_in_a_table() -> None:
    """A title is shown as the glossary has it, in a table and outside of it."""
    for term in glossary.TERMS:
        text = f"| a | b |\n|---|---|\n| {term.name.replace('|', chr(92) + '|')} query softmax | end |\n"
        tokens = [child for token in MARKDOWN.parse(glossary.explained(text, {})) for child in token.children or ()]
        titles = [token.attrs["title"] for token in tokens if token.type == "link_open"]
        assert titles and all(title in {term.says for term in glossary.TERMS} for title in titles), term.name
        assert any(token.content == "end" for token in tokens)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_a_norm_evens_the_spread_before_gamma_and_not_after_it(name: str) -> None:
    for block in ex.trace(ex.load(name, device="cpu"), SENTENCE, blocks=True).blocks:
        even = (block.norm_input - block.mean[:, None]) / block.deviation[:, None]
        assert np.sqrt(np.square(even).mean(1)) == pytest.approx(1, abs=1e-2)
        after = block.normed.std(1)
        assert after.max() > 1.01 * after.min(), "the statement would be true here"


def test_attention_weights_outnumber_states_but_not_their_multiplications() -> None:
    """BERT base at 512 tokens: what the row on quadratic cost says, from the shapes of the published model."""
    row = next(row for row in prose("families").rows("slides") if "quadratically" in row[1])
    n, d, heads_, hidden = 512, 768, 12, 3072
    weights, states = heads_ * n * n, n * d
    pairs, alone = 2 * n * n * d, n * (4 * d * d + 2 * d * hidden)
    assert f"12 · 512² = {weights / 1e6:.1f} million" in row[2] and f"{weights / states:.0f} times as many" in row[2]
    assert f"{pairs / (pairs + alone):.0%}" in row[2]


def test_the_reason_decides_which_noun_a_sentence_asks_for(bert: TransformerModel) -> None:
    asked = {
        text: heads.noun(ex.trace(bert, text))
        for text in (
            SENTENCE, "The animal did not cross the street because it was too tired.", SENTENCE.replace("tired", "wide"),
            "The animal did not cross the street because it was too wide.", "The dog saw it.",
        )
    }  # fmt: skip
    assert list(asked.values()) == ["dog", "animal", "river", "street", ""]


def test_the_loss_of_an_encoder_leaves_out_what_it_never_predicts(bert: TransformerModel) -> None:
    """Damage to the words was hidden by the large losses of [CLS] and [SEP], which no training asks for."""
    edit = ex.SilenceHead("encoder", 1, 2)
    for text in (SENTENCE, "The dog was [MASK]."):
        before, after = ex.trace(bert, text), ex.trace(bert, text, edits=[edit])
        comparison = ex.compare(before, after)
        ids, shown = torch.tensor(before.source.ids), torch.tensor(~np.asarray(before.source.special))
        for trace, loss in zip((before, after), comparison.loss, strict=True):
            scores = torch.tensor(trace.outputs["lm"]).double()
            assert loss == pytest.approx(float(torch.nn.functional.cross_entropy(scores[shown], ids[shown])), rel=1e-5)
        assert np.isnan(comparison.surprise[:, ~shown.numpy()]).all()
        assert f"**{comparison.loss[1]:.2f}**" in whatif.in_nats(comparison, "encoder")


@pytest.mark.parametrize("seed", sample(8, 3))
def test_chosen_tokens_are_told_from_changed_ones(bert: TransformerModel, seed: int) -> None:
    record = ex.corrupt(SENTENCE * 2, "mlm", tokenizer=bert.tokenizer, seed=seed)
    title = title_of(VIEWS["corruption"](record))
    text = int((np.asarray(record.original.words) >= 0).sum())
    chosen, changed = int(record.scored.sum()), int((record.source.ids != record.original.ids).sum())
    assert f"{chosen} of {text} tokens chosen" in title
    assert f"{changed} of them changed" in title or chosen == changed


def test_the_mean_of_the_solid_bars_is_the_loss_of_training(bert: TransformerModel) -> None:
    """Their sum is the lecture's L, their mean what training makes small, as in PyTorch."""
    text = ex.corrupt(SENTENCE * 2, "mlm", tokenizer=bert.tokenizer, seed=1)
    guess = ex.guess(bert, text)
    scores = torch.tensor(bert.logits(text.source)).double()
    labels = torch.tensor(np.where(text.scored, text.original.ids, -100))
    mean = float(torch.nn.functional.cross_entropy(scores, labels))
    (fact,) = theme.facts_of(VIEWS["surprises"](guess))
    assert guess.loss / text.scored.sum() == pytest.approx(mean, rel=1e-4) and f"mean {mean:.2f}" in fact


def test_without_a_cache_the_source_is_still_read_once() -> None:
    model = ex.load("transformer", device="cpu")
    record = ex.decoding.watch(model, SENTENCE, max_tokens=6)
    source, rows = len(record.trace.source), len(record.trace.axes("decoder")[0])
    ends = [*record.rows[1:], rows]
    title = title_of(VIEWS["cache"](record, cached=False))
    cached, uncached = source + rows, source + sum(ends)
    assert f"{cached} with a cache, {uncached} without ({uncached / cached:.1f} times" in title


def test_cut_texts_are_told_from_ended_ones(gpt2: TransformerModel) -> None:
    long, short = (ex.decoding.written(gpt2, "The dog", "greedy", "greedy", max_tokens=n) for n in (60, 2))
    end = gpt2.tokenizer.vocabulary.last
    assert [text.ended for text in (long, short)] == [int(text.ids[-1]) == end for text in (long, short)] == [True, False]
    titles = [title_of(VIEWS["written"](texts)) for texts in ((long, short), (long, long), (short, short))]
    assert ["1 of 2 texts were cut" in title for title in titles] == [True, False, False]


def test_a_model_and_its_random_twin_are_drawn_in_the_same_colours(
    monkeypatch: pytest.MonkeyPatch, bert: TransformerModel
) -> None:
    traces = (ex.trace(bert, SENTENCE), ex.trace(ex.build("bert", tokenizer=bert.tokenizer, seed=0, device="cpu"), SENTENCE))
    figures = []
    monkeypatch.setattr(twin.web, "drawn", lambda figure, key: figures.append(figure))
    top = max(map(twin.largest, traces))
    for trace in traces:
        twin.drawn(trace, "A", top)
    for trace, figure in zip(traces, figures, strict=True):
        z, axis = np.asarray(figure.data[0].z, np.float64), figure.layout.coloraxis
        largest = max(float(layer.weights.max()) for layer in trace.attention)
        assert z.max() / axis.cmax == pytest.approx(largest / top, rel=0.01)
        assert float(axis.colorbar.ticktext[-1]) == pytest.approx(top, rel=0.05)


@pytest.mark.parametrize("name", [name for name in ("bert", "gpt2") if name in models()])
def test_new_weights_are_those_of_the_layer_that_fine_tuning_adds(name: str) -> None:
    model = ex.load(name, device="cpu")
    layer = tuning_parts.output_of(name)
    built = bodies.with_output_layer(
        model, TASKS["entailment"], ("a", "b", "c"), FinetunePlan(task="entailment", model=name, how="frozen")
    )
    shapes = [tuple(weight.shape) for weight in built.layer.parameters()]
    assert [tuple(weight.shape) for weight in layer.parameters()] == shapes
    exercise = tuning.exercises(ex.training.task_inputs(model), layer)[0]
    assert exercise.right(str(sum(weight.numel() for weight in built.layer.classify.parameters())))


def test_the_note_on_glue_says_which_order_each_table_has() -> None:
    record = ex.result("miniglue")
    note = tuning.orders(record)
    ours = re.findall(r"(ELMo \+ biLSTM|GPT|BERT) (0\.\d{3})", note)
    assert [name for name, _ in ours] == sorted(tuning.SAME, key=lambda name: -record.average[record.systems.index(name)])
    shuffled = replace(record, scores=record.scores[::-1])  # the weakest first: another order than the lecture's
    assert tuning.orders(shuffled) != note
    gap = (record.scores[record.systems.index("GPT")] - record.scores[record.systems.index("BERT")]).mean(0)
    assert bool(re.search("(GPT and BERT|BERT and GPT) are equal up to chance", note)) == (
        abs(gap.mean()) < 2.776 * gap.std(ddof=1) / len(gap) ** 0.5
    )
    assert (
        f"BERT base has {total(shape_of('BERT base')) / 1_359_522:.0f} times as many" in note
    )  # as the results say of our BERT
    for task, column in zip(record.tasks, record.scores.mean(-1).T, strict=True):
        assert (task in note) == (record.systems[int(column.argmax())] == "bag of words")


def test_an_analogy_says_whether_its_nearest_word_was_given() -> None:
    solved = Solved("m", ("r",), ("",), np.array([2]), np.ones(1), np.zeros(1), np.array([0.5]))
    usual = Neighbours("m", ("a", "b", "c"), ("d",), np.array([0.5]))
    whys = [vectors.analogy_question(replace(usual, words=(word,)), usual, solved).why for word in ("c", "d")]
    assert [vectors.ECHO in why for why in whys] == [True, False] and [vectors.NO_ECHO in why for why in whys] == [False, True]


@pytest.mark.parametrize(("place", "answer"), [(0, 0), (9, 0), (10, 1), (99, 1), (100, 2), (900, 2)])
def test_opposites_are_said_to_share_contexts_only_where_they_are_near(place: int, answer: int) -> None:
    words = tuple(f"w{n}" for n in range(1000))
    words = (*words[:place], vectors.OPPOSITES[1], *words[place:])
    question = vectors.opposite_question(Neighbours("m", (vectors.OPPOSITES[0],), words, np.linspace(1, 0, len(words))))
    assert question.answer == question.options[answer] and vectors.NEAR[answer] in question.why


def test_the_ratio_of_the_exercise_rests_on_many_occurrences() -> None:
    """Of the words near one of the two the one that both have most often is asked for, never one that occurs once."""
    often = np.array([[90.0, 40.0, 900.0], [0.25, 8.0, 800.0]])
    kinds = ("near the first", "near the first", "often near both")
    counted = Ratios("m", ("he", "she"), ("his", "beard", "and"), kinds, often, often / 1e4, np.ones(3), 0.0, 3, 10)
    word2vec = ex.load("word2vec", device="cpu")
    drawn = ex.analysis.skipgrams(
        word2vec, vectors.TEXT, ex.text.counted_examples(ex.microworld.texts(50, 1), word2vec.tokenizer)
    )
    plane = ex.analysis.plane(word2vec, (("he", "she"), ("boy", "girl")), relation="gender")
    solved = Solved("m", ("r",), ("",), np.array([2]), np.ones(1), np.zeros(1), np.array([0.5]))
    asked = vectors.exercises(drawn, counted, solved, plane)[2]
    assert asked.right(f"{np.log(40 / 8):.2f}") and "beard" in asked.question


@pytest.mark.parametrize(
    ("low", "high", "noise"), [(0.47, 0.57, True), (0.5, 0.55, True), (0.5, 0.9, False), (0.7, 0.8, False)]
)
def test_a_gap_between_orders_is_called_noise_where_no_order_beats_chance(low: float, high: float, noise: bool) -> None:
    texts = 100
    right = np.stack([np.arange(texts) < share * texts for share in (low, high)])[:, None]
    record = PromptScores("t", "m", ("1 2", "2 1"), ("a", "b"), right, np.full((2, 2), 0.5), 0.5, "")
    limit = 0.5 + 1.96 * np.sqrt(0.25 / texts)
    why = prompting.order_question(record).why
    assert ("± 10%" in why) == noise == (high <= limit)


def test_perplexities_that_agree_with_bits_per_character_do_so_by_accident() -> None:
    question = yours.perplexity_question()
    a, b = (float(x) for x in re.findall(r"\d+\.\d{3}", question.question))
    assert a != b, "as they are shown"
    first, other = (float(x) for x in re.findall(r"\d\.\d{3}", question.why))
    assert ("by accident" in question.why) == ((a > b) == (first > other))


def test_the_share_of_the_peak_gives_the_petaflop_days_of_the_row() -> None:
    row = next(row for row in prose("training").rows("slides") if "petaflop-days" in row[1])
    share, days = (float(x) for x in re.search(r"([\d]+)% of a peak of 12 teraflops are ([\d.]+);", row[2]).groups())  # type: ignore[union-attr]
    assert round(8 * 30 * 12e12 * share / 100 / 1e15, 2) == days


def test_the_words_of_a_day_are_those_of_the_row() -> None:
    row = next(row for row in prose("training").rows("slides") if "through age 20" in row[1])
    a, b, few, many, years, small, slow, large, fast = (int(x.replace(",", "")) for x in re.findall(r"\d[\d,]*\d|\d", row[2]))
    days = years * 365.25
    assert [round(n * days, -3) for n in (a, b)] == [few, many] and [round(n / days) for n in (small, large)] == [slow, fast]


def test_the_nine_percent_of_a_slide_are_a_share_of_the_score_before() -> None:
    row = next(row for row in prose("finetuning").rows("slides") if "amelioration" in row[1])
    bert, gpt, points, share, errors, *_ = (float(x) for x in re.findall(r"\d+(?:\.\d)?", row[2]))
    assert (points, share) == (round(bert - gpt, 1), round(100 * (bert - gpt) / gpt, 1))
    assert errors == round(100 * (bert - gpt) / (100 - gpt))


def test_closed_models_show_fewer_probabilities_than_open_ones() -> None:
    closed, weights, everything = yours.opened_by_kind()
    assert closed["probabilities of tokens"] not in ("yes", "–") and weights["probabilities of tokens"] == "yes"
    assert list(everything.values())[1:] == ["yes"] * len(yours.KINDS)


def test_layer_0_is_the_first_layer_and_states_are_counted_by_the_layers_passed(bert: TransformerModel) -> None:
    """After 0 layers a state is the input, which layer 0 reads; every picture of states has one more row than there are layers."""
    trace = ex.trace(bert, SENTENCE, blocks=True)
    states = trace.hidden["encoder"]
    np.testing.assert_array_equal(states[0], trace.block("encoder", 0, "attention").given)
    np.testing.assert_allclose(states[1], trace.block("encoder", 0, "feed-forward").normed, atol=1e-6)
    other = ex.trace(bert, SENTENCE.replace("tired", "wide"), blocks=True)
    beside = VIEWS["beside-states"](ex.analysis.align(trace, other, (SENTENCE, SENTENCE.replace("tired", "wide"))))
    likeness = VIEWS["cka"](ex.analysis.cka(bert, bert, [SENTENCE, "A dog ran. A cat slept."]))
    for figure, axes in ((beside, ("yaxis",)), (likeness, ("xaxis", "yaxis"))):
        assert np.asarray(figure.data[0].z).shape[0] == bert.config.layers + 1 == len(states)
        assert all(DEPTH in figure.layout[axis].title.text for axis in axes)


def test_a_model_of_twelve_blocks_has_twelve_layers() -> None:
    """As the decks count them: BERT base has 12."""
    assert {int(number) for number in re.findall(r"\d+", glossary.meaning("block"))} == {shape_of("BERT base").layers}


def test_an_ability_that_minimal_pairs_ask_as_well_is_shown_beside_them() -> None:
    """A model may make verbs agree in its stories and in few bare sentences: both figures of its card are in one row."""
    for ability in (ability for ability in ABILITIES if ability.pairs):
        table = models_page.ability_table(ability, ["bert", "roberta"])
        for name in ("bert", "roberta"):
            row = next(line for line in table.splitlines() if line.startswith(f"| {name} |"))
            for split in SPLITS:
                figures = shipped_figures(models()[name].folder, split)
                assert f"{figures[ability.figure]:.3f}" in row and f"{figures[ability.pairs]:.3f}" in row


DECKS = (  # words of the lectures that a student looks up
    "autoregressive", "self-supervised", "cross-entropy", "self-attention", "multi-head attention", "causal", "bidirectional",
    "residual connection", "teacher forcing", "encoder–decoder", "sequence transduction", "WordPiece", "BPE", "one-hot",
    "static embedding", "contextual embedding", "skip-gram", "in-context learning", "zero-shot", "few-shot", "instruction tuning",
    "RLHF", "epoch", "downstream task", "held-out text", "label smoothing", "antecedent", "BLEU", "block", "sub-layer",
)  # fmt: skip


@pytest.mark.parametrize("word", DECKS)
def test_a_word_of_the_decks_is_explained_where_a_lesson_uses_it(word: str) -> None:
    term = glossary.FORMS[word]
    sections = (text for lesson in LESSONS for text in prose(lesson).sections.values())
    assert any(f"](glossary#{term.anchor} " in glossary.explained(text, {}) for text in sections)


def test_a_word_is_predicted_in_the_row_of_the_token_before_it() -> None:
    """So the cross-attention of that row, not of its own, belongs to its prediction."""
    model = ex.load("transformer", device="cpu")
    written = ex.decoding.written(model, SENTENCE, "greedy", "greedy", max_tokens=12).ids.tolist()
    trace = ex.trace(model, SENTENCE, target=written)
    assert trace.target is not None and trace.top is not None
    rows = trace.target.ids.tolist()
    assert rows[1:] == written[:-1] and trace.top.ids[:, 0].tolist() == written  # row i holds token i − 1 and predicts token i
    assert "in the row of the token before it" in prose("families")("once: board")


def test_the_spans_of_a_slide_are_hidden_in_pre_training_and_an_answer_never() -> None:
    """The meaning of *span* is shown at both: what is hidden belongs to its second half."""
    model = ex.load("spanbert", device="cpu")
    mask = model.tokenizer.vocabulary.mask
    for example in draw_labelled(task_named("questions"), 20, "test"):
        read = model.tokenizer.encode(example.asked.text, example.asked.pair)
        first, end = example.answer or (0, 0)
        assert (example.asked.pair or "")[first:end] == example.label and mask not in read.ids, "the answer is there to be read"
    hidden = ex.corrupt(SENTENCE * 2, "spanbert", tokenizer=model.tokenizer, seed=1)
    assert hidden.spans and mask in [hidden.source.ids[first] for first, _ in hidden.spans]
    everywhere, training = glossary.meaning("span").split("; ")
    assert "answer" in everywhere and "hidden" not in everywhere
    assert training.startswith("in pre-training") and "hidden" in training


def test_every_picture_of_a_divergence_names_its_unit(bert: TransformerModel) -> None:
    """One is in bits, one in nats, as PyTorch's divergence says; the glossary names both."""
    student = ex.load("distilbert", device="cpu")
    text = ex.hide(SENTENCE, ["river"], tokenizer=bert.tokenizer)
    change = ex.change(bert, SENTENCE, [ex.SilenceHead("encoder", 1, 2)])
    copied = teacher_and_student(bert, student, text)
    pairs = (
        ("change", change, {}, change.divergence, (change.before.outputs["lm"], change.after.outputs["lm"])),
        ("copied", copied, {"temperature": 1.0}, copied.gap[0], (bert.logits(text.source), student.logits(text.source))),
    )
    units = set()
    for view, record, settings, ours, scores in pairs:
        p, q = (torch.tensor(score).double().log_softmax(-1) for score in scores)
        nats = torch.nn.functional.kl_div(q, p, reduction="none", log_target=True).sum(-1).numpy()
        unit = "nats" if np.allclose(ours, nats, atol=1e-4) else "bits"
        np.testing.assert_allclose(ours, nats / (1 if unit == "nats" else np.log(2)), atol=1e-4)
        figure = VIEWS[view](record, **settings)
        assert re.search(
            rf"KL\b.* {unit}\b", f"{title_of(figure)} {figure.layout.xaxis.title.text} {figure.layout.yaxis.title.text}"
        ), view
        units.add(unit)
    assert all(unit in glossary.meaning("KL divergence") for unit in units) and len(units) == 2


def test_no_row_corrects_what_no_deck_says() -> None:
    """Three rows did. What a deck says of relative positions it says in L0; no deck takes WordPiece and BPE for one method."""
    rows = [(lesson, *row) for lesson in LESSONS if "slides" in prose(lesson).sections for row in prose(lesson).rows("slides")]
    assert len(rows) > 60
    assert not [row for row in rows if re.search(r"masked self-attention", row[2])]
    assert {row[1][:2] for row in rows if row[0] == "positions" and "relative" in row[2]} == {"L0"}
    assert not [row for row in rows if "WordPiece" in row[2] and re.search("BPE|Byte Pair", row[2])]


def test_the_parameters_and_layers_of_the_rows_are_those_of_the_published_models() -> None:
    """Counted by Hugging Face's classes; 37 as the row counts them."""
    rows = [row for row in prose("families").rows("slides") if row[0] in ("L2, BERT", "L4, GPT")]
    with torch.device("meta"):
        sizes = [sum(weight.numel() for weight in kind(BertConfig()).parameters()) for kind in (BertModel, BertForPreTraining)]
    said = next(re.findall(r"\d[\d,]{6,}", row[2]) for row in rows if "parameters" in row[1])
    assert said == [f"{size:,}" for size in sizes]
    blocks, whole, *_ = (int(number) for number in re.findall(r"\d+", next(row[1] for row in rows if "blocks" in row[1])))
    assert blocks == shape_of("GPT-1").layers and whole == blocks * 3 + 1


def test_a_half_of_elmo_has_read_the_token_of_its_own_row() -> None:
    """The caption said *only the tokens before*; the diagonal of its picture is filled, rightly."""
    elmo = ex.load("elmo", device="cpu")
    first, other = (ex.trace(elmo, f"The dog {word} home.").hidden for word in ("ran", "sat"))
    caption = VIEWS["sightlines"].caption
    for half, side in (("forward", "before"), ("backward", "after")):
        moved = np.abs(first[half][-1] - other[half][-1]).max(-1) > 0
        assert moved[(place := list(elmo.tokens("The dog ran home.").texts).index("ran"))], "its own row"
        assert moved[place - 1] == (half == "backward") and moved[place + 1] == (half == "forward")
        assert re.search(rf"its {half} LSTMs (have read )?the token and\s+those {side} it", caption)


def test_emoji_are_no_language() -> None:
    spoken = [name for name, (_, words) in LANGUAGES.items() if any(letter.isalpha() for letter in "".join(words))]
    assert set(LANGUAGES) - set(spoken) == {"Emoji"}
    many = ("no", "one", "two", "three", "four", "five")[len(spoken)]
    title = title_of(VIEWS["fertility"](ex.text.fertility({"bert": ex.load("bert-tiny").tokenizer}), count="tokens per word"))
    assert f"{many} languages and in emoji" in VIEWS["fertility"].caption and f"{many} languages and emoji" in title


def test_the_formula_of_a_score_is_one_dot_product(bert: TransformerModel) -> None:
    """Read as it stands it makes the model's own weights; a sum sign before it would sum a number."""
    right = STATIONS["qk"].formula.partition(" = ")[2]
    code = compile(re.sub(r"\b([qk])_([ij])\b", r"\1[\2]", right).replace("·", "@"), "formula", "eval")
    attention = ex.trace(bert, SENTENCE).attention[1]
    assert attention.q is not None and attention.k is not None
    q, k = attention.q[2], attention.k[2]
    scores = np.array([[eval(code, {"q": q, "k": k, "i": i, "j": j}) for j in range(len(k))] for i in range(len(q))])
    weights = torch.tensor(scores * attention.scale).softmax(-1).numpy()
    np.testing.assert_allclose(weights, attention.weights[2], atol=1e-5)


def test_models_with_the_same_mask_do_not_fit_the_same_task(bert: TransformerModel, gpt2: TransformerModel) -> None:
    """ELECTRA reads both sides, as BERT does, and fills no blank; GPT-2 predicts words, as BERT does, and reads one side."""
    electra = ex.load("electra", device="cpu")
    traces = [ex.trace(model, SENTENCE) for model in (bert, electra, gpt2)]
    both_sides = [bool(trace.attention[0].allowed.all()) for trace in traces]
    words = ["lm" in trace.outputs for trace in traces]
    assert (both_sides, words) == ([True, True, False], [True, False, True])
    fits = " ".join(prose("start")("shapes").split())
    assert "Which model fits depends on what it may read and on what it was trained to predict" in fits


@LONG
def test_training_minimises_a_mean_and_ends_near_its_minimum_not_at_it(gpt2: TransformerModel) -> None:
    """A further step lowers the loss, also on other texts of the corpus: the weights at the end are not those with the smallest."""
    module, texts = copy.deepcopy(gpt2.module), ex.microworld.texts(32, 1)
    one, other = (questions(gpt2, part)[0] for part in (texts[:16], texts[16:]))

    def loss(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        scored = batch["loss_mask"]
        return torch.nn.functional.cross_entropy(module.head(module(batch["source"])[scored]), batch["labels"][scored])

    run = ex.fit(gpt2, corpus=texts, steps=1, batch=8, checks=0, device="cpu", precision="float32")
    with torch.no_grad():
        before = loss(other).item()
        assert run.loss(module, other, 0.0)["lm"].item() == pytest.approx(before, rel=1e-5), "a mean over all predictions"
    loss(one).backward()
    with torch.no_grad():
        for weight in module.parameters():
            if weight.grad is not None:
                weight -= 0.05 * weight.grad
        assert loss(other).item() < before - 1e-4
    symbols, notation = (" ".join(prose("training")(part).split()) for part in ("symbols", "notation"))
    assert "smallest mean loss" in symbols and "near which training ends" in symbols
    assert "a mean over the predictions of one batch" in notation and "those that training looks for, and also" in notation


def test_the_iterations_of_a_slide_are_epochs_of_the_steps_that_the_row_says() -> None:
    """From the row before it: 1M steps over 3.3 billion words, in batches of 131,072, are about 40 passes over them all."""
    rows = prose("training").rows("slides")
    steps, batch, words, epochs = (
        float(number) for number in re.findall(r"(?<![.\d])\d+\.?\d*", next(r for r in rows if "about 40 epochs" in r[1])[2]
        .replace("10⁶", "1000000").replace(",", "").replace("3.3·10⁹", "3300000000"))[:4]
    )  # fmt: skip
    row = next(row for row in rows if "*iterations*" in row[1])
    each, times = int(re.search(r"([\d,]+) steps", row[2])[1].replace(",", "")), int(re.search(r"about (\d+)", row[1])[1])  # type: ignore[index]
    assert round(steps * batch / words, 1) == epochs and row[2].startswith("epochs")
    assert round(words / batch, -3) == each and round(epochs) == times


def test_the_library_calls_sub_layers_blocks_and_says_so(bert: TransformerModel) -> None:
    """The lessons call a layer a block, as the decks do."""
    trace = ex.trace(bert, SENTENCE, blocks=True)
    parts = list(dict.fromkeys(block.part for block in trace.blocks))
    assert len(trace.blocks) == bert.config.layers * len(parts)
    page = (Path(__file__).parents[1] / "docs/library.md").read_text("utf-8")
    told = next(line for line in re.split(r"\n(?=- )", page) if "`blocks=True` keeps" in line)
    assert "sub-layer" in told and all(part in told for part in parts) and "`trace.block`" in told
    assert "a whole layer a block" in " ".join(told.split())
