"""What is measured on held-out text, against brute force, formulas and models that are rigged by hand."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, some

import explorer as ex
from explorer.analysis.evaluation import blanks, causal, head_weights, masked, probing, restored, scores, translated
from explorer.analysis.evaluation.batches import Inputs, inputs_of
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.evaluation.generating import continued, rewritten
from explorer.microworld import labelled, stories
from explorer.microworld.antecedents import antecedents
from explorer.microworld.derived.reasons import reasons
from explorer.microworld.grammar.pairing import pairs
from explorer.models import ngram
from explorer.models.transformer import TransformerModel
from explorer.text.examples import Translation
from explorer.text.toy import toy_stories as toy
from explorer.training import corpora, objectives
from explorer.training.checking import measure, measurement
from explorer.training.corpora import CORPORA, COUNTABLE, corpus_of
from explorer.training.objectives import OBJECTIVES
from explorer.training.plan import Plan
from explorer.training.steps import steps_of

SMALL = {"dim": 32, "heads": 2, "hidden": 64}
FRESH = list(toy(12, 9))
WORLD = EvalData(list(stories(10, 1, "validation")), "microworld", "validation", 1)


def desk(model: TransformerModel, objective: str, data: EvalData, strategy: str = "") -> EvalContext:
    return EvalContext(data, model.tokenizer, strategy or objective, model.longest, pairs=objective == "mlm+nsp")


def logp(scores_: np.ndarray) -> np.ndarray:
    shifted = scores_.astype(np.float64)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@pytest.fixture(scope="module")
def wordpieces() -> TransformerModel:
    """An untrained encoder whose words are whole tokens."""
    texts = [" ".join(story) for story in stories(400, 1)]
    return ex.build("bert", tokenizer=ex.tokenizer("wordpiece", texts, size=1500), seed=3, device="cpu", **SMALL)


@pytest.fixture(scope="module")
def translator() -> TransformerModel:
    gold = list(pairs(300, 1))
    texts = [text for pair in gold for text in (pair.english, pair.french)]
    pieces = ex.tokenizer("bpe", texts, size=400, specials=("<pad>", "</s>", "<unk>"))
    return ex.build("transformer", tokenizer=pieces, seed=3, device="cpu", **SMALL)


def test_perplexity_is_the_loss_that_hugging_face_finds(gpt2: TransformerModel, tmp_path: Path) -> None:
    """The exported twin, a library's own loss, one story at a time."""
    from transformers import GPT2LMHeadModel

    twin = GPT2LMHeadModel.from_pretrained(ex.export(gpt2, tmp_path / "twin")).eval()
    total, count, characters = 0.0, 0, 0
    for story in FRESH:
        ids = torch.tensor([[0, *gpt2.tokenizer.encode(" ".join(story), special=False).ids.tolist(), 0]])
        with torch.no_grad():
            total += float(twin(ids, labels=ids).loss) * (ids.shape[1] - 1)
        count, characters = count + ids.shape[1] - 1, characters + len(" ".join(story))
    actual = measure(gpt2, "causal", FRESH).metrics
    assert actual["perplexity"] == pytest.approx(math.exp(total / count), rel=1e-4)
    assert actual["held-out loss"] == pytest.approx(total / count, rel=1e-4)
    assert actual["bits per character"] == pytest.approx(total / math.log(2) / characters, rel=1e-4)


def test_the_4_gram_stands_beside_on_the_same_pieces(gpt2: TransformerModel) -> None:
    known = ngram.token_rows([" ".join(story) for story in toy(200, 1)], gpt2.tokenizer)
    texts = [" ".join(story) for story in FRESH]
    actual = measure(gpt2, "causal", EvalData(FRESH, train=known)).metrics
    own, rows = ngram.train(known, gpt2.tokenizer), ngram.token_rows(texts, gpt2.tokenizer)
    assert actual["4-gram perplexity"] == pytest.approx(own.perplexity(rows))
    bits = -float(np.concatenate(own.logp(rows)).sum()) / math.log(2)
    assert actual["4-gram bits per character"] == pytest.approx(bits / sum(map(len, texts)))
    mine = [logp(gpt2.logits(row))[np.arange(len(row) - 1), row[1:]] for row in rows]
    assert actual["perplexity"] == pytest.approx(ngram.perplexity(mine), rel=1e-4)


