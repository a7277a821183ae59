"""CKA against the paper's definition by Gram matrices, principal components against scikit-learn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import SENTENCE

import explorer as ex
from explorer.analysis.layer_likeness import cka_of_layers
from explorer.errors import ExplorerError
from explorer.records import LayerLikeness, WordStates
from explorer.views import VIEWS, export


def by_kernels(x: np.ndarray, y: np.ndarray) -> float:
    """Kornblith et al. 2019, equations 2 to 4: HSIC of two centred linear kernels, divided by those of each with itself."""
    n = len(x)
    centre = np.eye(n) - np.ones((n, n)) / n

    def hsic(k: np.ndarray, m: np.ndarray) -> float:
        return float(np.trace(k @ centre @ m @ centre)) / (n - 1) ** 2

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / np.sqrt(hsic(k, k) * hsic(m, m))


def linear_cka(x: np.ndarray, y: np.ndarray) -> float:
    return float(cka_of_layers(x[None], y[None], np.arange(len(y)))[0][0, 0])


def test_cka_is_that_of_the_paper_and_sees_neither_rotation_nor_scale() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 7)), rng.normal(size=(40, 12)) + 3
    y[:, :7] += x
    assert linear_cka(x, y) == pytest.approx(by_kernels(x, y), rel=1e-9) and 0.2 < linear_cka(x, y) < 0.95
    turn, _ = np.linalg.qr(rng.normal(size=(7, 7)))
    assert linear_cka(x, 5 * x @ turn + 2) == pytest.approx(1)
    assert linear_cka(x, x * np.arange(1, 8)) < 0.99, "it does see other scales of single features"
    assert np.isnan(linear_cka(x, np.ones((40, 3))))


def test_layers_of_two_models_are_compared_on_the_same_words(tmp_path: Path) -> None:
    stories = list(ex.microworld.openings(6, 7, "test", sentences=3))
    bert, gpt2 = (ex.load(name, device="cpu") for name in ("bert", "gpt2"))
    record = ex.analysis.cka(bert, gpt2, stories)
    ours, theirs = (ex.analysis.word_states(model, stories) for model in (bert, gpt2))
    assert ours.words == theirs.words == tuple(word.text for story in stories for word in story.words)
    assert record.words == len(ours) and ours.kinds and {"NOUN", "VERB"} <= set(ours.kinds)
    wanted = [[by_kernels(x.astype(float), y.astype(float)) for y in theirs.vectors] for x in ours.vectors]
    np.testing.assert_allclose(record.likeness, wanted, rtol=1e-4)
    assert np.nanmax(record.chance) < record.likeness.min(), "words exchanged at random are less alike than any two layers"
    np.testing.assert_allclose(VIEWS["cka"](record).data[0].z, record.likeness, rtol=1e-6)
    assert LayerLikeness.read(record.write(tmp_path / "a.npz")) == record
    assert WordStates.read(ours.write(tmp_path / "b.npz")) == ours


def test_the_state_of_a_word_is_the_mean_of_its_tokens_in_each_layer() -> None:
    bert = ex.load("bert", device="cpu")
    states, trace = ex.analysis.word_states(bert, [SENTENCE]), ex.trace(bert, SENTENCE)
    begin = SENTENCE.index("animal")
    inside = [n for n, (start, end) in enumerate(trace.source.offsets) if begin <= start < end <= begin + 6]
    wanted = trace.hidden["encoder"][:, inside].mean(1)
    np.testing.assert_allclose(states.vectors[:, states.words.index("animal")], wanted, atol=1e-5)
    assert set(ex.analysis.word_states(bert, list(ex.microworld.openings(2, 7, sentences=1))).numbers) == {0, 1}


@pytest.mark.parametrize("name", ["elmo", "bart", "word2vec"])
def test_any_model_that_gives_words_states_can_be_asked(name: str) -> None:
    states = ex.analysis.word_states(ex.load(name, device="cpu"), ["The dog ran.", "word " * 3000])
    assert states.words == ("The", "dog", "ran", ".")[: len(states)] and np.isfinite(states.vectors).all()
    assert states.texts == ("The dog ran.",), "what is too long is left out"


def test_principal_components_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA

    states = ex.analysis.word_states(ex.load("gpt2", device="cpu"), list(ex.microworld.openings(4, 7, sentences=2)))
    for layer in range(len(states.vectors)):
        points, shares = states.components(layer)
        vectors, theirs = states.vectors[layer].astype(np.float64), PCA(3, svd_solver="full")
        np.testing.assert_allclose(np.abs(points), np.abs(theirs.fit_transform(vectors)), atol=1e-5)
        np.testing.assert_allclose(shares, theirs.explained_variance_ratio_, rtol=1e-6)
    flat, shown = VIEWS["word-space"](states, layer=1), VIEWS["word-space"](states, layer=1, shows="3-D")
    assert {dots.type for dots in flat.data} == {"scatter"} and {dots.type for dots in shown.data} == {"scatter3d"}
    assert sum(len(dots.x) for dots in shown.data) == len(states)
    assert len(list(export.cells(shown))) == 3 * len(states)
    assert json.loads(export.themed(shown, "dark").to_json())["layout"]["template"]["layout"]["scene"]


def test_what_cannot_be_compared_is_refused_in_words() -> None:
    bert = ex.load("bert", device="cpu")
    for text, says in (("", "None of the texts"), ("word " * 3000, "None of the texts"), ("Dog", "three"), (3, "texts")):
        with pytest.raises(ExplorerError, match=says):
            ex.analysis.cka(bert, bert, [text])  # type: ignore[list-item]
