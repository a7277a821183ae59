"""T5's span corruption, as published: a fixed number of spans, each replaced by its own sentinel."""

from __future__ import annotations

from math import comb

import numpy as np

from explorer.corruption.rows import Corrupted, Rows, packed_left, rebuilt
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError
from explorer.records import Vocabulary


def t5(
    rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15, mean: float = 3.0, roll: bool = False
) -> Corrupted:
    """Each row's noise is round(rate · n) tokens in round(noise / mean) spans, cut at random; text and noise take turns.

    The row begins with text and ends with noise, so on short texts the first token is never hidden and the last always
    is; `roll` turns the mask round by a random number of positions, which mends that.
    """
    if not 0 < rate < 1 or mean < 1:
        raise ChoiceError(f"rate={rate!r} must lie between 0 and 1 and mean={mean!r} must be at least 1.")
    noise = noise_of(rows.free, rate, mean, rng)
    if roll:
        noise = _rolled(noise, rows.free, rng)
    first = noise & ~np.pad(noise, ((0, 0), (1, 0)))[:, :-1]
    number = np.cumsum(first, axis=1) - 1
    if int(number.max(initial=0)) >= len(vocabulary.sentinels):
        raise ChoiceError(
            f"A text needs {int(number.max()) + 1} sentinels but this tokenizer has {len(vocabulary.sentinels)}. "
            "Make one with sentinels, such as unigram, or shorten the text."
        )
    names = np.array(vocabulary.sentinels)[number]
    length = _span_lengths(noise, first)
    source = rebuilt(rows, ~noise, np.where(first, names, -1), np.where(first, length, 0), vocabulary.pad or 0)
    return Corrupted(source, *_target(rows, noise, first, names, vocabulary))


def noise_of(free: np.ndarray, rate: float, mean: float, rng: np.random.Generator) -> np.ndarray:
    """Which free positions are noise: the published algorithm, for every row at once."""
    count = free.sum(axis=1)
    hidden = np.clip(np.rint(count * rate), 1, np.maximum(count - 1, 1)).astype(np.int64)
    hidden = np.where(count > 1, hidden, 0)
    spans = np.maximum(1, np.rint(hidden / mean)).astype(np.int64)
    spans = np.minimum(spans, np.minimum(hidden, count - hidden))
    lengths = np.stack([partition(count - hidden, spans, rng), partition(hidden, spans, rng)], axis=2)
    ends = np.cumsum(lengths.reshape(len(free), -1), axis=1)  # text, noise, text, noise, …
    place = np.cumsum(free, axis=1) - 1
    part = (place[:, :, None] >= ends[:, None, :]).sum(axis=2)
    noise: np.ndarray = free & (part % 2 == 1) & (part < ends.shape[1])
    return noise


def partition(total: np.ndarray, parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each row's total cut at random into that many parts of at least one: [row, part], every way as likely."""
    widest, most = int(total.max(initial=1)), int(parts.max(initial=1))
    gaps = np.arange(widest - 1) < (total - 1)[:, None]
    uniforms = np.where(gaps, rng.random(gaps.shape), np.inf)
    cut = np.argsort(np.argsort(uniforms, axis=1), axis=1) < (parts - 1)[:, None]
    part = np.pad(np.cumsum(cut & gaps, axis=1), ((0, 0), (1, 0)))
    inside = np.arange(widest) < total[:, None]
    key = (np.arange(len(total))[:, None] * most + np.minimum(part, most - 1))[inside]
    return np.bincount(key, minlength=len(total) * most).reshape(len(total), most)


def t5_law(tokens: int, rate: float = 0.15, mean: float = 3.0) -> np.ndarray:
    """One part of an even random cut of N hidden tokens into k spans: P(l) = C(N−l−1, k−2) / C(N−1, k−1)."""
    hidden = int(min(max(np.rint(tokens * rate), 1), max(tokens - 1, 1)))
    spans = min(max(int(np.rint(hidden / mean)), 1), hidden, max(tokens - hidden, 1))
    if spans == 1:
        law: np.ndarray = np.eye(hidden + 1)[hidden]
        return law
    ways = [0, *(comb(hidden - n - 1, spans - 2) for n in range(1, hidden - spans + 2))]
    return np.array(ways) / comb(hidden - 1, spans - 1)


def _rolled(noise: np.ndarray, free: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The mask of each row turned round by a random number of its free positions."""
    count = free.sum(axis=1)
    place = np.cumsum(free, axis=1) - 1
    shift = np.floor(rng.random(len(free)) * np.maximum(count, 1)).astype(np.int64)
    packed_noise = packed_left({"noise": noise.astype(np.int64)}, free, 0)["noise"]
    turned = np.take_along_axis(
        packed_noise, (place + shift[:, None]) % np.maximum(count, 1)[:, None] % packed_noise.shape[1], axis=1
    )
    rolled: np.ndarray = turned.astype(bool) & free
    return rolled


def _span_lengths(noise: np.ndarray, first: np.ndarray) -> np.ndarray:
    """At the first position of each span: how many positions it has."""
    number = np.cumsum(first, axis=1)
    most = int(number.max(initial=0)) + 1
    key = (np.arange(len(noise))[:, None] * most + number)[noise]
    sizes = np.bincount(key, minlength=len(noise) * most).reshape(len(noise), most)
    return np.take_along_axis(sizes, number, axis=1)


def _target(
    rows: Rows, noise: np.ndarray, first: np.ndarray, names: np.ndarray, vocabulary: Vocabulary
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scored positions, target ids and where each came from: each sentinel, then what it hides, then the end."""
    end = vocabulary.end if vocabulary.end is not None else vocabulary.sep
    last = np.zeros((len(noise), 1), np.int64)
    ids = np.stack([names, rows.ids], axis=2).reshape(len(noise), -1)
    start = np.stack([np.full_like(rows.start, -1), rows.start], axis=2).reshape(len(noise), -1)
    keep = np.stack([first, noise], axis=2).reshape(len(noise), -1)
    ids, start = np.hstack([ids, last + (0 if end is None else end)]), np.hstack([start, last - 1])
    target = packed_left({"ids": ids, "start": start}, np.hstack([keep, last == (end is None)]), vocabulary.pad or 0)
    return target["attention_mask"], target["ids"], np.where(target["attention_mask"], target["start"], -1)


SPANS: dict[str, CorruptionStrategy] = {
    "t5": CorruptionStrategy(
        t5,
        about="**T5.** A fixed number of spans. Each becomes its own sentinel; the model writes every sentinel and the "
        "tokens that it replaced. The published mask begins with text and ends with noise: made for packed rows of 512 tokens, it "
        "always hides the end of a short text and never its beginning. *Roll* rotates it by a random number of "
        "tokens.",
        needs=("sentinels",),
        law=t5_law,
        toggles={"roll": "Roll the mask"},
    )
}
