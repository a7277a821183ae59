"""What a student writes first in a notebook of their own, and what it says where it cannot be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import LONG, SAMPLED
from transformers import (
    BartForConditionalGeneration,
    PreTrainedTokenizerFast,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    pipeline,
)

import explorer as ex
from explorer.errors import TextError

TEXT = "The dog ran home because it was tired."


@pytest.mark.parametrize(("own", "model"), [("bert", "gpt2"), ("gpt2", "roberta"), ("t5", "elmo"), ("word2vec", "elmo")])
def test_tokens_of_another_tokenizer_are_refused(own: str, model: str) -> None:
    tokens = ex.load(own).tokenizer.encode(TEXT)
    with pytest.raises(TextError, match=r"another tokenizer|no letters"):
        ex.trace(model, tokens)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "elmo"])
@pytest.mark.parametrize("text", [TEXT, "Zebras juggle 17 \U0001f642\U0001f642 \u05e9\u05dc\u05d5\u05dd \u00e9"])
def test_a_models_own_tokens_are_read_whatever_they_hold(name: str, text: str) -> None:
    model = ex.load(name)
    first, second = ex.trace(model, text), ex.trace(model, model.tokenizer(text))
    assert all(np.array_equal(first.hidden[stream], second.hidden[stream]) for stream in first.hidden)


def test_a_blank_is_the_mask_of_an_encoder_decoder(tmp_path: Any) -> None:
    """Held to transformers, which is given the mask token itself."""
    ours = ex.decode("bart", "The dog ___ home because it was tired.", max_tokens=12).text
    ex.export(ex.load("bart"), tmp_path)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    read = tokenizer("The dog<mask> home because it was tired.", return_tensors="pt")
    theirs = BartForConditionalGeneration.from_pretrained(tmp_path).generate(
        input_ids=read["input_ids"], num_beams=1, do_sample=False, max_new_tokens=12
    )
    assert tokenizer.decode(theirs[0], skip_special_tokens=True).strip() == ours.strip()


def test_blanks_are_the_sentinels_of_t5_in_their_order() -> None:
    written = ex.decode("t5", "___ ran home because ___ was tired.", max_tokens=6)
    named = ex.decode("t5", "<extra_id_0> ran home because <extra_id_1> was tired.", max_tokens=6)
    assert written.text == named.text


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: ex.decode("gpt2", "The dog ___ home."), "End the text where the blank is"),
        (lambda: ex.decode("transformer", "The dog ___ home."), "knows none"),
        (lambda: ex.trace("bert", TEXT, output_attentions=True), r"always has \.attention"),  # type: ignore[call-arg]
        (lambda: ex.finetune("bert", examples=[("Anna smiled.", "good")]), r"ex\.tasks\.from_file"),  # type: ignore[list-item]
        (lambda: ex.trace("gpt2", "The ___ ran."), "gpt2 has no mask token"),
        (lambda: ex.trace("elmo", ["A dog.", "The ___ ran."]), "elmo has no mask token"),
        (lambda: ex.save(ex.show("attention", [ex.trace("bert", TEXT)] * 2), "x.html"), r"shown\.pictures\[0\]"),
        (lambda: ex.load("bert").state_dict, r"model\.module is the network"),
        (lambda: ex.trace("bert", TEXT).last_hidden_state, r"trace\.hidden\['encoder'\]\[-1\]"),
        (lambda: ex.trace("bert", TEXT, streams=1), "has no 'streams'"),  # type: ignore[call-arg]
        (lambda: ex.decode("gpt2", "The dog", 5), "strategy=5 must be a text"),  # type: ignore[arg-type]
        (lambda: ex.decode("The dog", ex.load("gpt2")), "exchanged"),  # type: ignore[arg-type]
        (lambda: ex.finetune("bert", task="mine.csv"), r"ex\.tasks\.from_file\('mine\.csv'\)"),
        (lambda: ex.fit(ex.load("bert"), lr=1), "lr is called rate here"),
        (lambda: ex.AddVector("encoder", 1, np.zeros(128), np.inf), "must be a finite number"),
        (lambda: ex.ReplaceRow("encoder", 0, 0, 1, np.array([1 + 1j])), "shares from 0 to 1"),
    ],
)
def test_what_cannot_be_done_says_what_can(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises((ex.ExplorerError, TypeError, AttributeError), match=message):
        ask()


def test_a_corruption_as_a_table_says_what_was_done_to_each_token() -> None:
    corruption = ex.corrupt(TEXT, "mlm", tokenizer=ex.load("bert").tokenizer, seed=3)
    table = corruption.to_frame()
    assert list(table) == ["position", "token", "was", "action", "scored"]
    assert list(table.token) == list(corruption.source.texts) and list(table.was) == list(corruption.original.texts)
    assert table.scored.sum() == corruption.scored.sum() > 0
    assert set(table[~table.scored].action) == {"kept"}
    assert len(corruption.to_frame(action="kept")) == corruption.action.count("kept")


@LONG
@pytest.mark.parametrize(
    ("record", "columns"),
    [
        (lambda: ex.damage("bert", TEXT), ["layer", "head", "heads"]),
        (lambda: ex.gradient("bert", TEXT), ["position", "token", "values"]),
        (lambda: ex.shuffle("bert", TEXT), ["layer", "word", "token", "with", "without"]),
        (lambda: ex.visibility("bert", TEXT), ["output", "output_token", "input", "input_token", "moved"]),
    ],
)
def test_a_record_of_numbers_is_a_table_of_them(record: Callable[[], Any], columns: list[str]) -> None:
    table = record().to_frame()
    assert list(table) == columns and len(table) > 1
    place = {"token": "word" if "word" in table else "position", "output_token": "output", "input_token": "input"}
    for column in {*place} & {*table}:
        assert list(table[column]) == [
            record().rows.texts[n] if "_" in column else record().tokens.texts[n] for n in table[place[column]]
        ]


def test_a_guess_as_a_table_says_what_stands_where_and_what_was_hidden() -> None:
    model = ex.load("bert")
    guess = ex.guess(model, ex.hide(TEXT, ["dog"], tokenizer=model.tokenizer))
    table = guess.to_frame(scored=True, rank=0)
    assert list(table.token) == ["[MASK]"] and table.texts[0] == guess.texts[table.position[0]][0]
    assert table.truth[0] == pytest.approx(np.exp(-guess.loss), rel=1e-5)


def test_a_change_and_a_prompt_are_tables_with_a_row_for_each_answer() -> None:
    change = ex.change("bert", TEXT, edits=[ex.SilenceHead("encoder", 1, 2)])
    table = change.to_frame()
    before = change.before.outputs["lm"].argmax(-1)
    assert list(table.before) == [ex.load("bert").tokenizer.text_of(i) for i in before.tolist()] and table.divergence.max() > 0
    labels = {"glad": "happy", "sad": "sad"}
    said = ex.prompt("gpt2", ["Tom won.", "Tom fell."], template="{text} Tom was {label}.", labels=labels)
    answers = said.to_frame()
    assert list(answers.text) == ["Tom won."] * 2 + ["Tom fell."] * 2 and list(answers.label) == ["glad", "sad"] * 2
    assert np.allclose(answers.groupby("text").probability.sum(), 1) and len(said.to_frame(label="sad")) == 2


def test_a_decoding_can_be_looped_over_again_once_it_is_whole() -> None:
    steps = ex.decode("gpt2", "A dog", max_tokens=4)
    first = next(steps)
    assert [step.step for step in steps] == [1, 2, 3]
    assert list(steps) == list(steps) == [first, *steps.taken[1:]] and steps.last.step == 3


def test_a_table_of_drawn_tokens_has_the_probability_with_which_each_was_drawn() -> None:
    """Held to the warpers of transformers, on the model's own scores."""
    model = ex.load("gpt2")
    steps = ex.decode(model, "A dog", "sample", temperature=0.7, top_k=5, max_tokens=4, seed=2)
    table, prompt = steps.to_frame(), model.tokens("A dog").ids.tolist()
    for n, row in enumerate(table.itertuples()):
        scores = torch.from_numpy(model.logits([*prompt, *steps.last.ids[:n].tolist()])[-1:].copy())
        kept = TopKLogitsWarper(5)(None, TemperatureLogitsWarper(0.7)(None, scores)).softmax(-1)[0]  # type: ignore[arg-type]
        assert row.drawn == pytest.approx(float(kept[steps.last.ids[n]]), rel=1e-3)
        assert steps.taken[n].to_frame().drawn.sum() == pytest.approx(1, abs=1e-5)
    assert "drawn" not in ex.decode(model, "A dog", max_tokens=2).to_frame()


