"""The openings of the parts show the effect that they are about; each effect is computed here from the models that are there."""

from __future__ import annotations

import json

import numpy as np
from conftest import LONG
from opening import opened, pictures

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.corruption import pairs
from explorer.app.lessons.corruption import parts as lab
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as decoding
from explorer.app.lessons.vectors import questions as vectors
from explorer.app.lessons.whatif import edits
from explorer.models.transformer import transformer
from explorer.views import VIEWS


def test_electra_opens_with_tokens_that_its_generator_has_replaced() -> None:
    seed = lab.opening_seed()
    drawn = lab.corrupted(lab.FILLS, corruption.STORY, "electra", seed).run()
    changed = [a for a, b in zip(drawn.source.texts, drawn.original.texts, strict=True) if a != b]
    assert len(changed) > 1 and opened("corruption", part="one-strategy").number_input(key="seed").value == seed


def test_borders_open_at_a_span_of_several_tokens_between_two_words() -> None:
    guess = pairs.spans_of(corruption.STORY, lab.opening_seed()).run()
    note = VIEWS["boundaries"](guess).layout.title.text
    left, right = max((ends for ends in guess.spans if ends[0] > 0), key=lambda ends: ends[1] - ends[0])
    assert right - left > 2 and f"span of {right - left - 1} tokens" in note.replace(
        "<br><span style='font-size:14px'>", " "
    ).replace("</span>", "")


@LONG
def test_what_if_opens_at_the_head_that_matters_most() -> None:
    model = transformer(ex.load("bert", device="cpu"))
    layer, head = edits.costliest_head("bert", SENTENCE)
    bits = {
        (m, n): float(ex.change(model, SENTENCE, ex.SilenceHead("encoder", m, n)).divergence.mean())
        for m in range(4)
        for n in range(4)
    }
    assert max(bits, key=bits.__getitem__) == (layer, head) and bits[layer, head] > 10 * np.median([*bits.values()])
    at = opened("whatif")
    assert (at.number_input(key="edit.layer").value, at.number_input(key="edit.head").value) == (layer, head)
    assert not at.exception and json.loads(pictures(at)[-1].proto.spec)["data"]


@LONG
def test_strategies_open_with_texts_that_differ() -> None:
    model = ex.load("gpt2", device="cpu")
    texts = [ex.decoding.written(model, decoding.PROMPT, *way[:2], max_tokens=14, **way[2]).text for way in desk.ways(0)]
    assert len(set(texts)) > 0.7 * len(texts)


def test_two_runs_whose_curves_lie_apart_are_compared_first_and_two_seeds_differ_in_that_alone() -> None:
    at = opened("training", part="compare")
    assert [at.selectbox(key=f"runs.{place}").value for place in ("first", "second")] == ["bert, seed 0", "bert-tiny"]
    assert "steps" in list(at.dataframe[1].value["setting"])
    at = at.selectbox(key="runs.second").set_value("bert, seed 1").run()
    changes, listed = (table.value for table in at.dataframe)
    assert not at.exception and list(changes["differs from the run above"]) == ["–", "seed: 0 → 1"]
    assert list(listed["setting"]) == ["seed"]


def test_sums_open_with_an_analogy_of_the_usual_kind_and_neighbours_with_a_pair_of_opposites_that_are_near() -> None:
    model = ex.load("word2vec", device="cpu")
    a, b, c, d = vectors.ASKED
    free, usual = (ex.analysis.analogy(model, a, b, c, top=1, forbid=forbid).words[0] for forbid in (False, True))
    assert free in (a, b, c) and usual == d, "with the given words allowed one of them is nearest, as in most questions"
    assert ex.analysis.solve_analogies(model).total("echoed") > 0.5
    first, opposite = vectors.OPPOSITES
    for name in ("word2vec", "glove"):
        assert opposite in ex.analysis.neighbours(ex.load(name, device="cpu"), first, top=10).words
