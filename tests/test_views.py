"""Every view on every record at every corner of its controls, and each view against the numbers it draws."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from importlib import import_module
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from conftest import ALL, LONG, SAMPLED, SENTENCE

import explorer as ex
from explorer import records as kinds
from explorer.analysis import architectures
from explorer.analysis import elmo as directions
from explorer.analysis import word_vectors as neighbours
from explorer.analysis.corpus_edits import edit_corpus
from explorer.analysis.masks import held_losses, under_masks
from explorer.analysis.n_grams import back_off
from explorer.analysis.pair_losses import glove_row, skipgram_network
from explorer.analysis.parameters import blueprint
from explorer.analysis.predictions import guess_spans, teacher_and_student
from explorer.analysis.scaling import saturation
from explorer.analysis.word_pairs import count_ratios, skipgrams
from explorer.corruption import counting
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.decoding.comparison import distribution, written
from explorer.decoding.generation_trace import watch
from explorer.models import ngram
from explorer.models.task_rows import AskedText
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.nn.positions import POSITIONS
from explorer.records import Attention, Curve, Curves, Damage, Prompted, Trace, TrainingStep, VisibilityMap, spread
from explorer.text import classroom
from explorer.text.cooccurrence import CountedExamples
from explorer.text.examples import prepared
from explorer.text.labels import word_labels
from explorer.text.matching import matches, replay
from explorer.text.sentinels import with_sentinels
from explorer.text.sidebyside import fertility, segments, side_by_side
from explorer.training.distillation import student_of
from explorer.training.finetune.labelled import Labelled
from explorer.training.finetune.task import Questions, Task
from explorer.training.schedules import lr_schedules as schedules
from explorer.views import VIEWS, Choice, Range, export, theme
from explorer.views.margins import framed
from explorer.views.spoken import spoken, titled

STORY = "The animal didn't cross the street because it was too tired. Anna gave it some milk. Then it crossed the street."
OTHER_STORY = "Anna was glad. The dog slept by the wall."
EVERY = (*STRATEGIES, *PAIRS)
NO_TEXT = """saturation costs curves exposure expects moves letter-filters highway heads-that-find contexts neighbours cka word-space
analogies ratios plane runs skipgram-network pair-update glove-weight sentence-ways sentence-traps sentence-grades text-scores rates
span-lengths gap-sentences habits damage downstream writes held-masks blueprint
nouns heads-and-reason projections similar-uses unit-firings"""  # nothing that a model reads; nor in these files,
NO_TEXTS = "editing mixes finetuning prompting tuning finetuned merges pieces words training tree writing"
BUT_TEXT = ("before-after", "states-moved")  # but for these two
ODD = "Zebra Zebra <b>bold</b> <script>alert(1)</script> 😀 مرحبا 你好\x00 é"
ODD_START = "Zebra <b>bold</b>"


@pytest.fixture(scope="module")
def records(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    return every_record(bert, gpt2)


def every_record(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    plain = ex.trace(bert, SENTENCE, blocks=True)
    bare = Attention("encoder", 0, None, None, None, 1.0, plain.attention[0].allowed, plain.attention[0].weights)
    states, both = {"encoder": np.zeros((1, len(plain.source), 2), np.float32)}, random_model("t5", bert)
    two = {"target": "It slept all day."}
    other = ODD.replace("Zebra", "<i>Zoo", 1)
    seen, odd_seen = ex.visibility(bert, SENTENCE), ex.visibility(gpt2, ODD)
    return {
        "encoder": plain,
        "decoder": ex.trace(gpt2, SENTENCE, blocks=True),
        "pair": ex.trace(bert, ("The dog was tired.", "It slept.")),
        "one token": ex.trace(gpt2, [5]),
        "odd characters": ex.trace(bert, ODD, blocks=True),
        "odd bytes": ex.trace(gpt2, ODD, blocks=True),
        "edited": ex.trace(bert, SENTENCE, edits=[ex.NoScale("encoder"), ex.SilenceHead("encoder", head=1)]),
        "one layer": ex.trace(bert, SENTENCE, layers=[1]),
        "no attention": ex.trace(bert, SENTENCE, layers=[]),
        "weights only": Trace("other", "encoder", plain.source, None, (bare,), states),
        "both stacks": ex.trace(both, "The dog was tired.", **two, blocks=True),
        "three terms": ex.trace(ex.build("deberta", tokenizer=bert.tokenizer, device="cpu"), SENTENCE, blocks=True),
        "odd terms": ex.trace(ex.build("deberta", tokenizer=bert.tokenizer, device="cpu", mask_decoder=True), ODD),
        "changed": ex.change(bert, SENTENCE, ex.SilenceHead("encoder", 0, 0)),
        "odd changed": ex.change(gpt2, ODD, ex.SilenceLayer("decoder", 0)),
        "damage": ex.damage(gpt2, SENTENCE),
        "counted": back_off(ngram.train([gpt2.tokenizer.encode(SENTENCE).ids], gpt2.tokenizer), SENTENCE),
        "odd counted": back_off(ngram.train([bert.tokenizer.encode(ODD).ids], bert.tokenizer, order=1), ODD),
        "patched": ex.analysis.patch_sweep(bert, "Anna saw it.", "Tom saw it.", answers=("she", "he"), row=1),
        "odd patched": ex.analysis.patch_sweep(gpt2, ODD_START, ODD_START.replace("Zebra", "zebra", 1), answers=("a", "b")),
        "written to the vocabulary": ex.analysis.head_writes(bert, SENTENCE, layer=1, head=0, position=3),
        "odd unit": replace(ex.analysis.unit_writes(gpt2, layer=0, unit=3), origin="<b>bold", model="<b>bold"),
        "flow": ex.analysis.information_flow(gpt2, SENTENCE),
        "odd flow": ex.analysis.information_flow(gpt2, ODD),
        "flow of two": ex.analysis.information_flow(both, "The dog was tired.", **two, stream="decoder"),
        "alike layers": ex.analysis.cka(bert, gpt2, [SENTENCE]),
        "odd likeness": kinds.LayerLikeness(("<b>bold", "b"), 1, 9, np.array([[np.nan]]), np.array([[np.nan]])),
        "word space": ex.analysis.word_states(gpt2, list(ex.microworld.openings(3, 7, sentences=2))),
        "odd word space": ex.analysis.word_states(bert, [f"{ODD} <b>bold"]),
        "similar uses": ex.analysis.similar_uses(bert, SENTENCE, "animal", [STORY]),
        "odd similar uses": kinds.SimilarUses(
            "<b>bold", 1, "<b>[x]", "<b>bold", ("<i>",), (f"{ODD} <b>[bold]",), np.ones(1), 5
        ),
        "unit firings": ex.analysis.unit_firings(gpt2, [SENTENCE, OTHER_STORY], layer=1, unit=7),
        "odd unit firings": replace(
            ex.analysis.unit_firings(gpt2, [ODD], layer=0, unit=3), model="<b>bold", uses=("<b>[bold]",), tokens=("<b>",)
        ),
        "one word in space": replace(
            ex.analysis.word_states(bert, ["<b>bold"]), words=("<b>bold",) * 4, kinds=("<b>bold",) * 4, model="<b>bold"
        ),
        "token update": ex.analysis.token_update(gpt2, "The dog was tired."),
        "masked update": ex.analysis.token_update(bert, "The dog was tired.", position=3),
        "odd token update": ex.analysis.token_update(gpt2, ODD_START),
        "smoothed": ex.analysis.smoothed_targets(gpt2, SENTENCE),
        "smoothed encoder": ex.analysis.smoothed_targets(bert, SENTENCE),
        "odd smoothed": ex.analysis.smoothed_targets(gpt2, ODD),
        "contributions": ex.analysis.contributions(bert, SENTENCE),
        "odd contributions": ex.analysis.contributions(gpt2, ODD),
        "contributions of two": ex.analysis.contributions(both, "The dog was tired.", **two),
        "aligned": ex.analysis.align(plain, ex.trace(gpt2, SENTENCE), (SENTENCE, SENTENCE)),
        "two texts aligned": ex.analysis.align(
            plain, ex.trace(bert, "The animal slept.", blocks=True), (SENTENCE, "The animal slept.")
        ),
        "odd aligned": ex.analysis.align(ex.trace(bert, ODD), ex.trace(bert, other), (ODD, other)),
        "over steps": ex.analysis.over_steps({1: bert, 9: bert}, SENTENCE),
        "odd over steps": ex.analysis.over_steps({7: gpt2}, ODD),
        "lens": ex.lens(bert, SENTENCE),
        "lens inside": ex.lens(gpt2, SENTENCE, inside=True),
        "odd lens": ex.lens(gpt2, ODD),
        "gradient": ex.gradient(bert, SENTENCE, row=3),
        "odd gradient": ex.gradient(gpt2, ODD),
        "integrated gradient": ex.gradient(bert, SENTENCE, row=3, steps=2),
        "visibility": seen,
        "odd visibility": odd_seen,
        "sightlines": (seen, ex.visibility(gpt2, SENTENCE), ex.visibility(both, "The dog was tired.", **two)),
        "odd sightlines": (odd_seen,),
        "habits": ex.head_statistics(bert, [SENTENCE]),
        "shuffled": ex.shuffle(bert, SENTENCE),
        "shuffled odd": ex.shuffle(gpt2, ODD),
        "saturation": saturation(draws=20),
        "curves": kinds.Curves(
            "A", "b", "c", (spread("<b>bold", np.arange(3.0), np.arange(6.0).reshape(2, 3)), kinds.Curve("d", *np.ones((2, 1))))
        ),
        "costs": ex.analysis.costs.by_length(bert.config, "bert"),
        "exposure": ex.analysis.exposure_bias(gpt2, ex.microworld.texts(4, 1, "validation"), count=2, steps=3).curves,
        **{f"places {scheme}": ex.places(scheme, count=9, dim=16) for scheme in POSITIONS},
        "one place": ex.places("sinusoidal", count=1, dim=8, causal=True),
        "trained places": ex.places(gpt2),
        **of_families(bert, gpt2),
        **of_tokens(),
        **of_corruption(bert),
        **of_decoding(bert, gpt2),
        **of_training(),
        **of_elmo(),
        **of_vectors(),
        **of_sentences(),
        **of_start(bert, gpt2),
        **of_pronouns(bert, gpt2),
        **of_finetuning(bert, gpt2),
        **of_prompting(gpt2),
    }


def of_families(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    """Texts under every mask, what models are built of, and who can see whom."""
    both = random_model("t5", bert)
    return {
        "under masks": under_masks(bert, SENTENCE),
        "odd under masks": under_masks(gpt2, ODD),
        "target under masks": under_masks(both, "The dog was tired.", target="It slept all day."),
        "held masks": held_losses(gpt2, [STORY], pieces=8),
        "one text held": held_losses(bert, [STORY], pieces=8),
        "blueprint": blueprint(gpt2, SENTENCE),
        "blueprint of two": blueprint(both, "The dog was tired.", target="It slept."),
        "odd blueprint": replace(blueprint(bert, ODD), model="<b>bold"),
    }


def of_pronouns(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    words, odd = ("animal", "street"), f"{ODD} because it was "
    pair, strange = ((STORY, STORY.replace("tired", "wide")), (f"{odd}tired", f"{odd}<b>wide"))
    short = tuple(f"The animal did not cross the street because it was too {reason}." for reason in ("tired", "wide"))
    translator = ex.load("transformer", device="cpu")
    preferred = ex.analysis.noun_preference
    return {
        "preferred nouns": (preferred(bert, pair, words), preferred(gpt2, pair, words)),
        "odd nouns": (replace(preferred(gpt2, strange, ("Zebra", "<b>bold")), model=odd),),
        "il or elle": tuple(ex.analysis.pronoun_translation(translator, *texts) for texts in (short, short[::-1])),
        "odd source": (ex.analysis.pronoun_translation(translator, f"{ODD}.", "The dog was wide <b>."),),
        "matrices": ex.analysis.projections_over_steps({1: bert, 2: bert}),
        "odd matrices": kinds.Projections(odd, np.array([1, 9]), np.ones((2, 3, 1, 1, 4, 2), np.float32)),
        "heads and reason": ex.analysis.pronoun_heads(bert, pair, words),
        "odd heads": replace(ex.analysis.pronoun_heads(gpt2, pair, words), model=odd, reasons=strange, nouns=(odd, odd)),
    }


def of_start(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    """The front page's records, also of two directions, of an encoder-decoder and of odd words."""
    letters = ex.tokenizer("characters", classroom.toys()[:50], size=300)
    elmo, both = ex.build("elmo", tokenizer=letters, device="cpu"), random_model("t5", bert)
    text = "Zebra <b>bold</b> 😀 مرحبا"
    records: dict[str, Any] = {"sight": architectures.visibility_map(bert, SENTENCE, (4, 10))}
    for name, model in {"bert": bert, "gpt2": gpt2, "t5": both, "elmo": elmo}.items():
        records[f"odd sight {name}"] = architectures.visibility_map(model, text, (0, 5))
        records[f"moved {name}"] = architectures.context_shift(model, text, (0, 5), ["A zebra <i>ran</i>.", "Zebra."])
        if name != "t5":
            records[f"answer {name}"] = architectures.word_prediction(model, text, (0, 5))
    return records


