"""What can be asked of an ELMo: what its letter filters find, what each direction expects, and one word in many texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ChoiceError, TextError
from explorer.model import check_settled
from explorer.model.others import ElmoModel
from explorer.records import BothSides, Contexts, Filters, softmax
from explorer.text.letters import letters
from explorer.text.reading import Text

NAMES = {257: "⟨S⟩", 258: "⟨/S⟩", 259: "⟨", 260: "⟩"}


def _elmo(model: object) -> ElmoModel:
    if not isinstance(model, ElmoModel):
        raise ChoiceError(f"This is asked of an ELMo, for example of ex.fit('elmo'); this is {type(model).__name__}.")
    check_settled(model.module, model.name)
    return model


@torch.no_grad()
def filters(model: object, word: str, *, many: int = 5) -> Filters:
    """The strongest answer of every letter filter to a word, where it is, and the known words that move this filter most."""
    elmo = _elmo(model)
    if not isinstance(word, str) or not word.strip() or len(word.split()) > 1:
        raise TextError(f"{word!r} is not one word. Give one, without spaces.")
    characters, size = elmo.module.characters, elmo.tokenizer.vocabulary.size
    grid = torch.as_tensor(letters([word]), device=elmo.device)
    answers = [answer[0] for answer in characters.answers(grid)]  # [filter, place]
    special = set(elmo.tokenizer.vocabulary.special)
    words = [elmo.tokenizer.text_of(number) for number in range(size) if number not in special]
    every = characters.answers(torch.as_tensor(letters(words), device=elmo.device))
    strongest = torch.cat([answer.amax(-1) for answer in every], dim=-1)  # [word, filter]
    best = strongest.argsort(dim=0, descending=True, stable=True)[:many].T.tolist()
    wide = [width for width, count in elmo.config.filters for _ in range(count)]
    return Filters(
        elmo.name,
        word,
        _spelled(letters([word])[0]),
        np.array(wide),
        torch.cat([answer.amax(-1) for answer in answers]).cpu().numpy(),
        torch.cat([answer.argmax(-1) for answer in answers]).cpu().numpy(),
        tuple(tuple(words[number] for number in row) for row in best),
    )


def _spelled(grid: np.ndarray) -> tuple[str, ...]:
    """What each number stands for, up to the sign that ends the word; a byte that is no letter by itself in hexadecimal."""
    end = int(np.flatnonzero(grid == 260)[0])
    return tuple(NAMES.get(int(n)) or (chr(int(n) - 1) if n <= 128 else f"{int(n) - 1:02x}") for n in grid[: end + 1])


def both_sides(model: object, text: Text, *, top: int = 5) -> BothSides:
    """At every word what the forward model expects there, who knows what stands before, and the backward model, who knows what follows."""
    elmo = _elmo(model)
    tokens = elmo.tokens(text)
    if len(tokens) < 2:
        raise TextError("There must be at least one word beside the begin of a text.")
    outputs = elmo.outputs(tokens)
    gap = np.full((1, elmo.config.vocab), np.nan)
    about = (np.vstack((gap, softmax(outputs["lm"][:-1]))), np.vstack((softmax(outputs["backward"][1:]), gap)))
    ids = np.array(tokens.ids)
    texts, shares, truth = [], [], []
    for chances in about:
        best = np.argsort(-np.nan_to_num(chances), axis=1, kind="stable")[:, :top]
        texts.append(tuple(tuple(elmo.tokenizer.text_of(i) for i in row) for row in best))
        shares.append(np.take_along_axis(chances, best, axis=1))
        truth.append(chances[np.arange(len(ids)), ids])
    return BothSides(elmo.name, tokens, tuple(texts), np.stack(shares), np.stack(truth))


def contexts(model: object, word: str, uses: Sequence[tuple[str, int, str]]) -> Contexts:
    """One word in many texts: each use is (text, letter at which the word begins, its sense or "")."""
    elmo = _elmo(model)
    if len(uses) < 2:
        raise TextError(f"{word!r} must be used at least twice, so that there is something to compare.")
    found = []
    for text, start, _ in uses:
        tokens = elmo.tokens(text)
        at = [n for n, (begin, end) in enumerate(tokens.offsets) if begin <= start < end and not tokens.special[n]]
        if not at:
            raise TextError(f"No word stands at letter {start} of {text!r}.")
        found.append(elmo.layers([tokens])[0][:, at[0]])
    texts, _, senses = zip(*uses, strict=True)
    return Contexts(elmo.name, word, texts, senses, np.stack(found, axis=1))
