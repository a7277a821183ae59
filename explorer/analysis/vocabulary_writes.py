"""What a head or a unit of the feed-forward layer writes to the vocabulary, on the direct way through the output layer."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, check_index, unknown
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.models.top_tokens import top_tokens
from explorer.models.transformer import TransformerModel, transformer
from explorer.nn.layers import AbsentFeedForward, Norm
from explorer.nn.transformer import Layer
from explorer.records import VocabularyWrites
from explorer.text.reading import Text


@checked
def head_writes(  # noqa: PLR0913  where the head is, and what it looks at
    model: Model,
    text: Text,
    *,
    layer: int,
    head: int,
    position: int,
    stream: str | None = None,
    target: Text | None = None,
    count: int = 10,
) -> VocabularyWrites:
    """What a head promotes and suppresses when it looks at one token alone: v of that token · W_O of the head · W_U.

    v is the value vector in this text, so for layer 0 this is the OV circuit W_V · W_O · W_U of the token.

    >>> made = ex.analysis.head_writes(ex.load("gpt2"), "A dog ran.", layer=1, head=0, position=1)
    >>> made.scores.shape == (ex.load("gpt2").tokenizer.vocabulary.size,)
    True
    """
    ours, stream = _writing(model, stream)
    block = _layer_of(ours, stream, layer)
    attention = block.cross if stream == "cross" else block.attention
    assert attention is not None
    check_index(f"head in the {stream} of {ours.name}", head, attention.heads)
    traced = trace(ours, text, target=target, layers=[layer], scores=False)
    read = traced.axes(stream)[1]
    check_index("position", position, len(read))
    watched = traced.at(stream, layer)
    assert watched.v is not None
    value = torch.tensor(watched.v[head // (attention.heads // attention.groups), position], device=ours.device)
    width = len(value)
    wrote = attention.output.weight[:, head * width : (head + 1) * width].detach().float() @ value  # [dim]
    origin = f"head {head} of {stream} layer {layer}, looking at “{read.texts[position]}” alone"
    return _record(ours, origin, wrote, count)


@checked
def unit_writes(model: Model, *, layer: int, unit: int, stream: str | None = None, count: int = 10) -> VocabularyWrites:
    """What a unit of a feed-forward layer promotes and suppresses while it is active: its row of the second matrix · W_U.

    >>> len(ex.analysis.unit_writes(ex.load("gpt2"), layer=1, unit=5, count=3).texts[0])
    3
    """
    ours, stream = _writing(model, stream)
    if stream == "cross":
        raise ChoiceError("Cross-attention has no feed-forward units. Name the decoder, whose layers have them.")
    forward = _layer_of(ours, stream, layer).feed_forward
    if isinstance(forward, AbsentFeedForward):
        raise ChoiceError(f"{ours.name} was built without feed-forward layers, so it has no units.")
    narrow = forward.narrow
    check_index(f"unit in {stream} layer {layer} of {ours.name}", unit, narrow.in_features)
    return _record(ours, f"unit {unit} of {stream} layer {layer}", narrow.weight[:, unit].detach().float(), count)


def _writing(model: Model, stream: str | None) -> tuple[TransformerModel, str]:
    """One of our own models that predicts tokens, and the stream that its output layer reads."""
    ours = transformer(model)
    if not hasattr(ours.module, "head"):
        raise ChoiceError(f"{ours.name} has no scores over a vocabulary, so nothing is written to it.")
    if not ours.config.residual:
        raise ChoiceError(
            f"{ours.name} has no residual connections, so nothing that a layer writes reaches the output directly."
        )
    if ours.config.mask_decoder:
        raise ChoiceError(f"{ours.name} runs its last layer twice, so what one layer writes directly cannot be separated.")
    known = [name for name in ours.streams if name != "encoder" or ours.family == "encoder"]
    stream = known[0] if stream is None else stream
    if stream not in known:
        raise unknown(f"stream of {ours.name} that reaches its output layer directly", stream, known)
    return ours, stream


def _layer_of(model: TransformerModel, stream: str, layer: int) -> Layer:
    check_index(f"layer in the {stream} of {model.name}", layer, model.streams[stream][0])
    block = model.module.layers[layer]
    if not isinstance(block, Layer):
        raise ChoiceError(f"Layer {layer} of {model.name} is a {type(block).__name__}, whose matrices are not known.")
    return block


def _record(model: TransformerModel, origin: str, wrote: Tensor, count: int) -> VocabularyWrites:
    with torch.no_grad():
        scores, notes = _through_the_output_layer(model, wrote)
    scores = scores - scores.mean()  # the softmax takes no notice of what is added to every token
    (best,), (best_texts,) = top_tokens(scores[None], count, model.tokenizer.text_of)
    (worst,), (worst_texts,) = top_tokens(-scores[None], count, model.tokenizer.text_of)
    return VocabularyWrites(model.name, origin, scores, np.stack([best, worst]), (best_texts, worst_texts), notes)


def _through_the_output_layer(model: TransformerModel, wrote: Tensor) -> tuple[np.ndarray, tuple[str, ...]]:
    """The linear part of everything between the residual stream and the scores, and what that leaves out."""
    notes, head = [], model.module.head
    place = model.config.norm_place
    if place != "pre":
        notes.append("the norms between this layer and the output layer are left out")
    if model.module.norm is not None:
        wrote = _linear_part(model.module.norm, wrote)
        notes.append("not divided by σ of the final norm, which is another number at each position")
    if head.transform is not None:
        wrote = _linear_part(head.transform.norm, head.transform.dense.weight.float() @ wrote)
        notes.append("the activation and σ of the output layer's own dense layer are left out")
    scores = head.project.weight.float() @ wrote * head.scale
    return scores.detach().cpu().numpy(), tuple(notes)


def _linear_part(norm: Norm | torch.nn.LayerNorm, x: Tensor) -> Tensor:
    """What a norm does besides dividing by σ: take away the mean (LayerNorm), multiply by γ."""
    centred = getattr(norm, "centred", True)
    return (x - x.mean() if centred else x) * norm.weight.float()
