"""What is hidden, where the loss falls, and that training learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import explorer as ex
from explorer import seedlings
from explorer.model import OwnModel
from explorer.objectives import Batch, causal
from explorer.records import Vocabulary
from explorer.text.batches import padded, pair_rows
from explorer.text.seedling import stories
from explorer.training import fit, schedule

VOCABULARY = Vocabulary(50, mask=4, pad=0, cls=2, sep=3, unknown=1)


def test_the_causal_loss_is_the_mean_surprise_of_the_next_piece(gpt2: OwnModel) -> None:
    texts = ["The dog was tired.", "It was a sunny day and Anna slept."]
    many = [gpt2.tokenizer.encode(text) for text in texts]
    ids, segments, real, _ = padded([(t.ids.tolist(), [0] * len(t), None) for t in many], 0)
    loss = causal(gpt2.module, Batch(ids, segments, real), gpt2.tokenizer.vocabulary, np.random.default_rng(0))["lm"]
    surprise = []
    for tokens in many:
        scores = gpt2.logits(tokens).astype(np.float64)
        logp = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        surprise += [-logp[i, tokens.ids[i + 1]] for i in range(len(tokens) - 1)]
    assert float(loss.detach()) == pytest.approx(np.mean(surprise), abs=1e-4)


def test_pairs_follow_or_come_from_another_story(bert: OwnModel) -> None:
    texts = list(stories(400, 5))
    rows = pair_rows(texts, bert.tokenizer, 128, np.random.default_rng(0))
    follows = [row[2] for row in rows]
    assert 0.4 < np.mean(follows) < 0.6  # type: ignore[arg-type]
    for story, (ids, segments, follow) in zip(texts, rows, strict=True):
        whole = bert.tokenizer.encode(" ".join(story), special=False).ids.tolist()
        inner = [i for i in ids if i not in (2, 3)]
        assert (inner == whole) == follow
        assert ids.index(3) + 1 == segments.index(1), "segment B begins after the first [SEP]"


def test_the_schedule_rises_and_falls() -> None:
    rates = [schedule(step, 100) for step in range(1, 101)]
    assert rates[4] == 1.0 and rates[:5] == sorted(rates[:5]) and rates[4:] == sorted(rates[4:], reverse=True)
    assert rates[-1] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("preset", ["bert", "gpt2"])
def test_training_learns_and_repeats_itself(preset: str, request: pytest.FixtureRequest) -> None:
    tokenizer, texts = request.getfixturevalue(preset).tokenizer, list(stories(600, 4))
    runs = []
    for _ in range(2):
        model = ex.build(preset, tokenizer=tokenizer, seed=1, device="cpu", dim=32, heads=2, hidden=64)
        runs.append([sum(step.losses.values()) for step in fit(model, texts, steps=40, size=16, seed=2)])
        assert not model.module.training
    assert runs[0] == runs[1], "the same seed gives the same losses"
    assert np.mean(runs[0][-5:]) < 0.9 * np.mean(runs[0][:3])


def test_the_reader_may_stop_at_any_step(gpt2: OwnModel) -> None:
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, dim=16, heads=2, hidden=32)
    run = fit(model, list(stories(50, 4)), steps=1000, size=8)
    assert next(run).step == 1 and model.module.training
    run.close()
    assert not model.module.training
    with pytest.raises(ex.ExplorerError, match="at least 1"):
        next(fit(model, list(stories(50, 4)), steps=0))


def test_the_cards_say_what_the_models_do(shipped: OwnModel) -> None:
    """The figures on a card are measured again, on the shipped weights."""
    text = (ex.models()[shipped.name].folder / "CARD.md").read_text("utf-8")
    for score in seedlings.measure(shipped):
        printed = next(line for line in text.splitlines() if line.startswith(f"| {score.what} |"))
        assert float(printed.split("|")[2]) == pytest.approx(score.value, abs=0.02)


def test_the_shipped_models_learned_something(bert: OwnModel, gpt2: OwnModel) -> None:
    masked = bert.tokenizer.encode("She had a red dog. The dog would not cross the road [MASK] it was too tired.")
    place = masked.texts.index("[MASK]")
    assert ex.trace(bert, masked).top.texts[place][0] == "because"
    last = ex.trace(
        gpt2, "Ida was a baker in a small town. Ida was hungry and wanted some bread. There was no bread in the"
    ).top.texts[-1]
    assert last[0] == "·kitchen"
    perplexity = math.exp(-float(torch.as_tensor(gpt2.logits([0, 5])).log_softmax(-1).max()))
    assert perplexity < gpt2.config.vocab
