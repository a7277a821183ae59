"""Of what each state of a forward pass is made: shares by norms, as in the LLM Transparency Tool."""

from __future__ import annotations

import numpy as np

from explorer.analysis.token_contributions import handed_on
from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, unknown
from explorer.errors.kinds import checked
from explorer.models.model import Model, reading_stream
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Block, InformationFlow, Trace
from explorer.text.reading import Text


@checked
def information_flow(model: Model, text: Text, *, target: Text | None = None, stream: str | None = None) -> InformationFlow:
    """Each residual sum taken apart: what attention brought from each position, by head, what was kept, what feed-forward added.

    A part z of a sum y has the weight max(0, ‖y‖₁ − ‖y − z‖₁), and the weights of all parts are scaled to sum to one (Ferrando et
    al. 2022; Ferrando and Voita 2024). Biases have no source and no share.

    >>> flow = ex.analysis.information_flow(ex.load("gpt2"), "A dog ran.")
    >>> bool(abs(flow.attention.sum((1, 3)) + flow.kept - 1).max() < 1e-5)
    True
    """
    ours = transformer(model)
    if not ours.config.residual:
        raise ChoiceError(f"{ours.name} has no residual connections, so its states are not sums that can be taken apart.")
    if ours.config.mask_decoder:
        raise ChoiceError(f"{ours.name} runs its last layer twice, so its layers are not a single chain of sums.")
    known = [name for name in ours.streams if name != "cross"]
    stream = reading_stream(ours) if stream is None else stream
    if stream not in known:
        raise unknown(f"stream in {ours.name}", stream, known)
    traced = trace(ours, text, target=target, blocks=True, scores=False)
    shares = [_attention_shares(ours, traced, (stream, layer)) for layer in range(ours.streams[stream][0])]
    layers = range(len(shares))
    crossing = stream == "decoder" and ours.family == "encoder-decoder"
    return InformationFlow(
        ours.name,
        traced.axes(stream)[0],
        stream,
        np.stack([attention for attention, _ in shares]),
        np.stack([kept for _, kept in shares]),
        np.stack([_added(traced.block(stream, layer, "feed-forward")) for layer in layers]),
        np.stack([_added(traced.block(stream, layer, "cross-attention")) for layer in layers]) if crossing else None,
    )


def weight_in_sum(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """How much a part [..., dim] of a sum [..., dim] brings it nearer, by the sum of absolute values: 0 or more."""
    return np.asarray(np.maximum(np.abs(whole).sum(-1) - np.abs(whole - part).sum(-1), 0.0))


def _attention_shares(model: TransformerModel, traced: Trace, name: tuple[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """[head, query, key] and [position] of one layer: what each head brought from each position, and what was there before."""
    stream, layer = name
    block, attention = traced.block(stream, layer, "attention"), traced.at(stream, layer)
    handed = handed_on(model, attention)  # [head, key, dim]
    brought = np.zeros(attention.weights.shape)
    for query in range(attention.weights.shape[1]):  # one at a time: all together would take a gigabyte
        parts = attention.weights[:, query, :, None].astype(np.float64) * handed
        brought[:, query] = weight_in_sum(_as_added(block, parts, query), block.total[query].astype(np.float64))
    kept = weight_in_sum(block.given.astype(np.float64), block.total.astype(np.float64))
    total = brought.sum((0, 2)) + kept
    total = np.where(total > 0, total, 1.0)
    return (brought / total[None, :, None]).astype(np.float32), (kept / total).astype(np.float32)


def _as_added(block: Block, parts: np.ndarray, query: int) -> np.ndarray:
    """Parts of what attention made, as they reach the residual sum: through the norm where one lies between."""
    if block.place not in ("inside", "both"):
        return parts
    centred = parts - parts.mean(-1, keepdims=True) if block.mean.any() else parts
    return np.asarray(centred / block.deviation[query] * block.gain)


def _added(block: Block) -> np.ndarray:
    """The share of what a sub-layer adds in its residual sum, beside what was there before [position]."""
    added, given = (weight_in_sum(part.astype(np.float64), block.total.astype(np.float64)) for part in (block.out, block.given))
    total = added + given
    return (added / np.where(total > 0, total, 1.0)).astype(np.float32)
