"""Statements of the pages that lecturers found wrong or misleading: each test computes what a statement claims, whatever its words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import sample
from markdown_it import MarkdownIt

import explorer as ex
from explorer.analysis.parameters import total
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
from explorer.training.finetune import TASKS, bodies
from explorer.training.finetune.plan import FinetunePlan
from explorer.views import VIEWS
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
    assert f"{pairs / (pairs + alone):.0%}".replace("%", " %") in row[2]


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
    title = title_of(VIEWS["surprises"](guess))
    assert guess.loss / text.scored.sum() == pytest.approx(mean, rel=1e-4) and f"mean {mean:.2f}" in title


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
    assert ("GPT and BERT are equal up to chance" in note) == (abs(gap.mean()) < 2.776 * gap.std(ddof=1) / len(gap) ** 0.5)
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
    share, days = (float(x) for x in re.search(r"([\d]+) % of a peak of 12 teraflops are ([\d.]+);", row[2]).groups())  # type: ignore[union-attr]
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