def test_long_documents_are_cut_to_what_the_model_reads(gpt2: TransformerModel) -> None:
    long = " ".join(" ".join(story) for story in FRESH)
    rows, characters = causal.rows(desk(gpt2, "causal", EvalData([long])))
    assert [len(row) for row in rows] == [gpt2.longest + 1]
    assert characters == len(gpt2.tokenizer.decode(rows[0][1:-1].tolist())) < len(long)
    assert measure(gpt2, "causal", [long]).metrics["perplexity"] > 1


def test_hidden_pieces_are_counted_one_by_one(bert: TransformerModel) -> None:
    """Brute force: every text alone, through the model's own outputs."""
    context = desk(bert, "mlm+nsp", EvalData(FRESH))
    tokens = masked.as_read(context, 1)
    rows = masked.rows_from(tokens, 0)
    corrupted = masked.mlm(rows, bert.tokenizer.vocabulary, context.rng(2))
    right, under, price = [], [], []
    for n, text in enumerate(tokens):
        assert set(text.segments) == {0, 1} and text.ids.tolist() == rows.ids[n][rows.attention_mask[n]].tolist()
        assert corrupted.scored[n].sum() == max(1, round(0.15 * rows.free[n].sum()))
        actual = logp(bert.outputs(replace(text, ids=corrupted.source.ids[n][: len(text)]))["lm"])
        for place in np.flatnonzero(corrupted.scored[n]):
            right.append(int(actual[place].argmax()) == text.ids[place])
            price.append(-actual[place, text.ids[place]])
            if corrupted.source.ids[n, place] == bert.tokenizer.vocabulary.mask:
                under.append(right[-1])
    result = measure(bert, "mlm+nsp", FRESH).metrics
    assert result["mlm accuracy"] == pytest.approx(np.mean(right))
    assert result["mlm accuracy, as [MASK]"] == pytest.approx(np.mean(under))
    assert result["held-out loss"] == pytest.approx(np.mean(price), rel=1e-4)
    assert 0.4 < result["mlm accuracy"] < 1