def test_each_text_that_a_beam_search_ended_has_a_row() -> None:
    last = ex.decode("gpt2", "The dog was", "beam", beams=3, max_tokens=6).last
    table = last.to_frame("finished")
    assert list(table.text) == [text.text for text in last.finished] and table.text[0] == last.text
    assert np.allclose(table.total, [text.logp.sum() for text in last.finished]) and table.score.is_monotonic_decreasing
    assert np.allclose(table["mean"] * table.tokens, table.total)


def test_a_run_says_that_single_sentences_teach_no_next_sentence() -> None:
    whole = [" ".join(text) for text in ex.microworld.texts(40, 1)]
    single = [sentence for text in whole for sentence in text.split(". ")]
    options: dict[str, Any] = {"steps": 2, "batch": 8, "checks": 0, "pieces": 300, "device": "cpu"}
    run = ex.fit("bert", corpus=single, **options)
    assert "next-sentence prediction needs it" in run.report and "have a second sentence" in repr(run)
    assert sum(int(example.sentences[-1]) > 0 for example in run.examples) < len(run.examples) / 5
    for others in ({"corpus": whole}, {"corpus": single, "objective": "mlm"}):
        assert "next-sentence" not in ex.fit("bert", **others, **options).report
    assert set(list(ex.fit("bert", corpus=single, objective="mlm", **options))[-1].losses) == {"mlm"}


