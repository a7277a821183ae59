"""What fine-tuning puts on top of a model: from its last states to classes, a number, a tag for each token, or a stretch of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from explorer.errors import unknown
from explorer.nn.elmo import ScalarMix

KINDS = ("class", "number", "tags", "span", "spans", "text")
NONE = "O"  # the tag of a word, and the class of a span, that is no part of a name
WIDEST = 8  # so many tokens has a span that is classified, at most
POOLS = ("first", "mean", "last", "counts")
COMPARED = 64  # the width of the layer between two compared vectors and the classes
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "gelu": functional.gelu}
DEVIATION = 0.02


class TagChain(nn.Module):
    """A conditional random field. A row of tags y scores, for x [word, tag], begin[y₁] + Σ x[t, yₜ] + Σ follow[yₜ, yₜ₊₁] + end[y_T].

    A softmax over all rows of tags makes it a probability; the sum over these rows is computed word by word.
    """

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.begin, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))
        self.follow = nn.Parameter(torch.zeros(tags, tags))

    def table(self) -> Tensor:
        """What may follow what, as one table [begin and every tag, every tag and end]; a text has a word, so end never follows begin."""
        never = self.begin.new_full((1,), float("nan"))
        begins, ends = torch.cat((self.begin, never))[None], self.end[:, None]
        return torch.cat((begins, torch.cat((self.follow, ends), dim=1)))

    def score(self, x: Tensor, tags: Tensor) -> Tensor:
        """The score of one row of tags [word]."""
        own = x.gather(1, tags[:, None]).sum() + self.begin[tags[0]] + self.end[tags[-1]]
        return own + self.follow[tags[:-1], tags[1:]].sum()

    def log_sum(self, x: Tensor) -> Tensor:
        """log Σ exp(score) over all rows of tags."""
        reached = self.begin + x[0]
        for here in x[1:]:
            reached = torch.logsumexp(reached[:, None] + self.follow, dim=0) + here
        return torch.logsumexp(reached + self.end, dim=0)

    def loss(self, x: Tensor, tags: Tensor) -> Tensor:
        """−log P(tags | x)."""
        return self.log_sum(x) - self.score(x, tags)

    def best(self, x: Tensor) -> list[int]:
        """The row of tags with the highest score (Viterbi)."""
        reached, back = self.begin + x[0], []
        for here in x[1:]:
            ways = reached[:, None] + self.follow
            back.append(ways.argmax(0))
            reached = ways.amax(0) + here
        tags = [int((reached + self.end).argmax())]
        for pointers in reversed(back):
            tags.append(int(pointers[tags[-1]]))
        return tags[::-1]


class SpanScores(NamedTuple):
    """The score of every span and class [batch, first, width − 1, class], and the three parts whose sum (and bias) it is."""

    total: Tensor
    start: Tensor
    end: Tensor
    summary: Tensor


class SpanLayer(nn.Module):
    """softmax(W [s_i; e_j; g_ij] + b) for all spans i … j of at most `widest` tokens.

    s_i and e_j are the states of the first and the last token, each through its own layer, since a token may mean something else at
    the beginning of a span than at its end. g_ij sums up the states inside: their mean, or their sum weighed by softmax(w·z).
    """

    def __init__(self, dim: int, classes: int, widest: int, attentive: bool) -> None:
        super().__init__()
        self.widest = widest
        self.first, self.last = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.weigh = nn.Linear(dim, 1, bias=False) if attentive else None
        self.classify = nn.Linear(3 * dim, classes)

    def forward(self, z: Tensor) -> SpanScores:
        """From states [batch, position, dim]. Spans that reach beyond the last position have scores that nobody may read."""
        by_start, by_end, by_summary = self.classify.weight.chunk(3, dim=1)
        start = torch.relu(self.first(z)) @ by_start.T  # [batch, position, class]
        end = ahead(torch.relu(self.last(z)) @ by_end.T, self.widest)  # [batch, first, width − 1, class]
        summary = self.summed(z) @ by_summary.T
        start = start[:, :, None].expand_as(end)
        return SpanScores(start + end + summary + self.classify.bias, start, end, summary)

    def summed(self, z: Tensor) -> Tensor:
        """g of every span [batch, first, width − 1, dim]."""
        inside = ahead(z, self.widest)
        if self.weigh is None:
            return inside.cumsum(2) / torch.arange(1, self.widest + 1, device=z.device)[:, None]
        scores = ahead(self.weigh(z), self.widest)
        weights = (scores - scores.amax(2, keepdim=True)).exp()
        return (weights * inside).cumsum(2) / weights.cumsum(2)


def ahead(x: Tensor, many: int) -> Tensor:
    """What stands 0, 1, 2 … places further on: from [batch, position, …] to [batch, position, place, …], zeros at the end."""
    padded = torch.cat((x, x.new_zeros(len(x), many - 1, *x.shape[2:])), dim=1)
    return torch.stack([padded[:, n : n + x.shape[1]] for n in range(many)], dim=2)


def legal(inside: Tensor, widest: int) -> Tensor:
    """Which spans hold only tokens of the text: from [batch, position] to [batch, first, width − 1]."""
    return ahead(inside, widest).cumprod(2).bool()


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
