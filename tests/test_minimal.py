"""Minimal pairs put to models: the log-probabilities are Hugging Face's, the intervals SciPy's, and no blind rule gets both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

import explorer as ex
from explorer.analysis.evaluation.minimal import preferences
from explorer.errors import ChoiceError
from explorer.microworld.derived.minimal import PHENOMENA, minimal_pairs
from explorer.models.transformer import TransformerModel

COUNT = 12


@pytest.fixture(scope="module")
def opened() -> dict[str, TransformerModel]:
    return {name: ex.load(name, device="cpu") for name in ("bert", "gpt2", "bart", "t5", "transformer")}


def test_a_masked_model_is_asked_as_hugging_face_would(opened: dict[str, TransformerModel], tmp_path: Path) -> None:
    from transformers import AutoTokenizer, BertForPreTraining

    folder = ex.export(opened["bert"], tmp_path / "twin")
    twin, cut = BertForPreTraining.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pairs = minimal_pairs("agreement", COUNT, 3)
    scores = preferences(opened["bert"], pairs)
    for number, pair in enumerate(pairs):
        for text in (0, 1):
            read = cut(f"{pair.before[text]}{cut.mask_token}{pair.after[text]}", return_tensors="pt")
            with torch.no_grad():
                logp = torch.log_softmax(twin(**read).prediction_logits[0], -1)
            at = int((read["input_ids"][0] == cut.mask_token_id).nonzero())
            wanted = [float(logp[at, cut.convert_tokens_to_ids(word)]) for word in pair.choices]
            assert scores[number, text] == pytest.approx(wanted, abs=1e-3)


def test_a_causal_model_is_asked_as_hugging_face_would(opened: dict[str, TransformerModel], tmp_path: Path) -> None:
    from transformers import AutoTokenizer, GPT2LMHeadModel

    folder = ex.export(opened["gpt2"], tmp_path / "twin")
    twin, cut = GPT2LMHeadModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pairs = minimal_pairs("reason", COUNT, 3)
    scores = preferences(opened["gpt2"], pairs)
    for number, pair in enumerate(pairs):
        for text in (0, 1):
            wanted = []
            for choice in (0, 1):
                end = cut.eos_token_id
                ids = torch.tensor([[*cut(pair.text(text, choice))["input_ids"], end]])
                with torch.no_grad():
                    wanted.append(-float(twin(ids, labels=ids).loss) * (ids.shape[1] - 1))
            assert scores[number, text] == pytest.approx(wanted, rel=1e-4)


def test_an_encoder_decoder_is_asked_for_what_it_learned_to_write(opened: dict[str, TransformerModel]) -> None:
    """One text at a time, through the module alone, against all of them in one padded batch."""
    for name, phenomenon in (("bart", "reason"), ("t5", "reason"), ("transformer", "il or elle")):
        model, pairs = opened[name], minimal_pairs(phenomenon, 4, 3)
        together = preferences(model, pairs)
        alone = np.concatenate([preferences(model, [pair]) for pair in pairs])
        assert together == pytest.approx(alone, abs=1e-3) and np.isfinite(together).all() and (together < 0).all()


def test_the_interval_is_wilsons() -> None:
    scores = ex.analysis.minimal_scores(ex.load("bert", device="cpu"), "agreement", count=40)
    hits = int(scores.right.all(axis=1).sum())
    ours, theirs = scores.both_interval, binomtest(hits, 40).proportion_ci(method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9) and scores.both == hits / 40


@pytest.mark.parametrize("phenomenon", PHENOMENA)
def test_the_trivial_rule_is_right_in_one_text_of_each_pair(phenomenon: str) -> None:
    model = ex.load("transformer" if phenomenon == "il or elle" else "bert", device="cpu")
    scores = ex.analysis.minimal_scores(model, phenomenon, count=COUNT)
    assert scores.rule_both == 0 and (scores.rule == np.arange(2)).mean() == 0.5
    assert scores.logp.shape == (len(scores.kinds), 2, 2) and scores.rule_name


def test_who_knows_the_answer_gets_both_and_who_guesses_alike_gets_one() -> None:
    scores = ex.analysis.minimal_scores(ex.load("bert", device="cpu"), count=COUNT)
    sure = np.where(np.eye(2, dtype=bool), -1.0, -2.0)[None].repeat(len(scores.kinds), axis=0)
    stubborn = np.stack([sure[:, 0], sure[:, 0]], axis=1)
    assert replace(scores, logp=sure).both == replace(scores, logp=sure).accuracy == 1
    assert replace(scores, logp=stubborn).both == 0 and replace(scores, logp=stubborn).accuracy == 0.5
    assert replace(scores, logp=np.zeros_like(sure)).accuracy == 0  # a tie is no answer


def test_the_lectures_own_pairs_are_among_those_of_the_test() -> None:
    marked = [pair.text(0, 0) for pair in minimal_pairs("reason", 50, 3) if pair.lecture]
    assert marked == [
        "The animal didn't cross the street because the animal was too tired.",
        "The trophy didn't fit in the suitcase because the trophy was too big.",
    ]
    assert not any(pair.lecture for pair in minimal_pairs("reason", 50, 3, "validation"))


def test_what_cannot_be_asked_is_refused_in_one_line(opened: dict[str, TransformerModel]) -> None:
    with pytest.raises(ChoiceError, match="il or elle"):
        ex.analysis.minimal_scores(opened["bert"], "il or elle")
    with pytest.raises(ChoiceError, match="reason"):
        ex.analysis.minimal_scores(opened["bert"], "reasons")
    with pytest.raises(ChoiceError, match="bart, t5"):
        preferences(ex.load("pegasus", device="cpu"), minimal_pairs("reason", 2, 3))


def test_texts_longer_than_a_model_reads_are_refused_in_a_sentence() -> None:
    short = ex.build("gpt2", tokenizer=ex.load("gpt2", device="cpu").tokenizer, size="tiny", length=8, device="cpu")
    with pytest.raises(ex.ExplorerError, match="8"):
        ex.analysis.minimal_scores(short, "reason", count=5)
