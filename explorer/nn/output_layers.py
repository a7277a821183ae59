"""What fine-tuning puts on top of a model: from its last states to classes, a number, a tag for each token, or a stretch of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from explorer.errors import unknown
from explorer.nn.crf import TagChain
from explorer.nn.elmo import ScalarMix
from explorer.nn.span_layer import SpanLayer

KINDS = ("class", "number", "tags", "span", "spans", "text")
NONE = "O"  # the tag of a word, and the class of a span, that is no part of a name
WIDEST = 8  # so many tokens has a span that is classified, at most
POOLS = ("first", "mean", "last", "counts")
COMPARED = 64  # the width of the layer between two compared vectors and the classes
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "gelu": functional.gelu}
DEVIATION = 0.02


@dataclass(frozen=True)
class OutputConfig:
    """The shape of an output layer, and what its outputs mean.

    `kind` "text" has no layer of its own: an encoder-decoder writes the answer. `pool` is the state that represents a text: the
    first ([CLS]), the last, or the mean of all; "counts" leaves the states out and counts tokens. `activation` is that of a
    dense layer between this state and the classes, "" where there is none. Where two texts are read `apart`, their vectors are
    compared as [u; v; |u − v|; u ∘ v]. `mixed` is how many layers of an ELMo are mixed, `lstm` the width of a biLSTM that reads
    the states. Tags may be joined by a conditional random field (`crf`), or come from classes of whole spans (kind "spans"), which
    an `attentive` layer sums up by weights of its own.
    """

    task: str
    kind: str
    dim: int
    labels: tuple[str, ...] = ()
    metric: str = "accuracy"
    pool: str = "first"
    activation: str = ""
    apart: bool = False
    mixed: int = 0
    lstm: int = 0
    crf: bool = False
    attentive: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))  # JSON gives a list
        for what, given, known in (
            ("kind of output", self.kind, KINDS),
            ("pool", self.pool, POOLS),
            ("activation", self.activation or "tanh", ACTIVATIONS),
        ):
            if given not in known:
                raise unknown(what, given, known)

    @property
    def outputs(self) -> int:
        """How many numbers the layer gives."""
        return {"number": 1, "span": 2, "spans": len(self.span_classes)}.get(self.kind, len(self.labels))

    @property
    def span_classes(self) -> tuple[str, ...]:
        """The classes of spans: none, and every kind that the tags name with B- or I-."""
        return (NONE, *dict.fromkeys(tag.partition("-")[2] for tag in self.labels if "-" in tag))


class OutputLayer(nn.Module):
    """Pool the states of a text, perhaps a dense layer, then one linear layer; for tags and spans the linear layer alone."""

    def __init__(self, config: OutputConfig) -> None:
        super().__init__()
        self.config = config
        self.mix = ScalarMix(config.mixed, norm=True) if config.mixed else None
        self.read = nn.LSTM(config.dim, config.lstm, batch_first=True, bidirectional=True) if config.lstm else None
        wide = 2 * config.lstm or config.dim
        self.dense = nn.Linear(wide, wide) if config.activation else None
        self.compare = nn.Linear(4 * wide, COMPARED) if config.apart else None
        plain = config.pool == "last" and config.kind in ("class", "number")  # as GPT-2's score, which has no bias
        self.chain = TagChain(config.outputs) if config.crf else None
        self.spans = SpanLayer(wide, config.outputs, WIDEST, config.attentive) if config.kind == "spans" else None
        self.classify = nn.Linear(COMPARED if config.apart else wide, config.outputs, bias=not plain)

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """From [batch, position, dim] (an ELMo: [layer, batch, position, dim]) to [batch, class], or [batch, position, class].

        `attention_mask` [batch, position] is False at padding. Of texts that are compared, the first half of the rows are the first ones.
        """
        x = states if self.mix is None else self.mix(states)
        x = x if self.read is None else self._read(x, attention_mask)
        if self.spans is not None:
            return cast(Tensor, self.spans(x).total)
        if self.config.kind in ("tags", "span"):
            return cast(Tensor, self.classify(x))
        x = self.pooled(x, attention_mask)
        if self.compare is not None:
            u, v = x.chunk(2)
            x = torch.relu(self.compare(torch.cat((u, v, (u - v).abs(), u * v), dim=-1)))
        elif self.dense is not None:
            x = ACTIVATIONS[self.config.activation](self.dense(x))
        return cast(Tensor, self.classify(x))

    def pooled(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        """One vector for each text: from [batch, position, dim] to [batch, dim]."""
        if self.config.pool == "first":
            return x[:, 0]
        if self.config.pool == "last":
            return x[torch.arange(len(x), device=x.device), attention_mask.sum(1) - 1]
        there = attention_mask[..., None].to(x.dtype)
        return (x * there).sum(1) / there.sum(1)

    def _read(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        assert self.read is not None
        packed = pack_padded_sequence(x, attention_mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.read(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class CountsLayer(OutputLayer):
    """A bag of words: one number for each word and class, times log(1 + how often the word is there); no states at all."""

    def pooled(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        """From the ids of tokens [batch, position, 1] to their counts [batch, vocab]."""
        counts = torch.zeros(len(x), self.config.dim, device=x.device)
        return counts.scatter_add_(1, x[..., 0].long(), attention_mask.to(counts.dtype)).log1p()

    def forward(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """From ids [batch, position, 1] to [batch, class]; for tags each word by itself to [batch, position, class]."""
        if self.config.kind in ("tags", "span"):
            return functional.embedding(states[..., 0].long(), self.classify.weight.T) + self.classify.bias
        return super().forward(states, attention_mask)


def output_layer(config: OutputConfig, seed: int | None = None) -> OutputLayer:
    """A layer of this shape; its linear layers drawn from `seed` as BERT's are, the others as PyTorch begins them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed or 0)
        layer = (CountsLayer if config.pool == "counts" else OutputLayer)(config)
        own = set() if layer.spans is None else set(layer.spans.modules())  # two layers deep: begun as small, they hardly move
        for part in layer.modules():
            if isinstance(part, nn.Linear) and part not in own and seed is not None:
                nn.init.normal_(part.weight, std=DEVIATION)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)
    return layer
