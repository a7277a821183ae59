"""Tired or wide: nouns, pronouns and heads against Hugging Face's own models, and the part that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened, pictures
from transformers import AutoModelForCausalLM, AutoModelForPreTraining, AutoTokenizer, MarianMTModel

import explorer as ex
from explorer.app.lessons.heads import reasons_questions as lesson
from explorer.errors import ExplorerError
from explorer.models.transformer import TransformerModel
from explorer.views import VIEWS

TEXTS, NOUNS = lesson.PAIRS["The animal did not cross the street because it was too tired / wide."]


def shipped(name: str) -> TransformerModel:
    model = ex.load(name, device="cpu")
    assert isinstance(model, TransformerModel)
    return model


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    ex.export(shipped("bert"), folder)
    return folder


def test_a_masked_model_gives_each_noun_what_hugging_face_s_gives_it_under_the_mask(bert: Path) -> None:
    record = ex.analysis.noun_preference(shipped("bert"), TEXTS, NOUNS)
    tokenizer, theirs = AutoTokenizer.from_pretrained(bert), AutoModelForPreTraining.from_pretrained(bert).eval()
    for text, logp in zip(TEXTS, record.logp, strict=True):
        ids = tokenizer(text.replace(" it ", " the [MASK] "), return_tensors="pt")
        at = ids.input_ids[0].tolist().index(tokenizer.mask_token_id)
        with torch.no_grad():
            scores = theirs(**ids).prediction_logits[0, at].log_softmax(-1)
        np.testing.assert_allclose(logp, [scores[tokenizer.convert_tokens_to_ids(noun)] for noun in NOUNS], atol=1e-3)
    assert record.reasons == ("tired", "wide") and record.filled


def test_a_decoder_compares_the_two_texts_with_the_nouns_in_place(tmp_path: Path) -> None:
    """What comes before the noun is the same in both, so the differences are those of whole texts."""
    model = shipped("gpt2")
    record = ex.analysis.noun_preference(model, TEXTS, NOUNS)
    ex.export(model, tmp_path)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    end = model.tokenizer.vocabulary.last
    for text, logp in zip(TEXTS, record.logp, strict=True):
        totals = []
        for noun in NOUNS:
            ids = [*model.tokens(text.replace(" it ", f" the {noun} ")).ids.tolist(), end]
            with torch.no_grad():
                scores = theirs(torch.tensor([ids])).logits[0].log_softmax(-1)
            totals.append(float(scores[torch.arange(len(ids) - 1), ids[1:]].sum()))
        assert logp[0] - logp[1] == pytest.approx(totals[0] - totals[1], abs=2e-3)


def test_heads_that_follow_the_reason_are_counted_from_hugging_face_s_weights(bert: Path) -> None:
    record = ex.analysis.pronoun_heads(shipped("bert"), TEXTS, NOUNS)
    tokenizer = AutoTokenizer.from_pretrained(bert)
    theirs = AutoModelForPreTraining.from_pretrained(bert, attn_implementation="eager").eval()
    more = []
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt")
        it, first, second = (tokenizer.convert_ids_to_tokens(ids.input_ids[0]).index(word) for word in ("it", *NOUNS))
        with torch.no_grad():
            weights = torch.stack(theirs(**ids, output_attentions=True).attentions)[:, 0, :, it]
        more.append(weights[..., first] > weights[..., second])
    np.testing.assert_array_equal(record.right, more[0] & ~more[1])
    np.testing.assert_array_equal(record.wrong, ~more[0] & more[1])
    figure = VIEWS["heads-and-reason"](record)
    assert f"{record.right.sum()} of {record.right.size} heads" in figure.layout.title.text
    assert sum(len(trace.x) for trace in figure.data) == record.right.size


def test_the_row_of_it_of_a_decoder_has_not_read_the_reason() -> None:
    weights = ex.analysis.pronoun_heads(shipped("gpt2"), TEXTS, NOUNS).weights
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-6)


def test_il_and_elle_have_marian_s_probabilities_and_its_weights_on_the_reason(tmp_path: Path) -> None:
    model = shipped("transformer")
    record = ex.analysis.pronoun_translation(model, *TEXTS)
    ex.export(model, tmp_path)
    theirs = MarianMTModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    target = ex.trace(model, TEXTS[0], target=record.written).target
    assert target is not None
    ids = torch.tensor([target.ids[: record.at + 1].tolist()])
    with torch.no_grad():
        outputs = theirs(torch.tensor([record.source.ids.tolist()]), decoder_input_ids=ids, output_attentions=True)
    shares = outputs.logits[0, -1].softmax(-1)
    words = [model.tokenizer.text_of(n).strip("·") for n in range(model.tokenizer.vocabulary.size)]
    expected = [sum(float(shares[n]) for n, word in enumerate(words) if word.lower() == form) for form in ("il", "elle")]
    np.testing.assert_allclose(record.shares, expected, atol=1e-4)
    cross = torch.stack(outputs.cross_attentions)[:, 0, :, -1]
    np.testing.assert_allclose(record.cross, cross.numpy(), atol=1e-4)
    tired = record.source.texts.index("·tired")
    np.testing.assert_allclose(record.on_reason, cross[..., tired].numpy(), atol=1e-4)


def test_pairs_that_do_not_fit_are_refused_with_what_to_do() -> None:
    model = shipped("bert")
    for texts in (("It was wide.", "It was wide."), ("The dog ran.", "The cat ran.")):
        with pytest.raises(ExplorerError, match=r"Change one word|Write a text"):
            ex.analysis.noun_preference(model, texts, NOUNS)
    with pytest.raises(ExplorerError, match="Give words of both texts"):
        ex.analysis.pronoun_heads(model, TEXTS, ("zebra", "street"))


@LONG
def test_the_part_switches_the_reason_and_takes_an_own_pair_with_unknown_words_marked() -> None:
    at = opened("heads", part="tired-or-wide", reason__of="wide")
    record = ex.analysis.noun_preference(shipped("bert"), *next(iter(lesson.PAIRS.values())))
    nouns, french = (chart.proto for chart in pictures(at))
    assert "“wide”" in nouns.alt and "elle" in french.alt
    assert f"P = {np.exp(record.logp[1, 0]):.4f}" in json.loads(nouns.spec)["data"][0]["customdata"][0]
    at = at.button_group(key="reason.look").set_value("What the heads do").run()
    assert not at.exception and json.loads(pictures(at)[1].proto.spec)["data"]
    at = at.selectbox(key="reason.pair").set_value(lesson.OWN).run()
    at = at.text_input(key="reason.text0").set_value("The xylophone did not cross the street because it was too tired").run()
    assert any("xylophone" in block.value for block in at.warning), "a noun that is not in the text"
    at = at.text_input(key="reason.text1").set_value("The xylophone did not cross the street because it was too wide").run()
    at = at.text_input(key="reason.noun0").set_value("xylophone").run()
    assert not at.exception and len(pictures(at)) == 2
    assert any("never seen in training" in block.value for block in at.info)


@LONG
def test_all_models_of_the_part_solve_the_kitten_and_not_all_of_them_the_lecture_s_sentence() -> None:
    (lecture, *_), kitten = lesson.PAIRS.values(), next(pair for label, pair in lesson.PAIRS.items() if "kitten" in label)
    right = {
        pair[1]: [bool(ex.analysis.noun_preference(shipped(name), *pair).right.all()) for name in lesson.ASKED]
        for pair in (lecture, kitten)
    }
    assert all(right[kitten[1]]) and len(lesson.ASKED) / 2 < sum(right[lecture[1]]) < len(lesson.ASKED)
    texts, nouns = kitten
    for text, noun, pronoun in zip(texts, nouns, ("qu'il", "qu'elle"), strict=True):
        assert pronoun in list(ex.decode(shipped("transformer"), text, "greedy"))[-1].text
        trace = ex.trace(shipped("bert-told"), text)
        weights = trace.attention[-1].weights[0, trace.source.texts.index("it")]
        assert trace.source.texts[int(weights.argmax())] == noun, "the head that was told"
