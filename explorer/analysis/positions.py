"""Position schemes as records: what each does alone, and what a model notices when the order of the tokens changes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError, an, check_seed, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.nn.positions import POSITIONS, Position, PositionContext, Project, Sinusoidal
from explorer.nn.transformer import Transformer
from explorer.records import NoPositions, Places, Shuffle, Trace
from explorer.text.reading import Text

MEANINGS = {
    "add": "the dot product of the vectors of the two positions",
    "rotate": "q·k of one random query and key, rotated by their positions",
    "bias": "the number that is added to the score",
    "score": "what is added to the score if all tokens were the same random one",
    "none": "nothing: positions have no effect",
}


MOST = 1 << 27  # numbers in the tables of all heads together


@checked
def places(
    scheme: str | Model, *, count: int = 64, dim: int = 64, heads: int = 4, causal: bool = False, seed: int = 0
) -> Places:
    """What a position scheme does at the first `count` positions.

    `scheme` is the name of one, made new (with random numbers where there is something to train), or a model, whose own trained
    scheme is shown.

    >>> ex.places("rope", count=4, dim=8, heads=2).scheme
    'rope'
    """
    seed = check_seed(seed)
    _check_sizes(count, dim, heads)
    if not isinstance(scheme, str):
        return _of_model(scheme, count, seed)
    if scheme not in POSITIONS:
        raise unknown("position scheme", scheme, POSITIONS)
    if dim % (2 * heads):
        raise ChoiceError(f"dim={dim} must be a multiple of twice the heads={heads}.")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        position = POSITIONS[scheme](PositionContext(dim, heads, count, causal))
    return scheme_record(position, scheme, "", count, seed, trained=not any(True for _ in position.parameters()))


def _check_sizes(count: int, dim: int, heads: int) -> None:
    """Refuse tables that would take the memory of everybody."""
    for name, number, most in (("count", count, 4096), ("dim", dim, 65_536), ("heads", heads, 1024)):
        check_whole(name, number, 1, most)
    if heads * count**2 > MOST:
        raise ChoiceError(
            f"{heads} heads and {count} positions make a table of {heads * count**2:,} numbers; at most {MOST:,} fit."
        )


def _of_model(model: Model, count: int, seed: int) -> Places:
    module = getattr(model, "module", None)
    if not isinstance(module, Transformer):
        raise ChoiceError(f"places takes the name of a scheme or one of our models; this is {type(model).__name__}.")
    stack = module if module.encoder is None else module.encoder
    position = stack.embeddings.position
    return scheme_record(
        position, module.config.positions, model.name, min(count, position.longest or count), seed, trained=True
    )


@torch.no_grad()
def scheme_record(position: Position, scheme: str, model: str, count: int, seed: int, *, trained: bool) -> Places:
    """The record of a scheme, whichever slot it fills."""
    where = torch.arange(count, device=next((p.device for p in position.parameters()), torch.device("cpu")))
    vectors, angles, context = position.add(where), None, position.context
    width = max(2, context.dim // max(1, context.heads))
    rng = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(1, context.heads, 1, width, generator=rng).to(where.device) for _ in range(2))
    turned = position.rotate(q.expand(-1, -1, count, -1), where)
    bias = position.bias(where, where)
    slot, scores = "none", torch.zeros(1, count, count)
    if vectors is not None:
        slot, scores = "add", (vectors @ vectors.T)[None]
        angles = position.angles(where) if isinstance(position, Sinusoidal) else None
    elif not torch.equal(turned, q.expand(-1, -1, count, -1)):
        slot, scores = "rotate", (turned @ position.rotate(k.expand(-1, -1, count, -1), where).transpose(-1, -2))[0]
        angles = where[:, None] * _speeds(position, width)
    elif bias is not None:
        slot, scores = "bias", bias[0]
    elif (depends := _depends(position, count, rng)) is not None:
        slot, scores = "score", depends[0]
    return Places(
        scheme, model, slot, MEANINGS[slot], _array(vectors), _array(angles), np.asarray(scores.cpu(), np.float32), context.causal, trained
    )  # fmt: skip


def _speeds(position: Position, width: int) -> Tensor:
    """How far a scheme rotates each pair of dimensions from one position to the next, measured on (1, 0)."""
    unit = torch.cat((torch.ones(width // 2), torch.zeros(width // 2))).expand(1, 1, 1, width)
    turned = position.rotate(unit, torch.ones(1))[0, 0, 0]
    return torch.atan2(turned[width // 2 :], turned[: width // 2])


def _depends(position: Position, count: int, rng: torch.Generator) -> Tensor | None:
    """What a scheme that depends on the tokens adds, with the same random token at every position."""
    context = position.context
    if not context.dim:
        return None
    width = context.dim // context.heads
    read, look = (torch.randn(context.dim, context.dim, generator=rng) / context.dim**0.5 for _ in range(2))
    word = torch.randn(1, 1, context.dim, generator=rng).expand(1, count, context.dim)

    def project(matrix: Tensor) -> Project:
        return lambda x: (x @ matrix).unflatten(-1, (context.heads, width)).transpose(1, 2)

    where = torch.arange(count)
    as_query, as_key = project(read), project(look)
    terms = position.score(as_query(word), as_key(word), (as_query, as_key), (where, where))
    return torch.stack(list(terms.values())).sum(dim=0) if terms else None


@checked
def shuffle(model: Model, text: Text, *, seed: int = 0) -> Shuffle:
    """Read a text, and again with its tokens shuffled, each time with positions and without.

    An encoder's tokens are all shuffled, except for the special tokens at its ends. A decoder's last token keeps its position, so
    that it still sees the same tokens, in another order: only its state can be compared.

    >>> sorted(ex.shuffle(ex.load("bert"), "A dog ran.", seed=1).tokens.texts)[0]
    '.'
    """
    seed = check_seed(seed)
    if model.family not in ("encoder", "decoder"):
        raise ChoiceError(f"shuffle takes an encoder or a decoder; {model.name} is {an(model.family)}.")
    tokens = model.tokens(text)
    free = [place for place, special in enumerate(tokens.special) if not special]
    free = free if model.family == "encoder" else [place for place in free if place < len(tokens) - 1]
    if len(free) < 2:
        raise TextError("There are not two tokens to shuffle. Write a longer text.")
    order = _order(len(tokens), free, seed)
    ids = tokens.ids.tolist()
    moved, weights = {}, {}
    for name, edits in (("with", []), ("without", [NoPositions(model.family)])):
        plain, mixed = (trace(model, [ids[i] for i in way], edits=edits) for way in (range(len(ids)), order))
        moved[name] = _moved(plain, mixed, order, model.family)
        weights[name] = np.stack([_weights(plain, np.arange(len(ids))), _weights(mixed, np.argsort(order))])
    return Shuffle(model.name, model.family, tokens, order, moved, weights)


def _order(count: int, free: list[int], seed: int) -> np.ndarray:
    """A permutation of the free positions that moves at least one of them."""
    order, rng = np.arange(count), np.random.default_rng(seed)
    while np.array_equal(order, np.arange(count)):
        order[free] = rng.permutation(free)
    return order


def _moved(plain: Trace, mixed: Trace, order: np.ndarray, family: str) -> np.ndarray:
    """How much each token's state changed, sorted back: [layer + 1, token]."""
    before, after = plain.hidden[family], mixed.hidden[family][:, np.argsort(order)]
    gap = np.linalg.norm(after - before, axis=-1) / np.linalg.norm(before, axis=-1)
    if family == "decoder":
        gap[:, :-1] = np.nan
    return gap


def _weights(traced: Trace, back: np.ndarray) -> np.ndarray:
    """All attention weights with rows and columns sorted back: [layer, head, query, key]."""
    return np.stack([attention.weights[:, back][:, :, back] for attention in traced.attention])


def _array(value: Tensor | None) -> np.ndarray | None:
    return None if value is None else np.asarray(value.cpu(), np.float32)