@pytest.mark.parametrize("name", ["bert", "bart", "t5"])
def test_a_blank_of_a_traced_text_is_what_the_model_has_for_one(name: str) -> None:
    own = ex.load(name).tokenizer.vocabulary
    mark = own.sentinels[0] if own.mask is None else own.mask
    assert ex.trace(name, "The ___ ran.").source.ids.tolist().count(mark) == 1


def test_a_part_that_a_trace_does_not_have_is_named_with_those_that_it_has() -> None:
    trace = ex.trace("bert", TEXT)
    with pytest.raises(KeyError, match="There is no 4 here, but 'encoder'"):
        trace.hidden[4]
    with pytest.raises(AttributeError, match=r"Write \['lm'\]"):
        getattr(trace.outputs, "lm")  # noqa: B009
    assert trace.hidden.get(4) is None and not hasattr(trace.hidden, "lm")


def test_a_fine_tuned_model_has_its_own_name_and_says_what_predicts_tokens() -> None:
    run = ex.finetune("bert", task="sentiment", examples=16, how="frozen", steps=1, checks=0, device="cpu")
    list(run)
    model, name = run.model, "bert-sentiment"
    assert model.name == ex.trace(model, TEXT).model == name and model.body.name == "bert"
    for ask in (ex.damage, ex.gradient, ex.lens, lambda made, _: ex.decode(made, "A ___ ran.", "fill")):
        with pytest.raises(ex.ExplorerError, match=f"{name} .*its .body is the model below"):
            ask(model, TEXT)
        ask(model.body, TEXT)
    with pytest.raises(ex.ExplorerError, match=r"trace its \.body"):
        ex.compare(ex.trace("bert", TEXT), ex.trace(model, TEXT))
    with pytest.raises(ex.ExplorerError, match=r"model\.classify"):
        model.scores([TEXT])  # type: ignore[arg-type]


def test_a_decoding_is_drawn_as_it_is() -> None:
    steps = ex.decode("gpt2", "The dog", "beam", max_tokens=3)
    assert "tree" in ex.views.for_(steps) and ex.views["tree"](steps).to_json() == ex.views["tree"](tuple(steps)).to_json()
    trace = ex.trace("bert", TEXT)
    assert {"attention"} < {*ex.views.for_([trace, trace])} and not ex.views.for_([])


def test_a_tokenizer_reads_its_own_tokens_back() -> None:
    tokenizer = ex.load("gpt2").tokenizer
    assert tokenizer.decode(tokenizer(TEXT)) == TEXT


def test_a_column_of_texts_is_classified() -> None:
    run = ex.finetune("bert", task="sentiment", examples=16, how="frozen", steps=1, checks=0, device="cpu")
    list(run)
    texts = ["Anna smiled.", "Tom cried."]
    assert run.model.classify(pd.Series(texts)) == run.model.classify(texts)
    with pytest.raises(TextError):
        run.model.classify(pd.Series([1, 2]))


@SAMPLED
@pytest.mark.parametrize(
    ("model", "task"),
    [("bert", "sentiment"), ("gpt2", "sentiment"), ("bert", "entailment"), ("bert", "part of speech"), ("bert", "questions")],
)
def test_an_exported_model_answers_as_before(model: str, task: str, tmp_path: Any) -> None:
    """Classes are held to the pipeline of transformers, which reads the same folder."""
    run = ex.finetune(model, task=task, examples=24, steps=4, checks=0, seed=1, device="cpu")
    list(run)
    opened = ex.load(ex.export(run.model, tmp_path))
    texts = [TEXT, "Anna was glad."]
    given = [("Who was tired?", text) for text in texts] if task in ("entailment", "questions") else texts
    assert opened.classify(given) == run.model.classify(given)
    if task in ("part of speech", "questions"):
        return
    ask = pipeline("text-classification", str(tmp_path), device="cpu", top_k=None)
    theirs = ask([{"text": a, "text_pair": b} for a, b in given] if task == "entailment" else texts, batch_size=1)
    assert [answer[0]["label"] for answer in theirs] == opened.classify(given)
    scores = [sorted((one["label"], one["score"]) for one in answer) for answer in theirs]
    ours = [sorted(zip(opened.output.labels, row, strict=True)) for row in opened.probabilities(given).tolist()]
    assert np.allclose(
        [[score for _, score in row] for row in scores], [[score for _, score in row] for row in ours], atol=1e-5
    )