def of_prompting(gpt2: TransformerModel) -> dict[str, Any]:
    """Prompts, forms of them, inputs of tasks and ways to fine-tune, also with words that would be markup."""
    odd, labels = "<b>bold", {"<b>good": "happy", "bad": "<i>sad"}
    prompted = ex.prompt(gpt2, [SENTENCE, ODD], labels=labels, calibrate=True)
    right = np.arange(16).reshape(2, 2, 4) % 3 == 0
    numbers = np.array([5, 7])
    ways = kinds.FinetuneWays(
        odd, odd, "accuracy", (odd, "full"), numbers, numbers, np.ones((2, 3)), np.full((2, 3), np.nan), np.array([0.2, 0.4]),
        np.ones(2), 0.3, (odd,), (odd,), ((odd,), ("b",)), odd,
    )  # fmt: skip
    return {
        "prompted": prompted,
        "one prompt": ex.prompt(gpt2, SENTENCE, labels=labels),
        "by shots": kinds.Curves(
            "t",
            "solved examples",
            "right answers",
            (
                kinds.Curve(f"{odd} (1 M), prompted", np.array([0.0, 64.0]), np.array([0.5, 1.0])),
                kinds.Curve(f"{odd}, {odd}", np.array([0.0]), np.array([0.5]), np.array([0.4]), np.array([0.6])),
            ),
        ),  # fmt: skip
        "forms": kinds.PromptScores(odd, "m", (odd, "b"), (odd, "b"), right, np.full((2, 2), 0.5), 0.5, "two"),
        "orders": kinds.PromptScores(
            "t", "m", tuple(map(str, range(24))), ("a", "b"), np.tile(right, (12, 1, 1)), np.full((24, 2), 0.5), 0.5, ""
        ),
        "inputs": ex.training.task_inputs(gpt2, ["sentiment", "entailment"]),
        "ways": ways,
        "ways with λ": replace(ways, lm_loss=np.ones((2, 3))),
        "ways with tags": replace(ways, tags=(odd, "O"), transitions={odd: np.array([[1, -2, np.nan], [0, 0, 3], [4, 0, 0]])}),
    }


