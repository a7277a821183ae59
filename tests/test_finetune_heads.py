"""Output layers for words and spans: a conditional random field and a table of spans, each against all possibilities one by one."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, long

import explorer as ex
from explorer.errors import ChoiceError
from explorer.models import store
from explorer.models.finetuned import FinetunedModel
from explorer.nn.output_layers import NONE, WIDEST, SpanLayer, TagChain, legal
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.targets import IGNORED

SMALL: dict[str, Any] = {"examples": 24, "steps": 3, "checks": 0, "snapshots": 0, "asked": 12, "device": "cpu"}


def tuned(model: Any = "bert", task: str = "new words: entities", **options: Any) -> FinetuneRun:
    return ex.finetune(model, task=task, **{**SMALL, **options})


def chain_of(tags: int, seed: int) -> TagChain:
    built = TagChain(tags)
    with torch.no_grad():
        for weight in built.parameters():
            weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(seed)))
    return built


def written_out(chain: TagChain, x: torch.Tensor, tags: tuple[int, ...]) -> float:
    """The score of a row of tags, term by term."""
    chain = chain.requires_grad_(False)
    total = float(chain.begin[tags[0]] + chain.end[tags[-1]]) + sum(float(x[n, tag]) for n, tag in enumerate(tags))
    return total + sum(float(chain.follow[a, b]) for a, b in zip(tags, tags[1:], strict=False))


@pytest.mark.parametrize(("words", "tags", "seed"), [(1, 3, 0), (2, 4, 1), (4, 3, 2), (5, 3, 3), (4, 5, 4)])
def test_the_random_field_is_what_counting_every_row_of_tags_gives(words: int, tags: int, seed: int) -> None:
    chain, x = chain_of(tags, seed), torch.randn((words, tags), generator=torch.Generator().manual_seed(seed + 9))
    every = {row: written_out(chain, x, row) for row in product(range(tags), repeat=words)}
    log_sum = np.logaddexp.reduce(np.array(list(every.values())))
    with torch.no_grad():
        assert float(chain.log_sum(x)) == pytest.approx(log_sum, abs=1e-4)
        for row in list(every)[:: max(1, len(every) // 7)]:
            assert float(chain.loss(x, torch.tensor(row))) == pytest.approx(log_sum - every[row], abs=1e-4)
        assert tuple(chain.best(x)) == max(every, key=lambda row: every[row])


def test_without_transitions_the_field_is_a_softmax_for_each_word() -> None:
    x, tags = torch.randn((6, 4), generator=torch.Generator().manual_seed(1)), torch.tensor([0, 1, 3, 2, 0, 1])
    wanted = torch.nn.functional.cross_entropy(x, tags, reduction="sum")
    assert float(TagChain(4).loss(x, tags).detach()) == pytest.approx(float(wanted), abs=1e-5)
    assert TagChain(4).best(x) == x.argmax(1).tolist()


@pytest.mark.parametrize("attentive", [False, True])
def test_the_table_of_spans_is_every_span_by_itself(attentive: bool) -> None:
    torch.manual_seed(3)
    layer, z = SpanLayer(6, 4, widest=5, attentive=attentive), torch.randn(2, 7, 6)
    with torch.no_grad():
        built = layer(z)
        torch.testing.assert_close(built.total, built.start + built.end + built.summary + layer.classify.bias)
        for batch, i, j in product(range(2), range(7), range(7)):
            if not 0 <= j - i < 5:
                continue
            inside = z[batch, i : j + 1]
            g = inside.mean(0) if layer.weigh is None else (layer.weigh(inside).softmax(0) * inside).sum(0)
            span = torch.cat((layer.first(z[batch, i]).relu(), layer.last(z[batch, j]).relu(), g))
            torch.testing.assert_close(built.total[batch, i, j - i], layer.classify(span), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("length", "widest"), [(1, 3), (5, 5), (9, 4), (12, 8)])
def test_so_many_spans_are_legal(length: int, widest: int) -> None:
    """T(T + 1)/2 where the limit is the length, and L·T − L(L − 1)/2 with a limit L."""
    spans = legal(torch.ones((1, length), dtype=torch.bool), widest)
    limit = min(length, widest)
    assert int(spans.sum()) == limit * length - limit * (limit - 1) // 2
    gap = legal(torch.tensor([[False, True, True, False, True]]), 3)[0]
    assert gap.nonzero().tolist() == [[1, 0], [1, 1], [2, 0], [4, 0]]


@LONG
@pytest.mark.parametrize("head", ["crf", *long("spans", "attentive spans")])
def test_each_head_learns_answers_and_is_kept(head: str, tmp_path: Path) -> None:
    run = tuned(head=head, examples=8, batch=8, steps=25, rate=1e-2, schedule="constant")
    losses = [step.losses["task"] for step in run]
    assert losses[-1] < losses[0] / 2
    texts = [example.given.asked for example in run.examples]
    answers = run.model.answers(texts)
    assert [len(example) for example in answers] == [len(text.words) for text in texts]
    store.write(run.model, tmp_path / "kept")
    again = ex.load(tmp_path / "kept", device="cpu")
    assert isinstance(again, FinetunedModel) and again.answers(texts) == answers
    assert [word for word, _ in again.classify("Anna likes Bern.")[0]] == ["Anna", "likes", "Bern", "."]
    with pytest.raises(ChoiceError, match="no .* class"):
        ex.export(run.model, tmp_path / "theirs")


def test_spans_are_labelled_where_names_are_and_nowhere_else() -> None:
    run = tuned(head="spans", examples=40)
    for example in run.examples:
        target, row = example.target, example.rows[0]
        assert target.shape == (len(row), WIDEST)
        spans = {(i, i + w, run.model.output.span_classes[target[i, w]]) for i, w in np.argwhere(target > 0).tolist()}
        words = example.given.asked.words
        named = [n for n, tag in enumerate(example.given.tags) if tag.startswith("B-")]
        assert len(spans) == len(named)
        for i, j, kind in spans:
            text = example.given.asked.text[row.offsets[i][0] : row.offsets[j][1]]
            first = next(n for n in named if words[n][0] == row.offsets[i][0])
            assert (
                text.split()[0] == example.given.asked.text[slice(*words[first])] and example.given.tags[first] == f"B-{kind}"
            )
        assert (target[row.part < 0] == IGNORED).all() and run.model.output.span_classes[0] == NONE


@LONG
def test_what_is_said_of_a_head_or_a_pool_that_does_not_fit() -> None:
    for options, message in (
        ({"head": "crf", "task": "sentiment"}, "answers tasks about words"),
        ({"head": "spans", "task": "part of speech"}, "no tag of 'part of speech' begins with B-"),
        ({"head": "cfr"}, "Did you mean 'crf'"),
        ({"pool": "men", "task": "sentiment"}, "Did you mean 'mean'"),
        ({"pool": "mean"}, "one answer about a whole text"),
        ({"pool": "first", "model": "gpt2", "task": "sentiment"}, "has read nothing"),
    ):
        with pytest.raises(ChoiceError, match=message):
            tuned(**options)


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_a_mean_pool_is_the_mean_of_the_states_of_the_text(model: str, tmp_path: Path) -> None:
    run = tuned(model, "sentiment", pool="mean")
    list(run)
    learned = run.model
    layer = learned.layer
    row = learned.rows([run.examples[0].given.asked])[0][0]
    with torch.no_grad():
        states = learned.states(learned.batch([row]))[0].mean(0)
        wanted = layer.classify(torch.tanh(layer.dense(states)) if layer.dense is not None else states)
    np.testing.assert_allclose(learned.outputs(run.examples[0].given.asked.text)["labels"], wanted, atol=1e-5)
    with pytest.raises(ChoiceError, match="no .* class"):
        ex.export(learned, tmp_path / "theirs")
