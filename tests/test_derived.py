"""Data sets that are derived from the microworld: right answers, no give-away, and what models say of the minimal pairs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG
from transformers import AutoTokenizer, BertForPreTraining, GPT2LMHeadModel

import explorer as ex
from explorer.analysis.evaluation.minimal import preferences
from explorer.microworld.derived.acceptability import judged, minimal_pairs
from explorer.microworld.derived.blanks import blanks, other_number
from explorer.microworld.derived.following import following
from explorer.microworld.derived.inference import inferences
from explorer.microworld.derived.minimal import PHENOMENA
from explorer.microworld.derived.minimal import minimal_pairs as asked_pairs
from explorer.microworld.derived.paraphrase import paraphrases
from explorer.microworld.derived.questions import questions, summaries
from explorer.microworld.giveaway import NAME, bag_of_words, classify, marked
from explorer.models.transformer import TransformerModel

COUNT = 12
MORE = {"taller": 1, "older": 1, "stronger": 1, "richer": 1, "shorter": -1, "younger": -1, "weaker": -1, "poorer": -1}


def test_the_classifier_that_should_fail_can_succeed() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 5))
    y = (x @ [1.0, -2.0, 0.5, 0.0, 1.0] > 0).astype(int)
    assert (classify(x[:400], y[:400], x[400:]) == y[400:]).mean() > 0.95
    assert bag_of_words(["good cake", "bad cake"] * 100, [1, 0] * 100) == 1.0


def test_inference_does_not_give_its_answer_away() -> None:
    items = list(inferences(4000 if ALL else 1200, 3))
    labels = [item.label for item in items]
    assert max(Counter(labels).values()) - min(Counter(labels).values()) <= 1
    assert bag_of_words([f"{i.premise} {i.hypothesis}" for i in items], labels) < 0.45
    assert bag_of_words([f"{i.premise} {marked(i.hypothesis)}" for i in items], labels) < 0.45
    assert bag_of_words([i.hypothesis for i in items], labels) < 0.40


def test_inference_about_order_is_right_by_an_exhaustive_search() -> None:
    checked = 0
    for item in inferences(600, 8):
        if item.family == "order":
            facts = [_relation(part) for part in item.premise.split(". ")]
            assert _follows(facts, _relation(item.hypothesis)) == item.label
            checked += 1
    assert checked > 100


def _relation(sentence: str) -> tuple[str, str]:
    a, _, more, _, b = sentence.rstrip(".").split(" ")
    return (a, b) if MORE[more] > 0 else (b, a)


def _follows(facts: list[tuple[str, str]], question: tuple[str, str]) -> int:
    """Try every order of the people: true in all of them, in none, or in some."""
    people = sorted({name for pair in (*facts, question) for name in pair})
    orders = [o for o in permutations(people) if all(o.index(a) < o.index(b) for a, b in facts)]
    true = sum(o.index(question[0]) < o.index(question[1]) for o in orders)
    return 0 if true == len(orders) else 1 if true == 0 else 2


@LONG
def test_acceptability_does_not_give_its_answer_away() -> None:
    items = list(judged(4000, 3))
    assert 0.45 < sum(item.good for item in items) / len(items) < 0.55
    assert bag_of_words([item.text for item in items], [int(item.good) for item in items]) <= 0.60


def test_minimal_pairs_differ_in_one_thing() -> None:
    for pair in minimal_pairs(900, 4):
        good, bad = (re.findall(r"[\w'-]+", text.lower()) for text in (pair.good, pair.bad))
        assert pair.good != pair.bad
        if pair.kind == "agreement":
            ((word, other),) = [(a, b) for a, b in zip(good, bad, strict=True) if a != b]
            assert other_number()[word] == other or other_number()[other] == word
        else:
            assert sorted(good) == sorted(bad), pair


def test_answers_are_spans_of_the_text() -> None:
    for item in questions(600, 5):
        assert item.answer and item.answer == item.text[item.start : item.end]
        assert item.question.endswith("?") and item.question.split()[0] in ("Who", "What", "Where")
        if item.question.startswith("Who"):
            rest = item.question.removeprefix("Who ").rstrip("?")
            assert f"{item.answer} {rest}" in item.text


def test_summaries_are_shorter_and_about_their_story() -> None:
    for item in summaries(300, 5):
        assert len(item.summary) < 0.8 * len(item.text)
        names = set(re.findall(r"\b[A-Z][a-z]+\b", item.summary)) - {"It"}
        assert all(name in item.text or name.lower() in item.text for name in names), item


def test_paraphrases_of_a_higher_grade_share_more_words() -> None:
    shared: dict[int, list[float]] = {grade: [] for grade in range(6)}
    for item in paraphrases(1800, 6):
        a, b = (set(re.findall(r"\w+", text.lower())) for text in (item.first, item.second))
        shared[item.grade].append(len(a & b) / len(a | b))
        assert item.first != item.second
    means = [float(np.mean(shared[grade])) for grade in range(6)]
    assert means == sorted(means)


@LONG
def test_the_second_text_cannot_be_told_by_a_shared_name() -> None:
    pairs = list(following(3000, 3))
    assert sum(pair.follows for pair in pairs) / len(pairs) == pytest.approx(0.5, abs=0.03)
    rule = [bool(set(NAME.findall(" ".join(p.first))) & set(NAME.findall(" ".join(p.second)))) == p.follows for p in pairs]
    assert sum(rule) / len(rule) < 0.60
    assert bag_of_words([" ".join(p.second) for p in pairs], [int(p.follows) for p in pairs]) < 0.60


@LONG
def test_blanks_hide_what_their_name_says() -> None:
    counts = Counter(blank.phenomenon for blank in blanks(600, 1, "train"))
    assert min(counts[name] for name in ("a noun said before", "a name said before", "agreement past an attractor")) > 50
    for blank in blanks(300, 1, "train"):
        assert blank.right not in blank.wrong and blank.sentence[0] <= blank.at < blank.sentence[1]
        if blank.phenomenon.endswith("said before"):
            assert blank.right in blank.words[: blank.at]


@pytest.fixture(scope="module")
def opened() -> dict[str, TransformerModel]:
    return {name: ex.load(name, device="cpu") for name in ("bert", "gpt2", "bart", "t5", "transformer")}


def test_a_masked_model_is_asked_as_hugging_face_would(opened: dict[str, TransformerModel], tmp_path: Path) -> None:
    folder = ex.export(opened["bert"], tmp_path / "twin")
    twin, cut = BertForPreTraining.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pairs = asked_pairs("agreement", COUNT, 3)
    scores = preferences(opened["bert"], pairs)
    for number, pair in enumerate(pairs):
        for text in (0, 1):
            batch = cut(f"{pair.before[text]}{cut.mask_token}{pair.after[text]}", return_tensors="pt")
            with torch.no_grad():
                logp = torch.log_softmax(twin(**batch).prediction_logits[0], -1)
            at = int((batch["input_ids"][0] == cut.mask_token_id).nonzero())
            wanted = [float(logp[at, cut.convert_tokens_to_ids(word)]) for word in pair.choices]
            assert scores[number, text] == pytest.approx(wanted, abs=1e-3)


def test_a_causal_model_is_asked_as_hugging_face_would(opened: dict[str, TransformerModel], tmp_path: Path) -> None:
    folder = ex.export(opened["gpt2"], tmp_path / "twin")
    twin, cut = GPT2LMHeadModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pairs = asked_pairs("reason", COUNT, 3)
    scores = preferences(opened["gpt2"], pairs)
    for number, pair in enumerate(pairs):
        for text in (0, 1):
            wanted = []
            for choice in (0, 1):
                ids = torch.tensor([[*cut(pair.text(text, choice))["input_ids"], cut.eos_token_id]])
                with torch.no_grad():
                    wanted.append(-float(twin(ids, labels=ids).loss) * (ids.shape[1] - 1))
            assert scores[number, text] == pytest.approx(wanted, rel=1e-4)


def test_an_encoder_decoder_is_asked_for_what_it_learned_to_write(opened: dict[str, TransformerModel]) -> None:
    """One text at a time, through the module alone, against all of them in one padded batch."""
    for name, phenomenon in (("bart", "reason"), ("t5", "reason"), ("transformer", "il or elle")):
        model, pairs = opened[name], asked_pairs(phenomenon, 4, 3)
        together = preferences(model, pairs)
        alone = np.concatenate([preferences(model, [pair]) for pair in pairs])
        assert together == pytest.approx(alone, abs=1e-3) and (together < 0).all()


@pytest.mark.parametrize("phenomenon", PHENOMENA)
def test_the_trivial_rule_is_right_in_one_text_of_each_pair(phenomenon: str) -> None:
    model = ex.load("transformer" if phenomenon == "il or elle" else "bert", device="cpu")
    scores = ex.analysis.minimal_scores(model, phenomenon, count=COUNT)
    assert scores.rule_both == 0 and (scores.rule == np.arange(2)).mean() == 0.5


def test_who_knows_the_answer_gets_both_and_who_guesses_alike_gets_one() -> None:
    scores = ex.analysis.minimal_scores(ex.load("bert", device="cpu"), count=COUNT)
    sure = np.where(np.eye(2, dtype=bool), -1.0, -2.0)[None].repeat(len(scores.kinds), axis=0)
    stubborn = np.stack([sure[:, 0], sure[:, 0]], axis=1)
    assert replace(scores, logp=sure).both == replace(scores, logp=sure).accuracy == 1
    assert replace(scores, logp=stubborn).both == 0 and replace(scores, logp=stubborn).accuracy == 0.5
    assert replace(scores, logp=np.zeros_like(sure)).accuracy == 0  # a tie is no answer


def test_the_lectures_own_pairs_are_among_those_of_the_test() -> None:
    marked = [pair.text(0, 0) for pair in asked_pairs("reason", 50, 3) if pair.lecture]
    assert marked == [
        "The animal didn't cross the street because the animal was too tired.",
        "The trophy didn't fit in the suitcase because the trophy was too big.",
    ]
    assert not any(pair.lecture for pair in asked_pairs("reason", 50, 3, "validation"))


def test_what_cannot_be_asked_is_refused_in_one_line(opened: dict[str, TransformerModel]) -> None:
    short = ex.build("gpt2", tokenizer=opened["gpt2"].tokenizer, size="tiny", length=8, device="cpu")
    for model, phenomenon, message in (
        (opened["bert"], "il or elle", "il or elle"),
        (opened["bert"], "reasons", "reason"),
        (short, "reason", "8"),
        (ex.load("pegasus", device="cpu"), "reason", "bart, t5"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.analysis.minimal_scores(model, phenomenon, count=5)