def of_finetuning(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    """Curves and tables of one seed and of several, spans, changes, probes and answers; names that would be markup."""
    odd, rng = "<b>bold", np.random.default_rng(0)
    scores = rng.random((2, 2, 3, 2))
    spans = np.stack([scores.mean(-1), scores.min(-1), scores.max(-1)], axis=-1)
    ways = ("BERT, pre-trained", "BERT, from scratch")
    nowhere = np.where(np.arange(3) == 0, spans, np.nan)
    table = rng.random((2, 2, 3))
    texts = (("A dog.", "x"), (f"{ODD} cat.", odd), ("It ran.", "x"))
    labelled = [Labelled(AskedText(text), label) for text, label in texts] * 4
    settings: dict[str, Any] = {"examples": labelled, "steps": 1, "checks": 0, "snapshots": 0, "device": "cpu"}
    task = Task(odd, "sentence", "", lambda count, split, seed=0: Questions((), ()))
    run, causal = (ex.finetune(model, task=task, **settings) for model in (bert, gpt2))
    questions_run = ex.finetune(bert, task="questions", **{**settings, "examples": 4})
    named = ex.finetune(bert, task="new words: entities", head="attentive spans", **{**settings, "examples": 12})
    probes = kinds.LayerProbes(odd, odd, "accuracy", np.array([0.5, 0.7, 0.9]), 0.3, (9, 9), 1.0)
    curves = kinds.LabelCurves((odd, "b"), ("accuracy", "F1"), ways, np.array([5, 10, 20]), scores, spans, np.zeros(2), "two")
    return {
        "label curves": curves,
        "odd label curves": replace(curves, ways=(f"{odd}, pre-trained", odd), intervals=nowhere, note=""),
        "task table": kinds.TaskTable(
            (odd, "b"), (odd, "d"), ("F1", "F1"), table, spans[:, :, 0], table, np.array([0.1, 0.2]), "three"
        ),
        "odd spans": ex.analysis.span_table(questions_run.model, (f"Who {ODD}?", ODD)),
        "odd spans of classes": ex.analysis.span_table(named.model, ODD),
        "task change": ex.training.before_after(gpt2, causal, SENTENCE),
        "odd task change": replace(ex.training.before_after(bert, run, ODD), probes=(probes, probes)),
        "layer probes": probes,
        "several probes": (probes, replace(probes, model="b", scores=np.array([0.1, 0.2]))),
        "odd answers": ex.training.answers(run, examples=labelled),
        "answers without classes": ex.training.answers(questions_run, examples=4),
    }


def of_vectors() -> dict[str, Any]:
    """Pairs, ratios and a plane of vectors that have learned nothing; and words that would be markup."""
    texts = [*classroom.toys()[:200], ODD]
    pieces = ex.tokenizer("words", texts, size=4000)
    read = prepared(texts, pieces)
    counted = CountedExamples(read, pieces.vocabulary.size)
    word2vec, glove = (ex.build(name, tokenizer=pieces, device="cpu", dim=8) for name in ("word2vec", "glove"))
    assert isinstance(word2vec, StaticModel) and isinstance(glove, StaticModel)
    odd = "<b>bold"
    strange = skipgrams(word2vec, f"{ODD} {STORY} {STORY} {STORY}", counted)
    unseen = tuple(n == 0 for n in range(len(strange.tokens)))  # the odd words were told here, so that they stay as they are
    return {
        "drawn": skipgrams(word2vec, STORY, counted),
        "odd drawn": replace(strange, tokens=replace(strange.tokens, unseen=unseen)),
        "one word drawn": skipgrams(word2vec, "the", counted),
        "ratios": count_ratios(glove, "the", "a", read, many=1),
        "odd ratios": kinds.Ratios(
            odd, (odd, "b"), (odd,), ("near both",), np.ones((2, 1)), np.ones((2, 1)), np.ones(1), 0.5, 9, 9
        ),
        "network": skipgram_network(word2vec, "the", "dog"),
        "a word with itself": skipgram_network(word2vec, "the", "the"),
        "odd network": replace(skipgram_network(word2vec, "the", "dog"), words=(odd,) * 8, model=odd),
        "pair update": ex.analysis.pair_update(word2vec, "the", "dog", ["a", "cat"]),
        "odd pair update": kinds.PairUpdate(odd, odd, (odd,), np.zeros(3), np.zeros((1, 3))),
        "glove row": glove_row(glove, "the", "dog", read, scale=2.0),
        "odd glove row": kinds.GloveRow(odd, (odd, odd), (odd,), 0, np.ones(1), np.zeros(1), 100.0, 0.75, 9, 1.0),
        "solved": kinds.Solved("word2vec", ("gender", odd), ("a : b = c : d", odd), np.array([2, 3]), *np.full((3, 2), 0.5)),
        "plane": neighbours.plane(word2vec, (("he", "she"), ("dog", "cat")), relation=odd),
        "odd plane": kinds.Plane(odd, "", (odd, "a"), np.zeros((2, 2)), np.zeros(2), ((0, 1),)),
    }


def of_sentences() -> dict[str, Any]:
    """Sentences that nobody knows, ways that would be markup, and a corpus of which nothing is left but two words."""
    odd, rng = "<b>bold", np.random.default_rng(0)
    cosines = np.array([[[1.0, 0.5], [0.5, 1.0]], [[1.0, np.nan], [np.nan, np.nan]]])
    scores = rng.random((2, 3, 4))
    spread_out = np.stack([scores.mean(-1), scores.min(-1), scores.max(-1)], axis=-1)
    ways = ("a, b", odd, "c")
    heads, known = rng.random((2, 2, 2)), {"c": rng.random(2), odd: rng.random(2)}
    words, counts = (odd, "x" * 99), np.array([[1.0, 0.0], [2.0, 3.0]])
    return {
        "sentences": kinds.Likeness(("A dog.", "A cat."), ("a", "b"), cosines, np.zeros((2, 2))),
        "odd sentences": kinds.Likeness((ODD, odd * 20), (odd, "b"), cosines, np.array([[0.0, 0.5], [0.1, 1.0]])),
        "ranked": kinds.Ranked(
            ("k", odd), ways, "c", scores, spread_out, spread_out, np.arange(12) % 6, rng.random((3, 12)), "two"
        ),
        "misled": kinds.Nearer(("k", odd), ways, scores, spread_out, (("A dog.", odd, "A cat."), (ODD, odd * 20, "b")), "two"),
        "searched heads": kinds.HeadSearch(
            odd, ("a", odd), np.zeros((2, 2, 2), int), heads, heads[0], known, *heads[1], cosines[1] / 2, np.array([9, 1])
        ),
        "edited corpus": edit_corpus(["ice is cold"], ["ice is cold", "steam is hot"], "ice", "steam"),
        "odd corpus": kinds.Edited((odd, "b"), words, rng.random((2, 4, 4)), counts, (1, 9)),
        "bare corpus": edit_corpus([], ["ice", "steam"], "ice", "steam"),
    }


def of_elmo() -> dict[str, Any]:
    texts = classroom.toys()[:60]
    pieces = ex.tokenizer("characters", texts, size=4000)
    elmo = ex.build("elmo", tokenizer=pieces, device="cpu", dim=8, hidden=12)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), (2, 4, 3))  # two tasks, four runs, three steps
    scores = rng.random((2, 4, 3))
    chances = np.array([0.9, 0.1])
    return {
        "neighbours": kinds.Neighbours("word2vec", ("dog",), ("cat", "<b>bold"), chances),
        "odd analogy": kinds.Neighbours("<b>bold", ("a", "b", "<b>bold"), (ODD, "c"), chances),
        "highways": directions.highway_gates(elmo, "dogs"),
        "odd highways": directions.highway_gates(elmo, "<b>bold</b>" * 9),
        "halves": tuple(ex.trace(elmo, text) for text in (f"{texts[0]} a dog", f"{texts[0]} a cat")),
        "odd halves": tuple(ex.trace(elmo, f"{ODD} {text}") for text in ("a", "<b>bold")),
        "filters": directions.letter_filters(elmo, "dogs"),
        "odd filters": directions.letter_filters(elmo, "<b>bold</b>" * 9),
        "both sides": directions.both_sides(elmo, texts[0]),
        "odd both sides": directions.both_sides(elmo, ODD),
        "contexts": ex.analysis.contexts(elmo, "<b>bold", [(text, 0, f"<b>bold.{n % 2}") for n, text in enumerate(texts[:5])]),
        "mixes": kinds.Mixes(
            ("<b>bold", "topic"), ("accuracy", "span F1"), ((0, 0), (0, 1), (1, 0), (1, 1)), np.array([1, 5, 9]), shares,
            np.ones((2, 4, 3)), ("mix", "layer 0", "layer 1", "layer 2"), rng.random((2, 4, 4)), scores, scores - 0.5,
            np.array([0.1, 0.2]), "two biLMs",
        ),
        "bench": kinds.Bench(
            "<b>bold", ("a", "b"), rng.normal(size=(9, 3, 4)), np.arange(9) % 2, rng.normal(size=(5, 3, 4)), np.arange(5) % 2,
            rng.dirichlet(np.ones(3), 2),
        ),
    }  # fmt: skip


