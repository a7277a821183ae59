"""word2vec's network against the same network in PyTorch, and GloVe's cell against the paper's formula with counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened
from torch.nn import functional

import explorer as ex
from explorer.app.lessons.vectors.networks import row
from explorer.errors import ChoiceError
from explorer.views import VIEWS


@pytest.mark.parametrize(("word", "near"), [("king", "queen"), ("he", "he")])
def test_a_pair_in_the_network_is_one_hot_times_two_matrices_and_a_softmax(word: str, near: str) -> None:
    model = ex.load("word2vec", device="cpu")
    network = ex.analysis.skipgram_network(model, word, near, top=5)
    weights = {name: value.double() for name, value in model.module.state_dict().items()}
    number, other = (model.tokenizer.core.token_to_id(text) for text in (word, near))
    one_hot = functional.one_hot(torch.tensor(number), network.size).double()
    scores = functional.linear(one_hot @ weights["words.weight"], weights["near.weight"])
    chances = scores.softmax(-1).numpy()
    assert network.size == len(scores) and network.ids[0] == number and network.ids[min(1, len({word, near}) - 1)] == other
    np.testing.assert_allclose(network.scores, scores.numpy()[network.ids], atol=1e-9)
    np.testing.assert_allclose(network.chances, chances[network.ids], atol=1e-12)
    np.testing.assert_allclose(network.sigma, torch.sigmoid(scores).numpy()[network.ids], atol=1e-12)
    rest = np.delete(chances, [*network.ids, *model.tokenizer.vocabulary.special])
    assert rest.max() <= network.chances[len({word, near}) :].min(), "the other words drawn have the largest scores"


def test_the_picture_of_the_network_draws_both_rows_and_says_the_numbers_of_the_pair() -> None:
    network = ex.analysis.skipgram_network(ex.load("word2vec", device="cpu"), "king", "queen")
    figure = VIEWS["skipgram-network"](network)
    hot, w, c, score, chance = figure.data
    np.testing.assert_array_equal(np.asarray(hot.z)[:, 0], np.eye(len(network.words))[0])
    np.testing.assert_allclose(np.asarray(w.z)[0] @ np.asarray(c.z)[1], network.scores[1], atol=1e-4)
    np.testing.assert_allclose(np.asarray(c.customdata)[..., 1].sum(1), network.scores, atol=1e-4)
    assert float(score.text[1][0].replace("−", "-")) == pytest.approx(network.scores[1], abs=0.005)
    assert score.text[1][0] in figure.layout.title.text and len(chance.text) == len(network.words)


def by_hand(texts: list[list[int]], word: int, size: int) -> np.ndarray:
    """X of one word: 1/distance for each other word at most five positions away, in the same text."""
    counts = np.zeros(size)
    for ids in texts:
        for at, number in enumerate(ids):
            for place in range(max(0, at - 5), min(len(ids), at + 6)):
                if number == word and place != at:
                    counts[ids[place]] += 1 / abs(place - at)
    return counts


@LONG
def test_a_cell_of_glove_is_the_paper_s_with_counts_by_hand() -> None:
    model = ex.load("glove", device="cpu")
    read = ex.text.counted_examples(ex.microworld.texts(300, 1), model.tokenizer)
    cells = ex.analysis.glove_row(model, "he", "his", read, scale=4.0)
    i, j = (model.tokenizer.core.token_to_id(word) for word in ("he", "his"))
    counts = 4 * by_hand([list(map(int, text.ids)) for text in read], i, model.tokenizer.vocabulary.size)
    counts[list(model.tokenizer.vocabulary.special)] = 0
    np.testing.assert_allclose(cells.often, counts[counts > 0])
    x = counts[j]
    weights = {name: value.double().numpy() for name, value in model.module.state_dict().items()}
    expected = weights["words.weight"][i] @ weights["near.weight"][j]
    expected += weights["word_bias.weight"][i, 0] + weights["near_bias.weight"][j, 0]
    f = (x / 100) ** 0.75 if x < 100 else 1.0  # equation 9 of Pennington et al. 2014
    assert cells.words[cells.place] == "his" and cells.often[cells.place] == pytest.approx(x)
    weight, loss = cells.weight[cells.place], cells.loss[cells.place]
    assert (weight, loss) == pytest.approx((f, f * (expected - np.log(x)) ** 2))
    title = VIEWS["glove-weight"](cells).layout.title.text
    assert f"X = {x:.1f}" in title and f"= {loss:.4f}" in title
    assert 0 < cells.weight.min() < 1 and cells.weight.max() == 1


@LONG
def test_a_row_scaled_to_the_stories_of_the_training_is_fitted_without_a_shift() -> None:
    """Of pairs that count fully, log X and what the vectors make of it lie around the diagonal."""
    cells = row("he", "his").run()
    full = cells.often >= cells.full
    assert full.sum() > 50 and abs(np.mean((cells.said - np.log(cells.often))[full])) < 0.25


def test_pairs_that_are_not_there_are_refused_in_words() -> None:
    glove, word2vec = ex.load("glove", device="cpu"), ex.load("word2vec", device="cpu")
    read = ex.text.counted_examples(["He ran."], glove.tokenizer)
    with pytest.raises(ChoiceError, match="never occurs near"):
        ex.analysis.glove_row(glove, "dog", "king", read)
    with pytest.raises(ChoiceError, match="no softmax"):
        ex.analysis.skipgram_network(glove, "he", "his")
    with pytest.raises(ChoiceError, match="not fitted to counts"):
        ex.analysis.glove_row(word2vec, "he", "his", read)


@pytest.mark.parametrize(("lesson", "part"), [("vectors", "network"), ("heads", "contribution")])
def test_a_page_asks_before_it_shows(lesson: str, part: str) -> None:
    at = opened(lesson, part=part)
    assert not at.exception and any((radio.key or "").startswith(f"guess.{part}") for radio in at.radio)


@LONG
def test_the_page_draws_the_weight_of_a_pair() -> None:
    at = opened("vectors", part="f-x")
    assert not at.exception and len(at.get("plotly_chart")) == 1