def test_recoverable_words_really_stand_elsewhere(bert: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is hidden is one whole word a question, all of it under [MASK], and the same word is left visible."""
    seen: list[tuple[Inputs, np.ndarray, np.ndarray]] = []

    def oracle(
        model: TransformerModel, inputs: Inputs, answers: np.ndarray, scored: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        seen.append((inputs, answers, scored))
        return np.zeros(int(scored.sum())), np.arange(int(scored.sum())) > 0  # only the first token is wrong

    monkeypatch.setattr(masked, "logp_of", oracle)
    ask = masked.recoverable(desk(bert, "mlm", EvalData(FRESH)))
    assert ask is not None
    share = ask(bert).metrics["recoverable accuracy"]
    (inputs, answers, scored), words = seen[0], 0
    assert (inputs.ids[scored] == bert.tokenizer.vocabulary.mask).all() and (inputs.ids == answers)[~scored].all()
    for n, story in enumerate(FRESH):
        text = bert.tokenizer.encode(" ".join(story))
        hidden = {text.words[place] for place in np.flatnonzero(scored[n])}
        words += len(hidden)
        for word in hidden:
            places = [place for place, other in enumerate(text.words) if other == word]
            assert scored[n][places].all()
            ids = text.ids[places].tolist()
            spelled = [
                text.ids[[p for p, o in enumerate(text.words) if o == w]].tolist() for w in set(text.words) - hidden - {-1}
            ]
            assert ids in spelled, "the same word can still be seen"
    assert share == pytest.approx(1 - 1 / words)


def test_content_words_are_what_is_left_beside_the_frequent_half(bert: TransformerModel) -> None:
    texts = [bert.tokenizer.encode(" ".join(story)) for story in FRESH]
    every = Counter(word for text in texts for word in masked._words(text))
    kept = {word for words in masked.content(texts) for word in words if word}
    rest = sum(count for word, count in every.items() if word not in kept)
    assert rest >= sum(every.values()) / 2 and all(word.isalpha() for word in kept)
    assert max(every[word] for word in kept) <= min(count for _, count in every.most_common(5))


def test_whether_b_follows_a_is_asked_with_the_one_line_rule_beside_it(wordpieces: TransformerModel) -> None:
    from explorer.microworld.derived.following import following

    with torch.no_grad():
        wordpieces.module.next_sentence.classify.weight.zero_()  # type: ignore[union-attr]
        wordpieces.module.next_sentence.classify.bias.copy_(torch.tensor([1.0, 0.0]))  # type: ignore[union-attr]
    ask = masked.next_sentence(desk(wordpieces, "mlm+nsp", WORLD))
    assert ask is not None
    actual, given = ask(wordpieces).metrics, list(following(10, 2, "validation"))
    assert actual["nsp accuracy"] == pytest.approx(np.mean([pair.follows for pair in given])), "this model always says yes"
    capital = [
        {w.strip('.,"!?') for s in half for w in s.split()[1:] if w[0].isupper()} for p in given for half in (p.first, p.second)
    ]
    shares = [bool(a & b) for a, b in zip(capital[::2], capital[1::2], strict=True)]
    assert abs(actual["nsp, shared-name rule"] - np.mean([s == p.follows for s, p in zip(shares, given, strict=True)])) < 0.25


def test_a_blank_is_decided_by_the_two_words_alone(wordpieces: TransformerModel) -> None:
    """Each question by hand: the scores of its words under the only [MASK]."""
    context = []
    for reason in reasons(12, 4, "validation"):
        first = blanks._reasoned(desk(wordpieces, "mlm", WORLD), reason, 0)
        if first is not None:
            context.append(first)
            text = wordpieces.tokenizer.decode(first[0])  # without its special tokens
            assert reason.nouns[0] in text and text.endswith(f"because the was too {reason.reasons[0]}.")
            assert [wordpieces.tokenizer.decode([piece]) for piece in first[2]] == list(reason.nouns)
    assert len(context) > 3
    for (ids, at, choices), scores_ in zip(context, blanks.preferred(wordpieces, context), strict=True):
        assert ids[at] == wordpieces.tokenizer.vocabulary.mask
        assert scores_ == int(np.argmax(wordpieces.logits(ids)[at][choices]))


def test_reasons_come_in_pairs_that_differ_in_one_word() -> None:
    for reason in reasons(40, 1, "test"):
        first, second = (reason.text(which).split() for which in (0, 1))
        assert [a == b for a, b in zip(first, second, strict=True)].count(False) == 1 and first[-1] != second[-1]
        assert reason.nouns[0] != reason.nouns[1] and reason.before
    train = {reason.nouns for reason in reasons(300, 1, "train")}
    assert not train & {reason.nouns for reason in reasons(300, 1, "test")}, "the combinations of nouns are held out"


@pytest.mark.parametrize("repeats", [True, False])
def test_repetition_is_foreseen_by_a_model_that_copies(
    gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch, repeats: bool
) -> None:
    def copier(
        model: TransformerModel, inputs: Inputs, answers: np.ndarray, scored: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        right = []
        for row, (ids, scores_) in enumerate(zip(inputs.ids, answers, strict=True)):
            for at in np.flatnonzero(scored[row]):
                earlier = np.flatnonzero(ids[:at] == ids[at])
                right.append((ids[earlier[0] + 1] == scores_[at]) == repeats)
        return np.zeros(len(right)), np.array(right)

    monkeypatch.setattr(causal, "logp_of", copier)
    ask = causal.repeated(desk(gpt2, "causal", EvalData(FRESH)))
    assert ask is not None and ask(gpt2).metrics["repeat accuracy"] == float(repeats)


def test_induction_is_the_weight_on_the_piece_after_the_earlier_copy(
    gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[tuple[Inputs, dict[str, head_weights.Links]]] = []
    monkeypatch.setattr(causal, "weights_on", lambda model, inputs, context: texts.append((inputs, context)) or {})
    ask = causal.repeated(desk(gpt2, "causal", EvalData(FRESH)))
    assert ask is not None
    ask(gpt2)
    inputs, context = texts[0]
    for name, after in (("induction", 1), ("same token earlier", 0)):
        for row, query, key in zip(context[name].row, context[name].query, context[name].key, strict=True):
            assert inputs.ids[row, key - after] == inputs.ids[row, query] and key < query


def test_weights_are_those_of_a_trace(bert: TransformerModel, gpt2: TransformerModel) -> None:
    """Padded batches against one trace a text."""
    for model, stream in ((bert, "encoder"), (gpt2, "decoder")):
        texts = [model.tokenizer.encode(" ".join(story)) for story in FRESH[:3]]
        inputs = inputs_of([text.ids for text in texts])
        actual = head_weights.weights_on(model, inputs, {"x": head_weights.links([(0, 5, 1), (0, 5, 2), (2, 9, 4)])})["x"]
        first, last = ex.trace(model, texts[0].ids.tolist()), ex.trace(model, texts[2].ids.tolist())
        for layer in range(model.config.layers):
            lower, other = first.at(stream, layer).weights, last.at(stream, layer).weights
            np.testing.assert_allclose(actual[layer], (lower[:, 5, 1] + lower[:, 5, 2] + other[:, 9, 4]) / 2, atol=1e-5)


def test_the_piece_before_is_found_in_every_row(bert: TransformerModel) -> None:
    ask = probing.near(desk(bert, "mlm", EvalData(FRESH[:2])))
    assert ask is not None
    actual = ask(bert).probes["previous token"]
    total, count = np.zeros_like(actual), 0
    for story in FRESH[:2]:
        trace = ex.trace(bert, " ".join(story))
        inside = [n for n, special in enumerate(trace.source.special) if not special]
        for query in inside[1:]:
            total += np.stack([attention.weights[:, query, query - 1] for attention in trace.attention])
            count += 1
    np.testing.assert_allclose(actual, total / count, atol=1e-5)


def test_antecedents_are_what_the_labels_say(wordpieces: TransformerModel) -> None:
    checked = 0
    for story in labelled(20, 1, "validation"):
        text = wordpieces.tokenizer.encode(story.text)
        for query, keys in antecedents(story, text):
            spelled = story.text[slice(*text.offsets[query])].lower()
            assert spelled in ("he", "she", "it", "him", "her", "his", "its", "himself", "herself", "they", "them", "their")
            entity = next(
                m.entities
                for m in story.mentions
                if m.form == "pronoun" and story.words[m.first].start == text.offsets[query][0]
            )
            for key in keys:
                start = text.offsets[key][0]
                owners = [m for m in story.mentions if story.words[m.first].start <= start < story.words[m.last].end]
                assert any(entity[0] in m.entities and m.form != "pronoun" for m in owners) and key < query
                checked += 1
    assert checked > 50


def test_it_and_its_two_noun_phrases_are_found(wordpieces: TransformerModel) -> None:
    for reason in reasons(20, 2, "validation"):
        scores_ = reason.text(0)
        text = wordpieces.tokenizer.encode(scores_)
        query, phrases = probing.phrases_of(scores_, len(" ".join(reason.before)) + 1, reason.nouns, text)
        assert text.texts[query] == "it"
        for places, noun in zip(phrases, reason.nouns, strict=True):
            spelled = scores_[text.offsets[places[0]][0] : text.offsets[places[-1]][1]].lower()
            assert spelled == f"the {noun}" and max(places) < query


def test_two_way_counts_the_head_that_was_chosen_elsewhere() -> None:
    right, wrong = np.zeros((1, 2, 8)), np.full((1, 2, 8), 0.5)
    right[0, 0, [0, 1, 4, 5]] = 1  # this head is right on the half that chooses, and wrong on the other
    right[0, 1, [2, 3, 6, 7, 0]] = 1
    assert probing.two_way(right, wrong) == 0.0
    assert probing.two_way(wrong, wrong) == 0.5


def test_alignment_is_found_where_a_head_is_rigged(translator: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights put by hand on the gold words: one head right everywhere, the others never."""
    texts = list(pairs(12, 5, "validation"))
    coded = [(translator.tokenizer.encode(p.english), translator.tokenizer.encode(p.french), p) for p in texts]
    gold = [(n, row, keys) for n, first in enumerate(coded) for row, keys in translated.gold_rows(*first)]

    def rigged(model: TransformerModel, read: Inputs, scores_: Inputs, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        weights = np.zeros((2, len(gold), 2, read.ids.shape[1]))
        for n, (pair, row, keys) in enumerate(gold):
            assert (at[n], rows[n]) == (pair, row)
            weights[1, n, 1, keys[0]] = 1
            weights[..., n, 0, next(k for k in range(99) if k not in keys)] = 0.4
            weights[0, n, 1, next(k for k in range(99) if k not in keys)] = 1
        return weights

    monkeypatch.setattr(translated, "_rows", rigged)
    ask = translated.aligned(
        desk(translator, "translation", EvalData([Translation(p.english, p.french) for p in texts], gold=texts))
    )
    assert ask is not None
    assert ask(translator).metrics == {"alignment": 1.0, "alignment, mean of last heads": 1.0}


def test_the_row_that_predicts_a_word_is_the_one_before_it_is_read(translator: TransformerModel) -> None:
    for pair in pairs(30, 2, "test"):
        source, target = translator.tokenizer.encode(pair.english), translator.tokenizer.encode(pair.french)
        for row, keys in translated.gold_rows(source, target, pair):
            scores_ = pair.french[slice(*target.offsets[row])].strip()
            french = [pair.french_words[j] for i, j in pair.alignment]
            assert any(word.startswith(scores_) for word in french)
            english = {pair.english_words[i] for i, j in pair.alignment if pair.french_words[j].startswith(scores_)}
            for key in keys:
                assert any(pair.english[slice(*source.offsets[key])].strip() in word for word in english)


def test_greedy_writing_with_the_cache_is_argmax_one_by_one(translator: TransformerModel, gpt2: TransformerModel) -> None:
    sources = [translator.tokenizer.encode(pair.english).ids for pair in pairs(3, 1)]
    for source, scores_ in zip(sources, rewritten(translator, sources, 6), strict=True):
        so_far: list[int] = []
        for piece in scores_:
            row = translator.logits(source.tolist(), [*so_far, 0])[-1]
            assert row[piece] == pytest.approx(row.max(), abs=1e-4)
            so_far.append(piece)
    prompt = np.array([[0, *gpt2.tokenizer.encode("Ida was a baker").ids.tolist()]])
    (more,) = continued(gpt2, prompt, 8)
    for n, piece in enumerate(more):
        assert int(gpt2.logits([*prompt[0].tolist(), *more[:n]])[-1].argmax()) == piece


def test_exact_match_counts_translations(translator: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [Translation(pair.english, pair.french) for pair in pairs(10, 3, "test")]
    perfect = [translator.tokenizer.encode(text.target).ids[:-1].tolist() for text in texts]
    perfect[0] = perfect[0][::-1]
    monkeypatch.setattr(translated, "rewritten", lambda model, sources, longest: perfect)
    ask = translated.exact(desk(translator, "translation", EvalData(texts)))
    assert ask is not None
    actual = ask(translator)
    assert actual.metrics["exact match"] == 0.9 and 50 < actual.metrics["bleu"] < 100 and texts[1].target in actual.samples[1]


@pytest.mark.parametrize("strategy", ["bart", "bart-permute", "bart-delete"])
def test_restored_texts_stand_beside_the_damaged_ones(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(story) for story in FRESH]
    pieces = ex.tokenizer("byte-bpe", texts, size=400, specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    model = ex.build("bart", tokenizer=pieces, seed=0, device="cpu", **SMALL)
    gold = [pieces.encode(text).ids[1:-1].tolist() for text in texts]
    monkeypatch.setattr(restored, "rewritten", lambda model, sources, longest: gold)
    ask = restored.reconstructed(desk(model, "denoising", EvalData(FRESH), strategy))
    assert ask is not None
    actual = ask(model).metrics
    assert actual["exact match"] == 1.0 and actual["bleu"] == pytest.approx(100)
    monkeypatch.setattr(restored, "rewritten", lambda model, sources, longest: [row.tolist() for row in sources])
    actual = ask(model).metrics
    assert actual["bleu"] == actual["copying the source, bleu"] < 100
    assert actual["exact match"] == actual["copying the source, exact"] < 0.2


@pytest.mark.parametrize("strategy", ["bart", "bart-mask", "bart-rotate", "bart-delete"])
def test_a_copied_piece_is_looked_for_where_it_stands(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(story) for story in FRESH]
    pieces = ex.tokenizer("byte-bpe", texts, size=400, specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    model = ex.build("bart", tokenizer=pieces, seed=0, device="cpu", **SMALL)
    kept_links: list[tuple[Inputs, dict[str, head_weights.Links], np.ndarray]] = []
    monkeypatch.setattr(
        restored, "weights_on", lambda m, inputs, context, stream, target: kept_links.append((inputs, context, target)) or {}
    )
    ask = restored.copying_cross_attention(desk(model, "denoising", EvalData(FRESH), strategy))
    assert ask is not None
    ask(model)
    inputs, context, target = kept_links[0]
    kept, hidden = context["source token that is copied"], context["mark that hides the token"]
    assert len(kept.row) and (inputs.ids[kept.row, kept.key] == target[kept.row, kept.query]).all()
    assert (inputs.ids[hidden.row, hidden.key] == pieces.vocabulary.mask).all()
    assert bool(len(hidden.row)) == (strategy in ("bart", "bart-mask"))
    hidden_links = {(int(row), int(query)) for link in (kept, hidden) for row, query in zip(link.row, link.query, strict=True)}
    whole = sum(len(pieces.encode(text)) for text in texts)
    assert len(hidden_links) == whole if strategy != "bart-delete" else len(hidden_links) < whole, (
        "every token that is not gone stands somewhere"
    )


def test_spans_are_cut_at_their_sentinels() -> None:
    assert restored.after_sentinels([9, 1, 2, 8, 7, 3], {7, 8, 9}) == {9: (1, 2), 8: (), 7: (3,)}
    assert restored.after_sentinels([1, 2], {9}) == {}


def test_overlap_counts_each_word_as_often_as_both_have_it() -> None:
    assert scores.overlap(["a", "a", "b"], ["a", "b", "c"]) == pytest.approx(2 / 3)


def test_every_objective_is_measured(bert: TransformerModel) -> None:
    assert all(entry.metrics for entry in OBJECTIVES.values())
    with pytest.raises(ex.ExplorerError, match="no measure"):
        measure(bert, "chess", FRESH)
    for nothing in ([], [""], [[]], ["  "]):
        with pytest.raises(ex.ExplorerError, match="held-out"):
            measure(bert, "mlm", nothing)


SHORT = {"alike": ["a b c d e f g h"] * 40, "never again": [f"w{n} x{n}." for n in range(60)], "usual": FRESH * 5}
ODD = [
    ("bert", "alike"),
    ("bert", "never again"),
    ("gpt2", "usual"),
    ("bart", "alike"),
    ("t5", "never again"),
    ("electra", "usual"),
]


@SAMPLED
@pytest.mark.parametrize(("preset", "kind"), some(product(("bert", "gpt2", "bart", "t5", "electra"), SHORT), *ODD))
def test_short_models_and_odd_texts_are_measured_as_far_as_they_go(preset: str, kind: str) -> None:
    run = ex.fit(preset, corpus=SHORT[kind], steps=2, batch=4, device="cpu", pieces=400, length=10, **SMALL)
    assert all(np.isfinite(list(step.metrics.values())).all() for step in run)
    for odd in (["x"], ["x" * (3000 if ALL else 600)], [["Hi."]], ["日本語 ☃ \n\n\t"], ["", "a"]):
        actual = measure(run.model, run.plan.objective, odd, strategy=run.plan.strategy)
        assert np.isfinite(list(actual.metrics.values())).all()


def test_measuring_says_the_same_each_time_and_leaves_the_model_as_it_was(bert: TransformerModel) -> None:
    context = measurement(bert, "mlm+nsp", FRESH)
    bert.module.train()
    before = torch.random.get_rng_state()
    first, other = context(bert), context(bert)
    assert bert.module.training and torch.equal(before, torch.random.get_rng_state())
    bert.module.eval()
    assert first.metrics == other.metrics and first.samples == other.samples
    assert all(np.array_equal(first.probes[name], other.probes[name]) for name in first.probes)


@LONG
def test_a_run_that_is_measured_trains_to_the_same_bits(bert: TransformerModel, tmp_path: Path) -> None:
    ends = []
    for checks in (0, 20):
        run = ex.fit("bert", corpus=list(toy(200, 4)), tokenizer=bert.tokenizer, steps=30, batch=8, seed=5, device="cpu",
                     dropout=0.1, checks=checks, folder=tmp_path / f"{checks}", **SMALL)  # fmt: skip
        corrupted = list(run)
        assert [step.step for step in corrupted if step.metrics] == list(run.plan.checked)
        ends.append({name: value.clone() for name, value in run.model.module.state_dict().items()})
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())
    texts = json.loads((tmp_path / "20" / "run.json").read_text())["plan"]["corpus"]
    assert texts == {"name": "given", "stories": 196, "held": 4}
    for mine, kept in zip(corrupted, steps_of(tmp_path / "20"), strict=True):
        assert kept.samples == mine.samples and set(kept.probes) == set(mine.probes) and kept.snapshot == mine.snapshot
        assert dict(kept.metrics) == pytest.approx(dict(mine.metrics))
        assert all(np.allclose(kept.probes[name], mine.probes[name], atol=1e-4) for name in mine.probes)


@pytest.mark.parametrize(
    ("steps", "checks", "snapshots"), [(2000, 20, 8), (1, 20, 8), (50, 20, 0), (20_000, 20, 8), (300, 5, 3)]
)
def test_checks_are_log_spaced_then_even(steps: int, checks: int, snapshots: int) -> None:
    plan = Plan("causal", "causal", steps, checks=checks, snapshots=snapshots)
    assert plan.checked[-1] == steps and plan.checked[0] >= 1 and set(plan.kept) <= set(plan.checked)
    assert len(plan.checked) <= checks + snapshots and Plan("causal", "causal", steps, checks=0).checked == ()
    if steps >= 2000:
        assert 0.7 * checks <= len(plan.checked) and max(np.diff(plan.checked)) <= steps / 10


def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corpora of three hundred texts at most, so that a test need not wait for all of them."""
    monkeypatch.setenv("EXPLORER_CACHE", os.devnull)  # what is fewer here is not kept for others
    for name in ("stories", "pairs", "toy_stories"):
        real = getattr(corpora, name)
        monkeypatch.setattr(corpora, name, lambda count, *rest, real=real, **named: real(min(count, 300), *rest, **named))


@LONG
def test_what_is_held_out_is_never_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer(monkeypatch)
    for name in CORPORA:
        corpus = corpus_of(f"{name}:{300 if ALL else 100}" if name in COUNTABLE else name)
        known = {json.dumps(text) for text in corpus.texts}
        for split in ("validation", "test"):
            fresh = {json.dumps(text) for text in corpus.held(50, split).texts}
            assert len(fresh & known) <= (0 if name != "toy" else 2) and len(fresh) > 40
    own = corpus_of([f"text {n}" for n in range(250)])
    assert list(own.texts) + list(own.held(99, "test").texts) == [f"text {n}" for n in range(250)]
    assert len(own.held(99, "test").texts) == 5 and len(own.held(2, "test").texts) == 2
    assert len(corpus_of(["one", "two"]).held(9, "test").texts) == 1
    given = corpus_of(["one", "two"], held=["three"])
    assert list(given.texts) == ["one", "two"] and list(given.held(9, "test").texts) == ["three"]


def test_a_head_that_is_told_what_pronouns_mean_is_scored_on_it(
    wordpieces: TransformerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss by hand, from the weights of a trace."""
    fewer(monkeypatch)
    monkeypatch.setattr(objectives, "STORIES", 30)
    monkeypatch.setattr(objectives, "REASONS", 15)
    run = ex.fit("bert", objective="mlm+antecedent", tokenizer=wordpieces.tokenizer, steps=2, batch=4, device="cpu", **SMALL)
    run.model.module.eval()
    batch = run.batch(1)
    meant = batch.extras["antecedent"]
    assert meant.any() and (batch.source == batch.labels)[np.nonzero(meant)[0], np.nonzero(meant)[1]].all()
    from explorer.training.device import tensors

    actual = OBJECTIVES["mlm+antecedent"].loss(run.model.module, tensors(batch, run.model.device), 0.0)
    price = []
    for row in range(4):
        ids = batch.source[row][batch.attention_mask[row]].tolist()
        weights = ex.trace(run.model, ids).at("encoder", 1).weights[0]
        for query in np.flatnonzero(meant[row].any(axis=1)):
            price.append(-math.log(weights[query, np.flatnonzero(meant[row, query])].sum()))
    assert float(actual["antecedent"].detach()) == pytest.approx(np.mean(price), rel=1e-4)
    with pytest.raises(ex.ExplorerError, match="microworld"):
        ex.fit("bert", objective="mlm+antecedent", corpus=FRESH, tokenizer=wordpieces.tokenizer, device="cpu", **SMALL)
