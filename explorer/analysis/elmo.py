"""What can be asked of an ELMo: what its letter filters find, what each direction expects, and what it has read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError, TextError, check_seed
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.model import check_eval_mode
from explorer.models.top_tokens import top_tokens
from explorer.nn.elmo import Highway
from explorer.nn.threads import one_thread
from explorer.records import BothSides, Filters, Highways, Tokens, Visibility, softmax
from explorer.text.letters import letters
from explorer.text.reading import Text
from explorer.text.tokenizers import check_text

TOGETHER = 64  # gradients that are taken in one backward pass
NAMES = {257: "⟨S⟩", 258: "⟨/S⟩", 259: "⟨", 260: "⟩"}


def _elmo(model: object) -> ElmoModel:
    if not isinstance(model, ElmoModel):
        raise ChoiceError(f"This needs an ELMo, for example ex.fit('elmo'); this is {type(model).__name__}.")
    check_eval_mode(model.module, model.name)
    return model


@checked
@torch.no_grad()
def letter_filters(model: object, word: str, *, many: int = 5) -> Filters:
    """The largest activation of every character filter on a word, its position, and the known words with the largest activations.

    >>> ex.analysis.letter_filters(ex.load("elmo"), "dogs").word
    'dogs'
    """
    elmo = _elmo(model)
    grid = _one_word(elmo, word)
    characters, size = elmo.module.characters, elmo.tokenizer.vocabulary.size
    answers = [answer[0] for answer in characters.answers(grid)]  # [filter, place]
    special = set(elmo.tokenizer.vocabulary.special)
    words = [elmo.tokenizer.text_of(number) for number in range(size) if number not in special]
    every = characters.answers(torch.as_tensor(letters(words), device=elmo.device))
    strongest = torch.cat([answer.amax(-1) for answer in every], dim=-1)  # [word, filter]
    best = strongest.argsort(dim=0, descending=True, stable=True)[:many].T  # [filter, word]
    peaks = torch.cat([answer.argmax(-1) for answer in every], dim=-1).T.gather(1, best)
    wide = [width for width, count in elmo.config.filters for _ in range(count)]
    return Filters(
        elmo.name,
        word,
        _spelled(letters([word])[0]),
        np.array(wide),
        torch.cat([answer.amax(-1) for answer in answers]).cpu().numpy(),
        torch.cat([answer.argmax(-1) for answer in answers]).cpu().numpy(),
        tuple(tuple(words[number] for number in row) for row in best.tolist()),
        tuple(map(tuple, peaks.tolist())),
    )


@checked
@torch.no_grad()
def highway_gates(model: object, word: str) -> Highways:
    """What each highway layer does with the filters' answers on a word: T(x) ∘ H(x) + (1 − T(x)) ∘ x, unit by unit.

    >>> ex.analysis.highway_gates(ex.load("elmo"), "dogs").gates.shape[0]
    2
    """
    elmo = _elmo(model)
    grid = _one_word(elmo, word)
    characters = elmo.module.characters
    if not len(characters.highways):
        raise ChoiceError(f"{elmo.name} was built without highway layers (highways=0).")
    x = torch.relu(torch.cat([answer.amax(-1) for answer in characters.answers(grid)], dim=-1))
    entering, gates, transformed = [x], [], []
    for highway in characters.highways:
        assert isinstance(highway, Highway)
        gates.append(1 - torch.sigmoid(highway.gate(x)))  # the gate of the code is what is carried; T is what is transformed
        transformed.append(torch.relu(highway.make(x)))
        x = highway(x)
        entering.append(x)
    arrays = (torch.cat(parts).float().cpu().numpy() for parts in (entering, gates, transformed))
    return Highways(elmo.name, word, *arrays)


def _one_word(elmo: ElmoModel, word: str) -> Tensor:
    """The letters of one word [1, letter]."""
    if not check_text(word).strip() or len(word.split()) > 1:
        raise TextError(f"{word!r} is not one word. Give one, without spaces.")
    return torch.as_tensor(letters([word]), device=elmo.device)


def _spelled(grid: np.ndarray) -> tuple[str, ...]:
    """The letter of each number, up to the sign that ends the word; a byte that is only part of a letter in hexadecimal."""
    end = int(np.flatnonzero(grid == 260)[0])
    return tuple(NAMES.get(int(n)) or (chr(int(n) - 1) if n <= 128 else f"{int(n) - 1:02x}") for n in grid[: end + 1])


@checked
def both_sides(model: object, text: Text, *, top: int = 5) -> BothSides:
    """For every word the prediction of the forward model from the words before, and of the backward model from the words after.

    >>> len(ex.analysis.both_sides(ex.load("elmo"), "A dog ran.").texts)
    2
    """
    elmo = _elmo(model)
    tokens = elmo.tokens(text)
    if len(tokens) < 2:
        raise TextError("There must be at least one word beside the begin of a text.")
    outputs = elmo.outputs(tokens)
    gap = np.full((1, elmo.config.vocab), np.nan)
    about = (np.vstack((gap, softmax(outputs["lm"][:-1]))), np.vstack((softmax(outputs["backward"][1:]), gap)))
    ids = np.array(tokens.ids)
    best_texts, shares, truth = [], [], []
    for chances in about:
        best, texts = top_tokens(np.nan_to_num(chances), top, elmo.tokenizer.text_of)
        best_texts.append(texts)
        shares.append(np.take_along_axis(chances, best, axis=1))
        truth.append(chances[np.arange(len(ids)), ids])
    return BothSides(elmo.name, tokens, tuple(best_texts), np.stack(shares), np.stack(truth))


@checked
def elmo_visibility(model: ElmoModel, text: Text, *, seed: int = 0) -> tuple[Visibility, Visibility]:
    """How strongly the last forward and the last backward state of each word move with the vector of each word.

    >>> forward, backward = ex.analysis.elmo_visibility(ex.load("elmo"), "A dog ran.")
    >>> float(forward.moved[0, 1:].max())
    0.0
    """
    seed, tokens = check_seed(seed), model.tokens(text)
    x, *halves = half_states(model, tokens)
    names = (f"{model.name}, forward half", f"{model.name}, backward half")
    first, second = (
        Visibility(name, tokens, tokens, half_moved(model, states, x, seed)) for name, states in zip(names, halves, strict=True)
    )
    return first, second


def half_states(model: ElmoModel, tokens: Tokens) -> tuple[Tensor, Tensor, Tensor]:
    """The vectors of the words [1, position, dim], and the last states of both halves [position, dim], with what gradients need."""
    assert tokens.characters is not None, "its tokenizer was checked when the model was built"
    letters = torch.tensor(tokens.characters, dtype=torch.long, device=model.device)[None]
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):  # its LSTM has no gradients outside training
        x = model.module.words(letters).detach().requires_grad_(True)
        return x, model.module.onward(x)[-1][0], model.module.back(x.flip(1))[-1][0].flip(0)


def half_moved(model: ElmoModel, states: Tensor, x: Tensor, seed: int) -> np.ndarray:
    """The length of the gradient of one random mix of each state by each word [output, input]."""
    mix = torch.randn(states.shape[-1], generator=torch.Generator().manual_seed(seed)).to(x.device)
    with torch.enable_grad(), one_thread(model.module):
        mixed = states @ mix
        gradients = [
            torch.autograd.grad(mixed, x, chosen, retain_graph=True, is_grads_batched=True)[0][:, 0].norm(dim=-1)
            for chosen in torch.eye(len(mixed), device=x.device).split(TOGETHER)
        ]
    return np.asarray(torch.cat(gradients).float().cpu().numpy())