def of_corruption(bert: TransformerModel) -> dict[str, Any]:
    pieces, spanbert = with_sentinels(bert.tokenizer), random_model("spanbert", bert)
    others = {"nsp": [OTHER_STORY]}
    corruptions = {name: ex.corrupt(STORY, name, tokenizer=pieces, seed=1, corpus=others.get(name, ())) for name in EVERY}
    odd_text = f"{ODD}. {STORY}"
    odd = tuple(ex.corrupt(odd_text, name, tokenizer=pieces, seed=1) for name in EVERY if name != "nsp")
    hidden = ex.hide(odd_text, [0, 3], tokenizer=bert.tokenizer)
    return {
        **{f"corruption {name}": record for name, record in corruptions.items()},
        **{f"odd corruption {record.strategy}": record for record in odd},
        "all corruptions": tuple(corruptions.values()),
        "odd corruptions": odd,
        "one corruption": (corruptions["mlm"],),
        "nothing hidden": ex.guess(bert, ex.corrupt("Dog", "mlm", tokenizer=bert.tokenizer, exact=False, rate=1e-9)),
        "guess": ex.guess(bert, ex.corrupt(STORY, "mlm", tokenizer=bert.tokenizer)),
        "detection": ex.detect(random_model("electra", bert), STORY),
        "odd detection": ex.detect(random_model("electra", bert), odd_text),
        "copied": teacher_and_student(bert, bert, ex.corrupt(STORY, "mlm", tokenizer=bert.tokenizer)),
        "odd copied": teacher_and_student(bert, student_of(bert, name="<b>bold"), hidden),
        "odd guess": ex.guess(bert, hidden),
        "span guess": guess_spans(spanbert, ex.corrupt(STORY, "spanbert", tokenizer=bert.tokenizer, rate=0.3)),
        "odd span guess": guess_spans(spanbert, ex.hide(odd_text, [0, 1, 5], tokenizer=bert.tokenizer)),
        "rates": counting.rates(STORY, tokenizer=pieces, draws=20),
        "one draw": counting.rates("Dog", tokenizer=bert.tokenizer, draws=1),
        **{f"lengths {name}": counting.span_lengths(STORY, name, tokenizer=pieces, draws=20) for name in counting.laws()},
        "gaps": counting.gap_sentences(f"{ODD}. {STORY}", tokenizer=pieces),
        "one sentence": counting.gap_sentences("Dog", tokenizer=pieces),
    }


