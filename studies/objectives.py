"""What each training objective is good for: four small models trained on the same stories, tested on filling in, continuing,
restoring and classifying.

`python -m studies.objectives` measures again (about seven minutes on two cores) and writes `data/results/objectives`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.analysis.evaluation.batches import as_tensors, batches, inputs_of, states
from explorer.analysis.evaluation.generating import rewritten
from explorer.corruption.strategies import corrupt
from explorer.errors import ExplorerError
from explorer.microworld.giveaway import classify
from explorer.models.transformer import TransformerModel
from explorer.records import Abilities
from explorer.training.finetune.metrics import SHARE
from explorer.training.finetune.microworld import TASKS
from explorer.training.finetune.task import majority
from explorer.training.run import Run
from studies import runs
from studies.study import Size, Study, bracketed, intervals, main

WORLD, KIND = "microworld", "bart"  # one tokenizer for all, so that the same questions can be put to all
SHAPE = {"dim": 64, "heads": 4, "hidden": 256, "layers": 2}
NO_SIGHT = "it says only whether a token was replaced, and has no list of tokens to answer from"


@dataclass(frozen=True)
class Way:
    """An objective, and the system that is known for it."""

    system: str
    objective: str
    options: tuple[tuple[str, Any], ...] = ()


WAYS = (
    Way("bert", "mlm", (("mask_rate", 0.15),)),
    Way("gpt2", "causal"),
    Way("bart", "denoising"),
    Way("electra", "replaced", (("random_until", 0.0),)),
)
SIZE = Size(steps=700, batch=16, seeds=(0, 1, 2), tested=200, examples=300)
Answers = tuple[list[float], list[str], tuple[float, float, float]]  # rates, reasons, (tokens, share predicted, weights)


def train(number: int, seed: int, size: Size) -> Answers:
    """One objective, one seed: trained, then asked everything."""
    way = WAYS[number]
    run = trained(way, seed, size)
    run.model.module.eval()
    rates, reasons = [], []
    for ask in ASKED.values():
        try:
            rates.append(float(np.mean(ask(run.model, size))))
            reasons.append("")
        except ExplorerError as error:
            rates.append(float("nan"))
            reasons.append(str(error))
    return rates, reasons, cost(run, way, size)


def measure(answers: list[Answers], size: Size) -> Abilities:
    """Every objective and seed, trained and asked."""
    rates = np.array([rates for rates, _, _ in answers]).reshape(len(WAYS), len(size.seeds), len(ASKED)).swapaxes(1, 2)
    first = answers[:: len(size.seeds)]
    mean, low, high = np.moveaxis(intervals(rates, SHARE), -1, 0)
    tokens, signal, weights = np.array([cost for _, _, cost in first]).T
    majority_right = float(np.mean(np.array(sentences(size, "validation")[1]) == majority(sentences(size, "train")[1])))
    note = f"size {SHAPE['dim']} × {SHAPE['layers']}, {len(size.seeds)} seeds, {size.steps:,} steps of {size.batch} stories"
    return Abilities(
        systems=tuple(way.system for way in WAYS), objectives=tuple(way.objective for way in WAYS), abilities=tuple(ASKED), rates=rates,
        mean=mean, low=low, high=high, reasons=tuple(tuple(why) for _, why, _ in first), pieces=tokens, signal=signal, weights=weights,
        beside=np.array([np.nan, np.nan, np.nan, majority_right]), note=note,
        questions=(size.tested, size.tested, len(damaged(size)), len(sentences(size, "validation")[0])),
    )  # fmt: skip


def trained(way: Way, seed: int, size: Size) -> Run:
    """A model of this objective after its training."""
    given = {"tokenizer": runs.tokenizer_of(KIND, WORLD), "batch": size.batch, "objective": way.objective, **SHAPE}
    run = runs.run(way.system, size.steps, seed, WORLD, **given, **dict(way.options))
    for _ in run:
        pass
    return run


def cost(run: Run, way: Way, size: Size) -> tuple[float, float, float]:
    """How many tokens it read, which share of them was predicted, and its number of weights; counted on some of its batches."""
    batches = [run.batch(step) for step in range(1, min(size.steps, 8) + 1)]
    scored = sum(int(batch.loss_mask.sum()) for batch in batches)
    read = max(scored, sum(batch.tokens for batch in batches))  # a damaged text is shorter than the text
    predicted = read if way.objective == "replaced" else scored
    weights = sum(value.numel() for value in run.model.module.parameters())
    return size.steps * read / len(batches), predicted / read, float(weights)


def questions(model: TransformerModel, size: Size) -> list[tuple[list[int], int]]:
    """New stories in tokens, and the position of one token of each that is a word: the same for every model."""
    rng, positions = np.random.default_rng(11), []
    for story in runs.stories_of(WORLD, 2 * size.tested, "validation"):
        tokens = model.tokenizer.encode(" ".join(story), special=False)
        words, places = list(tokens.words), range(len(tokens) // 2, len(tokens) - 1)
        whole = [n for n in places if words.count(words[n]) == 1 and tokens.texts[n].strip("·").isalpha()]
        if whole and len(tokens) + 4 <= model.longest:
            positions.append((tokens.ids.tolist(), int(rng.choice(whole))))
    return positions[: size.tested]


def fill_in(model: TransformerModel, size: Size) -> np.ndarray:
    """A word of a new story is masked: is the most probable token the right one?"""
    return _guessed(model, size, lambda ids, at: ids[at + 1 :])


def go_on(model: TransformerModel, size: Size) -> np.ndarray:
    """A new story is cut before a word: is the most probable next token the right one? A masked model gets a [MASK] at the end."""
    return _guessed(model, size, lambda ids, at: [])


def _guessed(model: TransformerModel, size: Size, after: Callable[[list[int], int], list[int]]) -> np.ndarray:
    if model.config.replaced:
        raise ExplorerError(NO_SIGHT)
    right = []
    for ids, at in questions(model, size):
        before, rest, vocabulary = ids[:at], after(ids, at), model.tokenizer.vocabulary
        if model.family == "decoder":
            if rest:
                raise ExplorerError("it reads from left to right only, so half of what is given would go unread")
            row = model.logits([_there(vocabulary.end), *before])[-1]
        elif model.family == "encoder":
            first = [] if vocabulary.cls is None else [vocabulary.cls]
            row = model.logits([*first, *before, _there(vocabulary.mask), *rest, _there(vocabulary.last)])[len(first) + at]
        else:
            source = [_there(vocabulary.begin), *before, _there(vocabulary.mask), *rest, _there(vocabulary.end)]
            row = model.logits(source, target=[_there(vocabulary.begin), *ids[: at + 1]])[at + 1]
        right.append(int(row.argmax()) == ids[at])
    return np.array(right)


def _there(token: int | None) -> int:
    """A special token of the tokenizer that all share, which has it."""
    assert token is not None
    return token


def restore(model: TransformerModel, size: Size) -> np.ndarray:
    """Sentences of which a stretch of unknown length is under one mask: is what is written exactly the sentence?"""
    if model.config.replaced:
        raise ExplorerError(NO_SIGHT)
    if model.family == "encoder":
        raise ExplorerError("each [MASK] is one token, and nobody says how many are missing")
    if model.family == "decoder":
        raise ExplorerError("it was never shown a damaged text, and goes on instead of going back")
    sources, gold = zip(*damaged(size), strict=True)
    written = rewritten(model, [list(source) for source in sources], 40)
    return np.array([model.tokenizer.decode(mine) == text for mine, text in zip(written, gold, strict=True)])


def damaged(size: Size) -> list[tuple[tuple[int, ...], str]]:
    """New sentences as BART corrupts them, and the originals; the same for every model."""
    tokenizer, texts = runs.tokenizer_of(KIND, WORLD), []
    sentences_read = [sentence for story in runs.stories_of(WORLD, 2 * size.tested, "validation") for sentence in story]
    for seed, sentence in enumerate(sentences_read[:: max(1, len(sentences_read) // size.tested)]):
        hidden = corrupt(sentence, "bart-infill", tokenizer=tokenizer, seed=seed).source.ids
        if tokenizer.vocabulary.mask in hidden:
            texts.append((tuple(hidden.tolist()), tokenizer.decode(tokenizer.encode(sentence).ids.tolist())))
    return texts[: size.tested]


def tell(model: TransformerModel, size: Size) -> np.ndarray:
    """Is a new sentence glad, sad or neither? A linear classifier learns it from the mean of the frozen last states."""
    (sentences_read, gold), (new, right) = (sentences(size, split) for split in ("train", "validation"))
    names, numbers = np.unique(np.array(gold), return_inverse=True)
    predicted = classify(summed(model, sentences_read), numbers, summed(model, new))
    return np.asarray(names[predicted] == np.array(right))


def sentences(size: Size, split: str) -> tuple[list[str], list[str]]:
    """Sentences with their gold feeling."""
    labelled = TASKS["sentiment"].make(size.examples, split)
    texts = [
        labelled.texts[place.text][place.start : place.end] for (place,) in (example.places for example in labelled.examples)
    ]
    return texts[: size.examples], list(labelled.labels[: size.examples])


@torch.no_grad()
def summed(model: TransformerModel, texts: Sequence[str]) -> np.ndarray:
    """The mean of the last states over a text's tokens, of the stack that reads [text, dim]."""
    means = []
    inputs = inputs_of([model.tokens(text).ids for text in texts])
    for rows in batches(len(texts)):
        part = inputs.cut(rows)
        ids, attention_mask = as_tensors(model, part.ids, part.attention_mask)
        hidden = model.module.encode(ids, attention_mask) if model.family == "encoder-decoder" else states(model, part)
        means.append((hidden * attention_mask[..., None]).sum(1) / attention_mask.sum(1, keepdim=True))
    return torch.cat(means).double().cpu().numpy()


ASKED: dict[str, Callable[[TransformerModel, Size], np.ndarray]] = {
    "fill in a word": fill_in,
    "go on": go_on,
    "restore a sentence": restore,
    "distinguish feelings": tell,
}


def facts(abilities: Abilities, size: Size) -> dict[str, str]:
    """What each can, or why it cannot be asked."""
    results = [
        f"- {system} ({objective}), {ability}: "
        + (abilities.reasons[i][j] or bracketed(abilities.mean[i, j], abilities.low[i, j], abilities.high[i, j]))
        for i, (system, objective) in enumerate(zip(abilities.systems, abilities.objectives, strict=True))
        for j, ability in enumerate(abilities.abilities)
    ]
    return {"results": "\n".join(results)}


STUDIES = {"objectives": Study("objectives", SIZE, (range(len(WAYS)), "seeds"), train, measure, facts)}

if __name__ == "__main__":
    main(STUDIES)
