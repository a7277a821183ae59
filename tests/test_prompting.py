"""Prompting: exact log-probabilities beside Hugging Face's own loss, calibration beside its formula, and clear refusals."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

import explorer as ex
from explorer.analysis.prompting import CONTENT_FREE, ScoredTokens, log_probabilities
from explorer.models.transformer import TransformerModel
from explorer.records import Curves, Prompted
from explorer.records.training import spread
from explorer.views import VIEWS
from studies import prompting as study

FEEL = {"glad": "happy", "sad": "miserable and lonely"}  # of one token, and of several
TEMPLATE = "{text} In the end Anna was {label}."
TEXTS = ["Anna lost her dog.", "Anna won the big prize, and everybody sang."]
SHOTS = [("Tom laughed.", "glad"), ("Tom wept.", "sad"), ("Tom won.", "glad")]


def theirs(module: torch.nn.Module, source: list[int] | None, ids: list[int], first: int) -> float:
    """log P of ids[first:] by the loss of a Hugging Face class: −(mean −log P) × count."""
    given = {"input_ids": torch.tensor([ids])}
    if source is not None:
        start = module.config.decoder_start_token_id  # type: ignore[union-attr]
        given = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([[start, *ids[:-1]]])}
    with torch.no_grad():
        loss = module(**given, labels=torch.tensor([[-100] * first + ids[first:]])).loss
    return -float(loss) * (len(ids) - first)


def test_scores_are_the_loss_of_a_causal_model_of_hugging_face(gpt2: TransformerModel, tmp_path: Path) -> None:
    ex.export(gpt2, tmp_path / "gpt2")
    module = AutoModelForCausalLM.from_pretrained(tmp_path / "gpt2").eval()
    answer = ex.prompt(gpt2, TEXTS, labels=FEEL, template=TEMPLATE, shots=SHOTS, calibrate=True)
    for n, written in enumerate(answer.prompts):
        for m, word in enumerate(answer.words):
            begin = gpt2.tokenizer.vocabulary.begin
            before = [begin, *gpt2.tokenizer.encode(written, special=False).ids.tolist()]
            whole = [begin, *gpt2.tokenizer.encode(f"{written} {word}", special=False).ids.tolist()]
            assert whole[: len(before)] == before and answer.tokens[m] == len(whole) - len(before)
            assert theirs(module, None, whole, len(before)) == pytest.approx(answer.logp[n, m], abs=1e-4)
    hub = ex.prompt(ex.load(str(tmp_path / "gpt2"), native=False), TEXTS, labels=FEEL, template=TEMPLATE, shots=SHOTS)
    assert np.allclose(hub.logp, answer.logp, atol=1e-4), "the same folder opened by transformers"


@LONG
@pytest.mark.parametrize("name", ["t5", "bart"])
def test_scores_are_the_loss_of_an_encoder_decoder_of_hugging_face(name: str, tmp_path: Path) -> None:
    model = ex.load(name, device="cpu")
    ex.export(model, tmp_path / name)
    module = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / name).eval()
    known, encode = model.tokenizer.vocabulary, model.tokenizer.encode
    answer = ex.prompt(model, TEXTS[0], labels=FEEL, template=TEMPLATE)
    head = encode(answer.prompts[0], special=False).ids.tolist()
    after = encode(".", special=False).ids.tolist()
    for m, word in enumerate(answer.words):
        whole = encode(f"{answer.prompts[0]} {word}", special=False).ids.tolist()
        own = whole[len(head) :]
        if name == "t5":
            hole = model.tokenizer.core.token_to_id("<extra_id_0>")
            source, target, first = [*head, hole, *after, known.last], [hole, *own], 1
        else:
            source, target, first = [known.cls, *head, known.mask, *after, known.last], [known.cls, *whole], 1 + len(head)
        assert theirs(module, source, target, first) == pytest.approx(answer.logp[0, m], abs=1e-4)


def test_calibration_is_the_formula_of_the_paper(gpt2: TransformerModel) -> None:
    answer = ex.prompt(gpt2, TEXTS, labels=FEEL, template=TEMPLATE, shots=SHOTS, calibrate=True)
    assert len(answer.free) == len(CONTENT_FREE)
    p = np.exp(answer.logp) / np.exp(answer.logp).sum(1, keepdims=True)
    p_cf = np.mean([np.exp(row) / np.exp(row).sum() for row in answer.free], axis=0)
    q = np.stack([np.diag(1 / p_cf) @ row for row in p])  # W p + b with W = diag(p_cf)⁻¹ and b = 0
    assert np.allclose(answer.calibrated, q / q.sum(1, keepdims=True)) and np.allclose(answer.probabilities, p)
    same = np.log([[0.6, 0.4]])
    flat = Prompted("m", "", ("a", "b"), ("a", "b"), ("",), ("",), (), same, same, (1, 1), ("b",))
    assert np.allclose(flat.calibrated, 0.5), "what is answered to a text that says nothing is worth nothing"


def test_a_prompt_is_read_once_for_all_words_of_one_token_and_the_batch_changes_nothing(gpt2: TransformerModel) -> None:
    begin = gpt2.tokenizer.vocabulary.begin or 0
    cases = [*(ScoredTokens((begin, 5, 9 + n), 2) for n in range(40)), ScoredTokens((begin, 7, 8, 9), 1)]
    assert len({case.read for case in cases}) == 2
    together = log_probabilities(gpt2, cases)
    assert np.allclose(together, [log_probabilities(gpt2, [case])[0] for case in cases], atol=1e-5)


def test_all_orders_and_templates_are_tried(gpt2: TransformerModel) -> None:
    options = {"gold": ["sad", "glad"], "labels": FEEL, "template": TEMPLATE, "calibrate": ["Nothing happened."]}
    orders = ex.analysis.prompt_orders(gpt2, TEXTS, shots=SHOTS, **options)
    assert sorted(orders.forms) == sorted(" ".join(map(str, order)) for order in itertools.permutations((1, 2, 3)))
    place = orders.forms.index("3 1 2")
    alone = ex.prompt(gpt2, TEXTS, shots=[SHOTS[2], SHOTS[0], SHOTS[1]], **options)
    assert orders.right[place, 0].tolist() == alone.right().tolist()
    assert orders.right[place, 1].tolist() == alone.right(calibrated=True).tolist()
    with pytest.raises(ex.ExplorerError, match="2 to 5 shots"):
        ex.analysis.prompt_orders(gpt2, TEXTS, shots=SHOTS * 2, **options)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({"template": template}, "must hold {text} once") for template in ("{text}", "{label} {text}")),
        ({"labels": {"glad": "happy"}}, "at least two labels"),
        ({"labels": {"glad": "happy", "sad": " happy"}}, "same verbaliser"),
        ({"shots": [("Tom sang.", "merry")]}, "no label of a shot 'merry'"),
        ({"shots": [("", "glad")]}, "a text and its label"),
        ({"shots": SHOTS * 40}, "reads at most 128"),
        ({"texts": "  "}, "text is empty"),
        ({"gold": ["glad"]}, "2 texts, but 1 gold"),
    ],
)
def test_a_wrong_prompt_gets_one_clear_line(gpt2: TransformerModel, given: dict[str, object], message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        ex.prompt(gpt2, **{"texts": TEXTS, "labels": FEEL, "template": TEMPLATE, **given})  # type: ignore[arg-type]


def test_a_model_that_continues_nothing_is_refused(bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="continued by a causal model"):
        ex.prompt(bert, TEXTS, labels=FEEL)
    with pytest.raises(ex.ExplorerError, match="needs the right labels"):
        ex.analysis.prompt_templates(bert, [], gold=[], labels=FEEL, templates=[])


def test_text_that_looks_like_a_template_or_markup_stays_text(gpt2: TransformerModel) -> None:
    answer = ex.prompt(gpt2, "{label} <b>x</b> {0} \x00", labels=FEEL, template=TEMPLATE)
    assert answer.prompts[0].startswith("{label} <b>x</b> {0}") and np.isfinite(answer.logp).all()


@LONG
def test_the_study_draws_balanced_texts_that_no_shot_repeats() -> None:
    size = study.SIZE.but(counts=(0, 2), tuned=(4,), draws=1, texts=10)
    for name in ("ending", "acceptability"):
        solved, new = study.examples(name, 0, size)
        assert [label for _, label in new].count(next(iter(study.TASKS[name].words))) == 5
        assert not {text for text, _ in solved} & {text for text, _ in new}


@LONG
def test_the_study_measures_what_the_verb_answers(gpt2: TransformerModel) -> None:
    size = study.SIZE.but(counts=(0, 1, 40), tuned=(), draws=2, texts=8)
    curves = study.by_shots("ending", ["gpt2"], size)
    plain = next(line for line in curves.lines if line.label.endswith("prompted"))
    assert plain.x.tolist() == [0, 1], "where no prompt fits there is no point"
    new, other = (study.examples("ending", seed, size)[1] for seed in (0, 1))
    task = study.TASKS["ending"]
    right = []
    for texts, gold in (zip(*part, strict=True) for part in (new, other)):
        options = {"labels": task.words, "template": task.templates[0], "gold": list(gold)}
        right.append(ex.prompt(gpt2, list(texts), **options).right().mean())
    assert plain.y[0] == pytest.approx(np.mean(right))


def test_the_pictures_show_the_record(gpt2: TransformerModel) -> None:
    options: dict[str, Any] = {"gold": ["sad", "glad"], "labels": FEEL}
    answer = ex.prompt(gpt2, TEXTS, template=TEMPLATE, calibrate=True, **options)
    figure = VIEWS["prompt-answer"](answer, text=1)
    assert np.allclose(figure.data[0].x, answer.probabilities[1]) and np.allclose(figure.data[1].x, answer.calibrated[1])
    forms = ex.analysis.prompt_templates(gpt2, TEXTS, templates=[TEMPLATE, "{text} She felt {label}."], **options)
    drawn = VIEWS["prompt-forms"](forms)
    assert sorted(drawn.data[0].x) == pytest.approx(sorted(forms.accuracy[:, 0]))


def test_more_and_more_examples_have_a_panel_for_each_model_as_wide_as_its_counts() -> None:
    few, many = np.array([0.0, 1.0, 6.0]), np.array([2.0, 64.0])
    labels = {"a (1.0 M), prompted": few, "a, prompted and calibrated": few, "b (2.0 M), prompted": few, "b, fine-tuned": many}
    lines = tuple(spread(label, x, np.full((2, len(x)), 0.5)) for label, x in labels.items())
    figure = VIEWS["prompt-shots"](Curves("t", "solved examples", "right", lines))
    assert [line.xaxis for line in figure.data] == ["x", "x", "x2", "x2"], "a model's lines share a panel"
    assert figure.layout.xaxis2.categoryarray == ("0", "1", "2", "6", "64") and figure.data[3].x == ("2", "64")
    widths = [axis.domain[1] - axis.domain[0] for axis in (figure.layout.xaxis, figure.layout.xaxis2)]
    assert widths[1] / widths[0] == pytest.approx(6 / 4), "a count has as much room in every panel"
    assert [line.name for line in figure.data if line.showlegend] == ["prompted", "prompted and calibrated", "fine-tuned"]
