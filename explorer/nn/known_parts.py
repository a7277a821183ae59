"""Which parts of a model compute what their type says, and which may be given the new positions alone, with a cache."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.heads import Head
from explorer.nn.layers import AbsentFeedForward, AbsentNorm, AddNorm, BareNorm, FeedForward, Norm, RMSNorm
from explorer.nn.positions import Position
from explorer.nn.transformer import Embeddings, Layer, Stack, Transformer


def accepts_cache(module: Transformer) -> bool:
    """Whether the decoder's parts may be given the new positions alone, with all that they need of earlier ones in a cache.

    The cache counts positions by the keys of self-attention, so at least one layer must have it.
    """
    attentive = any(isinstance(part, MultiHeadAttention) and part.stream == "decoder" for part in module.layers.modules())
    known = type(module) is Transformer or _declares(module)
    return known and attentive and all(_incremental(part, declared=True) for part in parts_of(module))


def all_known(part: nn.Module) -> bool:
    """Whether a part and all parts in it are of known types, so that what they compute may be computed without calling them."""
    return _incremental(part, declared=False)


def parts_of(module: Stack) -> Iterator[nn.Module]:
    """What a stack runs through from ids to last states."""
    parts = (module.embeddings, module.project, *module.layers, module.mask_decoder, module.norm)
    return (part for part in parts if part is not None)


def _incremental(part: nn.Module, *, declared: bool) -> bool:
    """Whether a part and all parts in it are known, or (`declared`) say of themselves that they accept a cache."""
    if not _is_known(part):
        return declared and _declares(part)
    inner = () if isinstance(part, Position) else part.children()  # those of a position scheme concern its slots only
    return all(_incremental(child, declared=declared) for child in inner)


def _is_known(part: nn.Module) -> bool:
    """Whether a part computes what its type says: no other class, no hook, and no `forward` that was put in.

    A position scheme is known by its slots, which are given the positions and keys of the whole text. One that needs more, such as
    the length of the text, says `incremental = False`.
    """
    if isinstance(part, Position):
        return bool(getattr(type(part), "incremental", True))
    hooked = part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
    return type(part) in KNOWN and not hooked


def _declares(part: nn.Module) -> bool:
    """Whether the class that wrote this part's `forward` says `incremental = True`; a subclass with another `forward` must say it, too."""
    author = next(kind for kind in type(part).__mro__ if "forward" in vars(kind))
    return bool(vars(author).get("incremental", False))


KNOWN: frozenset[type[nn.Module]] = frozenset({
    Embeddings, Layer, MultiHeadAttention, AddNorm, FeedForward, Head, Norm, RMSNorm, BareNorm, AbsentNorm, AbsentFeedForward,
    nn.Linear, nn.Embedding, nn.Dropout,
})  # fmt: skip