def of_tokens() -> dict[str, Any]:
    texts, shelf = classroom.toys()[:40], classroom.shelf()
    by_count, by_score = (
        tuple(ex.learn("wordpiece", [*texts, ODD], size=300, by=by, watch=["animal", ODD])) for by in ("count", "score")
    )
    return {
        "merges": by_count,
        "byte merges": tuple(ex.learn("byte-bpe", [*texts, ODD], size=300, watch=["animal", ODD])),
        "both ways": by_count + by_score,
        "matches": tuple(matches("breadbasket", shelf["wordpiece"].core.get_vocab())),
        "unknown word": tuple(matches("<b>bold</b>你", {"<": 0, "##b": 1})),
        "joins": tuple(replay("▁breadbasket", [("b", "r"), ("br", "e"), ("s", "k")])),
        "nothing to join": tuple(replay("<b>bold</b>", [])),
        "side by side": side_by_side(ODD, shelf),
        "languages": fertility(shelf),
        "word labels": word_labels(ODD, shelf["wordpiece"], texts, texts),
        "segments": segments(" ".join(texts), shelf["wordpiece"], longest=64),
        "one segment": segments("A dog.", shelf["byte-bpe"]),
    }


def of_decoding(bert: TransformerModel, gpt2: TransformerModel) -> dict[str, Any]:
    """Texts as they come into being: wide and narrow, cut and forced, watched, filled in, and tokens that would be markup."""
    odd = kinds.Written("<b>bold", "<b>bold", ODD, ("<b>bold", "\x00"), np.arange(2), np.array([-1.0, -9.0]), ODD, size=99)
    short = {"max_tokens": 4}
    return {
        "beams": tuple(ex.decode(gpt2, SENTENCE, "beam", beams=3, **short)),
        "groups": tuple(ex.decode(gpt2, ODD, "diverse-beam", beams=4, groups=2, **short)),
        "drawn": tuple(ex.decode(gpt2, SENTENCE, "sample", top_k=3, force={1: 7}, candidates=0, max_tokens=2)),
        "many steps": tuple(ex.decode(gpt2, SENTENCE, "contrastive", max_tokens=11)),
        "distribution": distribution(gpt2, SENTENCE),
        "few tokens": kinds.Distribution("<b>bold", ODD, np.arange(3), np.array([2.0, 1.0, 0.0]), ("<b>bold", "a", "b")),
        "written": written(gpt2, SENTENCE, "greedy", "greedy", **short),
        "odd written": odd,
        "some written": (written(gpt2, SENTENCE, "a", "sample", **short), odd),
        "contest": kinds.Contest(
            "<b>bold", ("as it was written", "greedy", "beam 5"), ("<b>bold", "b"), (("<b>bold",) * 3,) * 2, -np.ones((3, 2))
        ),
        "scored": ex.decoding.score_texts([SENTENCE, ODD], [ODD, SENTENCE]),
        "nothing shared": ex.decoding.score_texts("", "<b>bold"),
        "generation": watch(gpt2, SENTENCE, **short),
        "one step written": watch(gpt2, SENTENCE, max_tokens=1),
        "odd generation": watch(gpt2, ODD, **short),
        "generation from a source": watch(random_model("t5", bert), "The dog was tired.", "beam", beams=2, **short),
        "filling": tuple(ex.decode(bert, "The ___ was too ___.", "fill", order="mask-predict")),
        "odd filling": tuple(ex.decode(bert, f"The ___ {ODD}", "fill")),
    }


def of_training() -> dict[str, Any]:
    """Trainings of one step and of many, with and without what was measured; and what belongs to them."""
    probe = np.arange(6.0).reshape(2, 3) / 6
    measured = {"held-out loss": 1.0, "<b>bold share": 0.5, "perplexity": 9.0, "never": float("nan")}
    probes = {"<b>bold": probe, "signed": probe - 0.5}
    losses = ({"mlm": 2.0 / n, "<b>bold": 0.7} for n in range(1, 10))
    many = tuple(
        TrainingStep(n, loss, 0.1, 50.0, measured if n % 2 else {}, ("<b>bold",), probes if n % 2 else {})
        for n, loss in enumerate(losses, 1)
    )
    steps, places = np.array([[1.0, 0.0, 6.0], [9.0, 1.0, 2.0]]), np.linspace(0, 1, 5)
    return {
        "training": many,
        "one step": (TrainingStep(1, {"lm": 6.0}, 0.1),),
        "runs": kinds.RunsBeside(("<b>bold", "b"), (many, many[:5]), ("<b>bold",) * 9, (("<b>bold", "1"),) * 9),
        "equal runs": kinds.RunsBeside(("a", "b"), (many[:1], (TrainingStep(1, {"lm": 6.0}, 0.1),)), (), ()),
        "schedules": schedules("noam", 300, 0.1, now=7),
        "one step of a schedule": schedules("cosine", 1, 0.05),
        "along": kinds.Along("<b>bold", "mlm", places, 6 - 4 * places, steps, np.array([0.0, 0.1]), 99),
        "along alone": kinds.Along("m", "mlm", places, 6 - 4 * places, np.zeros((0, 3)), np.zeros(0), 1),
    }


