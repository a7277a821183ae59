"""What a causal model foresees: held-out text beside a 4-gram on the same pieces, a repetition, and how it goes on."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.measuring import scores
from explorer.measuring.feeding import Sheet, judged, sheet_of
from explorer.measuring.generating import continued
from explorer.measuring.held import Desk, plain
from explorer.measuring.looking import Links, weights_on
from explorer.measuring.measured import Measured
from explorer.model import OwnModel
from explorer.text import ngram
from explorer.text.ngram import NGram
from explorer.text.tokenizers import Tokenizer

Ask = Callable[[OwnModel], Measured]
PERIOD, PROMPT, WRITTEN = 24, 8, 24


def rows(desk: Desk) -> tuple[list[np.ndarray], int]:
    """Each held-out text between two end pieces, cut to what the model reads, and how many characters they have in all."""
    ends, made, characters = edge(desk.tokenizer), [], 0
    for text in desk.held.texts:
        coded = desk.tokenizer.core.encode(plain(text), add_special_tokens=False)
        ids = coded.ids[: desk.length + 1 - 2 * len(ends)]
        if len(ids) + len(ends) > 1:
            made.append(np.array([*ends, *ids, *ends]))
            characters += coded.offsets[len(ids) - 1][1]
    return made, characters


def edge(tokenizer: Tokenizer) -> list[int]:
    """What stands before and after every text: its end piece, where the tokenizer has one."""
    return [] if tokenizer.vocabulary.end is None else [tokenizer.vocabulary.end]


def expected(desk: Desk) -> Ask | None:
    """Perplexity per piece and bits per character; and those of a 4-gram that counted the training texts, on the same pieces."""
    held, characters = rows(desk)
    if not held:
        return None
    sheet = sheet_of([row[:-1] for row in held])
    answers = sheet_of([row[1:] for row in held])
    beside: dict[str, float] = {}

    def ask(model: OwnModel) -> Measured:
        if len(desk.held.train) and not beside:
            counted = ngram.train(desk.held.train, desk.tokenizer, order=4, begin=(edge(desk.tokenizer) or [0])[0])
            beside.update(_prices(np.concatenate(counted.logp(held)), characters, "4-gram "))
        logp, _ = judged(model, sheet, answers.ids, answers.real)
        return Measured({"held-out loss": -float(logp.mean()), **_prices(logp, characters), **beside})

    return ask


def _prices(logp: np.ndarray, characters: int, who: str = "") -> dict[str, float]:
    bits = -float(logp.sum()) / math.log(2) / max(1, characters)
    return {f"{who}perplexity": math.exp(-float(logp.mean())), f"{who}bits per character": bits}


def counted(desk: Desk) -> Callable[[NGram], Measured] | None:
    """The same prices for an n-gram model, and how it goes on when it always takes the likeliest next piece."""
    held, characters = rows(desk)
    first = len(edge(desk.tokenizer))
    if not held:
        return None

    def ask(model: NGram) -> Measured:
        logp = np.concatenate(model.logp(held))
        lines = []
        for row in held[:3]:
            said = [int(piece) for piece in row[: PROMPT + first]]
            for _ in range(WRITTEN):
                said.append(int(model.next(said).argmax()))
                if said[-1] in edge(desk.tokenizer):
                    break
            begin = desk.tokenizer.decode(row[first : PROMPT + first].tolist())
            lines.append(f"{begin} →{desk.tokenizer.decode(said).removeprefix(begin)}")
        return Measured({"held-out loss": -float(logp.mean()), **_prices(logp, characters)}, tuple(lines))

    return ask


def repeated(desk: Desk) -> Ask | None:
    """Random pieces, said twice: the second time they could be foreseen by looking at the first."""
    known = np.setdiff1d(np.arange(desk.tokenizer.vocabulary.size), desk.tokenizer.vocabulary.special)
    period = min(PERIOD, (desk.length - 1) // 2, len(known))
    if period < 2:
        return None
    chance = desk.chance(6)
    drawn = np.stack([chance.choice(known, period, replace=False) for _ in range(min(64, max(16, desk.count)))])
    begin = np.full((len(drawn), 1), (edge(desk.tokenizer) or [0])[0])
    ids = np.hstack([begin, drawn, drawn])
    sheet = Sheet(ids[:, :-1], np.ones(ids[:, 1:].shape, bool), np.zeros_like(ids[:, 1:]))
    again = np.zeros(sheet.ids.shape, bool)
    again[:, period + 1 :] = True  # the place of the second copy's first piece is where the second can be foreseen
    row, query = np.nonzero(again)
    asked = {"induction": Links(row, query, query - period + 1), "same piece earlier": Links(row, query, query - period)}

    def ask(model: OwnModel) -> Measured:
        _, right = judged(model, sheet, ids[:, 1:], again)
        return Measured({"repeat accuracy": scores.share(right)}, probes=weights_on(model, sheet, asked))

    return ask


def samples(desk: Desk) -> Ask | None:
    """How a few held-out texts are continued from their first pieces."""
    first = len(edge(desk.tokenizer))
    held = [row for row in rows(desk)[0] if len(row) > PROMPT + first][:3]
    if not held:
        return None
    prompts = np.stack([row[: PROMPT + first] for row in held])

    def ask(model: OwnModel) -> Measured:
        said = continued(model, prompts, WRITTEN)
        lines = []
        for prompt, more in zip(prompts, said, strict=True):
            begin = desk.tokenizer.decode(prompt[first:].tolist())
            whole = desk.tokenizer.decode([*prompt[first:].tolist(), *more])
            lines.append(f"{begin} →{whole.removeprefix(begin)}")
        return Measured(samples=tuple(lines))

    return ask
