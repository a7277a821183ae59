"""Your model: a model and its random twin, what is open, and what tokens cost."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import LONG, SENTENCE, long, unmarked
from opening import opened

import explorer as ex
from explorer.app.lessons.yours import questions as lesson
from explorer.app.lessons.yours import twin
from explorer.models.card_figures import shipped_figures
from explorer.models.run_folder import described
from explorer.models.transformer import TransformerModel
from explorer.views.titles import titled

MODELS = ("bert", "llama", "bart")


def target(name: str) -> dict[str, str]:
    return {"target": SENTENCE} if name == "bart" else {}


@LONG
@pytest.mark.parametrize("name", MODELS)
def test_a_random_twin_has_the_same_shape_and_other_weights_and_chooses_less(name: str) -> None:
    model, other = ex.load(name, device="cpu"), twin.twin_of(name).run()
    mine, theirs = (dict(each.module.named_parameters()) for each in (model, other))
    assert {key: value.shape for key, value in mine.items()} == {key: value.shape for key, value in theirs.items()}
    assert not any(value.equal(theirs[key]) for key, value in mine.items() if value.dim() > 1)
    trained, random = (ex.trace(each, SENTENCE, **target(name)) for each in (model, other))
    assert lesson.used(trained) < 0.8 < lesson.used(random)
    question = lesson.twin_question(trained, random, True)
    assert question.answer == "B" and f"{lesson.used(random):.0%}" in question.why


def test_the_share_of_tokens_used_is_scipy_s_entropy(gpt2: TransformerModel) -> None:
    from scipy.stats import entropy

    trace = ex.trace(gpt2, SENTENCE)
    weights = np.concatenate([attention.weights.astype(np.float64) for attention in trace.attention])
    rows = [np.exp(entropy(weights[:, n, : n + 1], axis=-1)) / (n + 1) for n in range(1, weights.shape[1])]
    assert lesson.used(trace) == pytest.approx(np.mean(rows), abs=1e-6)


def test_prices_are_those_of_the_slide_times_the_tokens() -> None:
    row = next(row for row in lesson.prices(1000, 500) if row["model"] == "gpt-4")
    assert [row[part] for part in ("prompt", "answer", "both")] == ["$0.0300", "$0.0300", "$0.0600"]
    assert [row["training data"] for row in lesson.opened_by_kind()] == ["–", "–", "yes"]


@LONG
@pytest.mark.parametrize(("name", "kind"), [("bert", "is an **encoder**"), *long(("gpt2", "is a **decoder**"))])
def test_an_encoder_and_a_decoder_have_their_articles(name: str, kind: str) -> None:
    at = opened("yours", model=name)
    assert any(f"**{name}** {kind}" in unmarked(block.value) for block in at.markdown)


@LONG
def test_the_page_asks_which_twin_is_trained_without_saying_it() -> None:
    at = opened("yours", part="random-twin", model="bert")
    question = next(radio for radio in at.radio if (radio.key or "").startswith("guess.twin"))
    assert not at.exception and list(question.options) == ["A", "B"] and len(at.get("plotly_chart")) == 2
    assert "on average" not in " ".join(block.value for block in (*at.info, *at.success))
    at = opened("yours", part="openness")
    assert not at.exception and len(at.table) == 2


@pytest.mark.parametrize("name", MODELS)
def test_the_exercises_ask_about_the_trace(name: str) -> None:
    from scipy.stats import entropy

    model = ex.load(name, device="cpu")
    trace = ex.trace(model, SENTENCE, **target(name))
    largest, use, many, size = lesson.exercises(trace)
    first = trace.attention[0]
    rows, columns = trace.axes(first.stream)
    row = next(n for n, text in enumerate(rows.texts) if "tired" in text)  # the last word of the sentence
    weights = np.asarray(first.weights[0, row], np.float64)
    assert f"the row of *{rows.texts[row]}*" in largest.question and trace.model in largest.question
    assert largest.right(f"{weights.max():.2f}") and f"*{columns.texts[int(weights.argmax())]}*" in largest.why
    assert use.right(f"{np.exp(entropy(weights)):.1f}") and f"may see {int(first.allowed[row].sum())}" in use.why
    assert many.right(str(first.weights.size)) and size.right(str(model.config.dim // model.config.heads))
    assert lesson.exercises(ex.trace(ex.load("elmo", device="cpu"), SENTENCE)) == (), "no attention, no questions about it"


def test_two_perplexities_are_those_of_the_cards_and_do_not_compare() -> None:
    question = lesson.perplexity_question()
    names = ("gpt", question.options[1].lower())
    shown = re.findall(r"(?<=perplexity )[\d.]+|(?<=tokenizer, )[\d.]+\d", question.question)
    cards = {name: shipped_figures(ex.models()[name].folder) for name in names}
    assert shown == [f"{card['perplexity']:.3f}" for card in cards.values()]
    better = min(names, key=lambda name: cards[name]["bits per character"])
    assert question.answer == question.options[2] and f"{titled(better)} is better" in question.why
    corpora = {described(ex.models()[name].folder)["plan"]["corpus"]["name"] for name in names}
    tokens = {ex.load(name, device="cpu").tokenizer.encode("Anna").texts for name in names}
    assert len(corpora) == 1 and len(tokens) == 2, "the same stories, other tokens"