def random_model(name: str, bert: TransformerModel) -> TransformerModel:
    return ex.build(name, size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", dim=32, heads=2)


def fitting(name: str, records: dict[str, Any], *, odd: bool = False) -> Any:
    """A record that this view can draw; an odd one is a text with tokens that were never seen in training."""
    return next(record for label, record in records.items() if (not odd or "odd" in label) and not VIEWS[name].fits(record))


def corners(view: Any, record: Any) -> Iterator[dict[str, Any]]:
    """Combinations of the first and the last value of each control: every one, or where there are many each eighth and each value."""
    ends = {}
    for name, control in view.controls(record).items():
        if isinstance(control, Choice):
            ends[name] = sorted({control.options[0], control.options[-1], control.first}, key=str)
        else:
            ends[name] = [control.low, control.high] if isinstance(control, Range) else [False, True]
    every = list(itertools.product(*ends.values()))
    met: set[tuple[int, Any]] = set()
    for number, values in enumerate(every):
        if ALL or len(every) <= 4 or number % 8 == 0 or not set(enumerate(values)) <= met:
            met |= set(enumerate(values))
            yield dict(zip(ends, values, strict=True))


@SAMPLED
@pytest.mark.parametrize("name", VIEWS)
def test_every_view_draws_every_record_that_fits(name: str, records: dict[str, Any]) -> None:
    view, drawn = VIEWS[name], 0
    for label, record in records.items():
        if reason := view.fits(record):
            assert len(reason) > 20, f"{name} must say why it does not fit {label}"
            with pytest.raises(ex.ExplorerError, match="does not fit"):
                view(record)
            continue
        every = list(corners(view, record))
        few = every[:1] if len(every) == 1 or drawn % 2 else every[-1:]  # of further records the first corner or the last
        for chosen in every if ALL or not drawn else few:
            figure = view(record, **chosen)
            assert isinstance(figure, go.Figure) and figure.data, (name, label, chosen)
            text = figure.to_json().replace("\\u003c", "<").replace("\\u003e", ">")
            assert "<script>" not in text and "<b>bold" not in text, "a token must not become markup"
            assert json.loads(text)["layout"]["title"]["text"]
            drawn += 1
        assert all(len(cell) == len(export.COLUMNS) for cell in export.cells(view(record)))
    assert drawn


@SAMPLED
@pytest.mark.parametrize("name", VIEWS)
def test_every_figure_is_said_in_plain_words_and_has_no_colours_of_its_own(name: str, records: dict[str, Any]) -> None:
    figure = VIEWS[name](fitting(name, records))
    words, title = spoken(figure), re.sub(r"<[^>]*>", "", figure.layout.title.text.split("<br>")[0])
    assert words.startswith(" ".join(unescape(title).split())) and len(words) < 600
    assert not re.search(r"[*]|<br|<span", words)
    colours = re.findall(r'"#[0-9a-fA-F]{3,8}"|rgba?\(', figure.update_layout(template=None).to_json())
    assert colours == [], "colours come from the theme: light and dark both work"


@pytest.mark.parametrize("name", VIEWS)
def test_wrong_choices_are_refused(name: str, records: dict[str, Any]) -> None:
    view, record = VIEWS[name], fitting(name, records)
    with pytest.raises(ex.ExplorerError, match="no choice in the view"):
        view(record, colour="red")
    for control in view.controls(record):
        for wrong in ("encoder layer 9", 99_999, -1, None, "softmaxed", [0]):
            with pytest.raises(ex.ExplorerError):
                view(record, **{control: wrong})


@pytest.mark.parametrize("name", VIEWS)
def test_what_makes_a_view_s_record_is_public_and_there(name: str) -> None:
    reason = VIEWS[name].fits(object())
    assert reason.startswith("it draws ") and reason.endswith("; this is an object.")
    calls = re.findall(r"([\w.]+)\(", reason) + re.findall(r"\w+(?:\.\w+)+", reason)
    assert calls, "it names what makes the record"
    for call in calls:
        if call != "tuple":
            assert call.startswith("ex."), f"{call} of {reason!r} is no public name"
            what: Any = ex
            for part in call.split(".")[1:]:
                what = getattr(what, part)
            assert callable(what)
    for result in re.findall(r"ex\.result\(([^)]*)\)", reason):
        recorded = ex.result(*(part.strip(" '") for part in result.split(",")))
        assert not VIEWS[name].fits(recorded), reason


@LONG
def test_the_matrix_shows_the_stage_it_names(records: dict[str, Any]) -> None:
    for record in (records["encoder"], records["decoder"], records["edited"]):
        for attention, head in itertools.product(record.attention, range(4) if ALL else (0, 3)):
            q, k = attention.q[head].astype(np.float64), attention.k[head].astype(np.float64)
            scores = q @ k.T
            masked = np.where(attention.allowed, scores * attention.scale, -np.inf)
            shares = np.exp(masked) / np.exp(masked).sum(axis=1, keepdims=True)
            wanted = {"scores": scores, "scaled": scores * attention.scale, "masked": masked, "weights": shares}
            for stage, numbers in wanted.items():
                where = f"{attention.stream} layer {attention.layer}"
                shown = np.asarray(VIEWS["attention"](record, layer=where, head=head, stage=stage).data[0].z)
                seen = ~np.isnan(shown)
                np.testing.assert_allclose(shown[seen], numbers[seen], rtol=1e-4, atol=1e-5)
                if stage in ("masked", "weights"):
                    assert np.array_equal(seen, attention.allowed), "what is forbidden is left out"


def test_all_heads_show_the_model_s_own_weights(records: dict[str, Any]) -> None:
    for record in (records["encoder"], records["decoder"], records["one token"]):
        attention = record.attention[-1]
        figure = VIEWS["heads"](record, layer=f"{attention.stream} layer {attention.layer}")
        assert [trace.name for trace in figure.data] == [f"head {head}" for head in range(attention.heads)]
        for heat, weights in zip(figure.data, attention.weights, strict=True):
            np.testing.assert_array_equal(np.nan_to_num(np.asarray(heat.z)), weights)


def test_the_hover_formula_has_its_operands(records: dict[str, Any]) -> None:
    attention = records["decoder"].attention[0]
    heat = VIEWS["attention"](records["decoder"], stage="weights").data[0]
    data, z = np.asarray(heat.customdata), np.asarray(heat.z)
    seen = attention.allowed
    np.testing.assert_allclose((np.exp(data[..., 0]) / data[..., 1])[seen], z[seen], rtol=1e-3)
    scaled = VIEWS["attention"](records["decoder"], stage="scaled").data[0]
    products = np.asarray(scaled.customdata)[..., 0]
    np.testing.assert_allclose(products * attention.scale, np.asarray(scaled.z), rtol=1e-4, atol=1e-6)
    assert f"{attention.scale:.4g}" in scaled.hovertemplate


def test_repeated_pieces_stay_apart_and_signed_values_have_a_fixed_zero(records: dict[str, Any]) -> None:
    figure = VIEWS["attention"](records["encoder"], stage="scores")
    names = figure.layout.xaxis.ticktext
    assert list(figure.layout.xaxis.tickvals) == list(range(len(records["encoder"].source)))
    assert names.count("the") == 2
    scale = figure.layout.coloraxis2
    assert scale.cmid == 0 and scale.cmin == -scale.cmax
    weights = VIEWS["attention"](records["encoder"], stage="weights")
    scale = weights.layout.coloraxis3
    assert weights.data[0].coloraxis == "coloraxis3" and (scale.cmin, scale.cmax) == (0, 1)


def test_the_stages_of_a_head_share_one_scale_so_that_dividing_is_seen(records: dict[str, Any]) -> None:
    for record in (records["encoder"], records["decoder"], records["both stacks"]):
        first = record.attention[0]
        layer = f"{first.stream} layer 0"
        for head in range(first.heads):
            drawn = (
                VIEWS["attention"](record, layer=layer, head=head, stage=stage) for stage in ("scores", "scaled", "masked")
            )
            tops = {figure.layout.coloraxis2.cmax for figure in drawn}
            largest = max(float(np.abs(first.stage(stage, head)).max()) for stage in ("scores", "biased"))
            assert len(tops) == 1 and tops.pop() == pytest.approx(largest)
    stops = theme.template("light").layout.coloraxis3.colorscale
    np.testing.assert_allclose([float(place) ** 0.5 for place, _ in stops], np.arange(6) / 5, err_msg="weights by their roots")


def test_unseen_pieces_are_marked_in_the_picture_and_in_words(records: dict[str, Any]) -> None:
    odd, plain = records["odd characters"].source, records["encoder"].source
    assert theme.unseen_note(plain) == ""
    assert f"{sum(odd.unseen or ())} of {len(odd) - 2} tokens" in theme.unseen_note(odd)
    marked = [theme.UNSEEN in name for name in VIEWS["attention"](records["odd characters"]).layout.xaxis.ticktext]
    assert marked == list(odd.unseen or ()) and any(marked) and not all(marked)


def test_a_picture_of_an_edited_run_says_so(records: dict[str, Any]) -> None:
    drawn = VIEWS["attention"](records["edited"], stage="scaled")
    title = " ".join(re.sub("<[^>]+>", " ", drawn.layout.title.text).split())
    assert "not divided by √dₖ" in title and "head 1 of every layer silenced" in title and "q·k × 1" in title
    assert "edited" not in VIEWS["attention"](records["encoder"], stage="scaled").layout.title.text
    assert "edited" in VIEWS["heads"](records["edited"]).layout.title.text


def of_texts() -> list[str]:
    """The views of what a model reads."""
    bare = {name for file in NO_TEXTS.split() for name in import_module(f"explorer.views.{file}").VIEWS if name not in BUT_TEXT}
    return [name for name in VIEWS if not name.startswith("place-") and name not in bare | {*NO_TEXT.split()}]


@SAMPLED
@pytest.mark.parametrize("name", of_texts())
def test_every_picture_explains_its_dagger(name: str, records: dict[str, Any]) -> None:
    assert "never seen in training" in VIEWS[name](fitting(name, records, odd=True)).layout.title.text
    assert "never seen" not in VIEWS[name](fitting(name, records)).layout.title.text


def test_the_largest_value_that_is_said_is_the_largest_that_is_drawn(records: dict[str, Any]) -> None:
    trace = records["encoder"]
    weights = trace.attention[0].weights[0]
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    words, texts = spoken(VIEWS["attention"](trace)), trace.source.texts
    assert f"Largest value: {weights.max():.3g}" in words and words.endswith(f"“{texts[row]}” and “{texts[column]}”.")
    bars = [go.Bar(x=["a"], y=[1]), go.Bar(x=["b"], y=[3])]
    assert "3, at “b”" in spoken(go.Figure(bars).update_layout(title="Two bars", yaxis_title="share")), "of all its traces"
    change = records["changed"]
    assert f"Largest value: {change.divergence.max():.3g}" in spoken(VIEWS["change"](change))
    glance, largest = spoken(VIEWS["glance"](trace)), max(attention.weights.max() for attention in trace.attention)
    assert "Largest value" not in glance and f"{largest:.3g}" in glance, "its cells have another scale; the note has the weight"
    note = "the nearest other use has the same sense for 39 of 40"
    assert f". {note}." in spoken(go.Figure(layout={"title": theme.title("Uses", note, "")})), "a broken line goes on"


def test_the_numbers_are_those_that_are_seen_with_the_names_of_their_rows(records: dict[str, Any]) -> None:
    record = records["label curves"]
    cells = list(export.cells(VIEWS["label-gains"](record)))
    assert {cell[2] for cell in cells} == {
        f"{name} ({metric})" for name, metric in zip(record.tasks, record.metrics, strict=True)
    }
    assert [cell[5] for cell in cells if cell[0] == "most frequent answer"] == list(record.blind)
    seen = [go.Scatter(x=[1], y=[2], name="line"), go.Bar(x=[1], y=[3], name="bars")]
    unseen = [go.Scatter(x=[1], y=[9], opacity=0, name="to be clicked"), go.Scatter(x=[None], y=[None], name="an axis")]
    assert [(cell[0], cell[5]) for cell in export.cells(go.Figure([*unseen, *seen, *unseen]))] == [("line", 2), ("bars", 3)]


def test_room_grows_with_what_a_picture_holds_and_the_drawing_keeps_its_height() -> None:
    def drawn(name: str = "a", entries: int = 1, notes: int = 0, **layout: Any) -> go.Layout:
        lines = [go.Scatter(y=[1], x=[name], name=f"{n} of the lines", showlegend=entries > 1) for n in range(entries)]
        title = "Title" + "<br>note" * notes
        return framed(go.Figure(lines).update_layout(title=title, height=200, xaxis_tickangle=-90, **layout)).layout

    plain = drawn()
    below = (drawn(name="a" * 20), drawn(entries=4), drawn(xaxis_title="x"))
    for other, side in ((drawn(notes=3), "t"), *((layout, "b") for layout in below)):
        assert other.margin[side] > plain.margin[side] + 15
        assert other.height - other.margin.t - other.margin.b == 200
    assert drawn(name="<b>&amp;</b>").margin.b == plain.margin.b, "markup is not counted"
    assert drawn(margin_b=300).margin.b == 300, "a view may ask for more"
    heat = go.Heatmap(z=[[1]], coloraxis="coloraxis")
    scaled, bare = (
        framed(go.Figure(heat).update_layout(height=200, coloraxis_showscale=shows)).layout for shows in (True, False)
    )
    assert scaled.margin.b > bare.margin.b + 40 and scaled.height - scaled.margin.b == bare.height - bare.margin.b


def test_too_many_names_are_thinned_out_but_none_is_lost(bert: TransformerModel) -> None:
    count = 2 * theme.MOST + 3
    tokens = bert.tokenizer.tokens(list(range(count)))
    weights = np.random.default_rng(0).dirichlet(np.ones(count), (1, count)).astype(np.float32)
    seen = Attention("encoder", 0, None, None, None, 1.0, np.ones((count, count), bool), weights)
    trace = Trace("random", "encoder", tokens, None, (seen,), {})
    figure = VIEWS["attention"](trace, stage="weights")
    for axis, few in ((figure.layout.xaxis, figure.layout.xaxis2), (figure.layout.yaxis, figure.layout.yaxis2)):
        assert list(axis.ticktext) == theme.labels(tokens) and not axis.showticklabels
        assert len(few.ticktext) <= theme.NAMED
        assert list(few.ticktext) == [axis.ticktext[n] for n in few.tickvals]
    assert figure.data[0].xgap == figure.data[0].ygap == 0
    every = VIEWS["glance"](trace).layout
    assert list(every.xaxis2.ticktext) == ["head 0"], "of places of which few have names, these are written"
    cells = list(export.cells(figure))
    assert len(cells) == count**2 and cells[count + 2][2:5] == (f"{tokens.texts[1]}{theme.UNSEEN}", 2, tokens.texts[2])


def test_names_are_thinned_out_in_every_panel(bert: TransformerModel) -> None:
    trace = ex.trace(bert, 4 * f"{SENTENCE} ")
    layout, names = VIEWS["masks"](trace).layout, theme.labels(trace.source)
    shown = {name: layout[name] for name in layout if name[1:5] == "axis" and layout[name].showticklabels is not False}
    assert sorted((axis.overlaying, axis.anchor) for axis in shown.values()) == [("x", "y"), ("x2", "y2"), ("y", "x")]
    for axis in shown.values():
        begin, end = axis.domain
        assert 8 < len(axis.ticktext) <= theme.NAMED * (end - begin) + 0.5 < len(names) and axis.tickfont.size == 12
        assert list(axis.ticktext) == [names[n] for n in axis.tickvals]
        assert list(layout[axis.overlaying.replace("x", "xaxis").replace("y", "yaxis")].ticktext) == names, "pointing says each"


def test_labels_are_plain_and_short() -> None:
    assert theme.label("<b>") == "&lt;b&gt;"
    assert theme.label("a\x00b\nc") == "a�b␣c"
    assert theme.label("x" * 99) == "x" * 15 + "…"
    assert theme.label("") == "∅"


@pytest.mark.parametrize("mode", theme.MODES)
def test_ink_stands_out_from_paper(mode: str) -> None:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    ink, paper = light(theme.INK[mode]), light(theme.PAPER[mode])
    contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
    assert contrast >= 7, "WCAG AAA"
    steps = [light(colour) for colour in theme.SEQUENTIAL[mode]]
    assert steps == sorted(steps) or steps == sorted(steps, reverse=True), "more weight is always further from the paper"
    first, *_, last = (light(colour) for colour in theme.DIVERGING[mode])
    assert abs(first - last) < 0.35, "equal sizes look equally strong on both sides of zero"


def found(figure: go.Figure) -> str:
    """What stands behind the title of a picture."""
    return " ".join(titled(figure)[1:])


def test_a_picture_says_which_part_matters_most_whichever_it_is() -> None:
    heads, parts = np.array([[0.1, 0.4], [0.2, 0.3]]), np.array([[0.2, 0.3], [0.1, 0.1]])
    record = Damage("m", "encoder", heads, parts, ("attention", "feed-forward"), np.array([0.9, 0.5]))
    assert found(VIEWS["damage"](record)) == (
        "Without all heads of layer 0 the predictions change most (0.90 bits); of single heads, head 1 of layer 0 does (0.40)."
    )
    one = replace(record, whole=np.array([0.2, 0.1]), parts=np.minimum(parts, 0.2))
    assert found(VIEWS["damage"](one)) == "Without head 1 of layer 0 the predictions change most (0.40 bits)."


def test_a_prompt_s_answer_says_whether_calibration_turns_it() -> None:
    logp = np.log([[0.3, 0.1]])
    plain = Prompted(
        "m", "{text} {label}", ("sad", "glad"), ("low", "high"), ("A.",), ("A. ",), (), logp, np.empty((0, 2)), (1, 1)
    )
    assert found(VIEWS["prompt-answer"](plain)) == "“low” is the most probable of these words (75.0%)."
    for free, then in (([0.4, 0.1], "“high” is"), ([0.2, 0.2], "it still is")):
        turned = found(VIEWS["prompt-answer"](replace(plain, free=np.log([free]))))
        assert (
            turned
            == f"“low” is the most probable of these words (75.0%); calibrated (divided by what it prefers anyway), {then}."
        )


def test_lines_are_compared_where_they_reach_furthest_and_only_where_they_are_known() -> None:
    x = np.array([1.0, 2.0, 3.0])
    lines = (
        Curve("short", x[:2], np.array([9.0, 9.0])),
        Curve("a", x, x),
        Curve("b", x, np.array([5.0, 5.0, np.nan])),
        Curve("c", x, -x),
    )
    record = Curves("Lines", "x", "y", lines, "3 seeds")
    assert found(VIEWS["curves"](record)) == "At 3, “c” is lowest (−3) and “a” highest (3)."
    assert theme.facts_of(VIEWS["curves"](record)) == ["3 seeds"] and "3 seeds" not in spoken(VIEWS["curves"](record))
    assert found(VIEWS["curves"](replace(record, lines=lines[1:2]))) == "At 3, “a” is at 3."
    assert (
        found(VIEWS["curves"](replace(record, lines=(lines[1], replace(lines[1], label="d"))))) == "At 3, all lines are at 3."
    )


def test_how_a_picture_was_measured_stands_in_its_file_and_in_a_notebook() -> None:
    record = Curves("Lines", "x", "y", (Curve("a", np.array([1, 2]), np.array([3, 4])),), "5 seeds & 2 <texts>")
    assert "5 seeds &amp; 2 &lt;texts&gt;" in export.html(VIEWS["curves"](record), caption=VIEWS["curves"].caption).decode()
    shown = ex.show("curves", record)
    assert "5 seeds &amp; 2 &lt;texts&gt;" in shown.words.value and shown.words in shown.children


def test_every_edit_is_drawn_on_one_scale(records: dict[str, Any]) -> None:
    change = records["changed"]
    none = replace(change, after=change.before)
    ends = [VIEWS["change"](one).layout.xaxis.range for one in (change, none)]
    assert ends[0] == ends[1] and ends[0][1] >= np.log2(change.before.outputs["lm"].shape[-1])


def test_the_columns_of_a_mask_have_the_words_of_its_rows(records: dict[str, Any]) -> None:
    for record in (one for one in records.values() if isinstance(one, VisibilityMap)):
        figure = VIEWS["sight"](record)
        over = figure.layout.xaxis2
        names = [text.removeprefix("<b>").removesuffix("</b>") for text in over.ticktext]
        assert names == [figure.data[0].text[place][0] for place in over.tickvals], "those that a pointer reads at its rows"
        assert set(record.place) <= set(over.tickvals)
