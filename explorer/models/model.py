"""A model as everything else knows it: a name, a family, a tokenizer, and what it predicts for a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError, TextError
from explorer.nn.transformer import Transformer
from explorer.records import Edit, Tokens
from explorer.text.reading import Text, as_tokens
from explorer.text.tokenizers import Tokenizer

BY_PLACE = (
    "lm",
    "backward",
    "rtd",
    "tags",
    "start",
    "end",
)  # predictions about every place; the others are about the whole text
NEVER_TRAINED = "this model was never trained: its weights are as random as they began"


class Model(Protocol):
    """What tracing, decoding and the pages need of a model, ours or anyone's."""

    name: str
    family: str
    tokenizer: Tokenizer
    streams: dict[str, tuple[int, int]]

    @property
    def module(self) -> torch.nn.Module:
        """The network itself."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def tokens(self, text: Text) -> Tokens:
        """The pieces that the model would read."""

    def reads(self, target: Text | None) -> Tokens | None:
        """What its decoder would read for this target; None where it has no decoder beside an encoder."""

    def run(self, tokens: Tokens, reads: Tokens | None = None) -> dict[str, Tensor]:
        """One forward pass over one text: raw scores by name, with a batch axis of one."""

    def refuses(self, edit: Edit) -> str:
        """Why this model cannot be changed in this way; empty where it can."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures must know, in a few words each: never trained, dropout on, weights only."""


_following: ContextVar[bool] = ContextVar("explorer_following", default=False)


@contextmanager
def following() -> Iterator[None]:
    """While inside, a forward pass of this thread keeps what gradients need."""
    token = _following.set(True)
    try:
        yield
    finally:
        _following.reset(token)


def follows() -> bool:
    """Whether somebody asks for gradients."""
    return _following.get()


class Predicting:
    """What every model that reads pieces says of a text, from one padded forward pass: ours or anyone's."""

    name: str
    family: str
    tokenizer: Tokenizer

    @property
    def longest(self) -> int:
        """The most pieces that one text may have."""
        raise NotImplementedError

    @property
    def start(self) -> int:
        """The piece that a decoder beside an encoder begins with."""
        raise NotImplementedError

    def tokens(self, text: Text) -> Tokens:
        """The pieces that the model would read; a clear error for a text that it cannot."""
        tokens = as_tokens(text, self.tokenizer)
        if len(tokens) > self.longest:
            raise TextError(
                f"The text has {len(tokens)} pieces, but {self.name} reads at most {self.longest}. Shorten the text."
            )
        return tokens

    def reads(self, target: Text | None) -> Tokens | None:
        """What the decoder of an encoder-decoder reads for this target: the start piece, then the target without its last piece."""
        if self.family != "encoder-decoder":
            if target is not None:
                raise ChoiceError(f"{self.name} is one {self.family} and takes no target. Leave `target` out.")
            return None
        given = [] if target is None else self.tokens(target).ids.tolist()
        return self.tokenizer.tokens([self.start, *given[:-1]])

    def run(self, tokens: Tokens, reads: Tokens | None = None) -> dict[str, Tensor]:
        """One forward pass over one text: raw scores by name, with a batch axis of one."""
        return self._run([tokens], None if reads is None else [reads])

    def _run(self, many: Sequence[Tokens], reads: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        raise NotImplementedError

    def outputs(self, text: Text, target: Text | None = None) -> dict[str, np.ndarray]:
        """What the model predicts: `lm` [position, vocab], and `nsp` [2] where it has that head. Raw scores, no softmax.

        A model that finds what was replaced predicts `rtd` [position] alone: above 0 it says that this piece was.

        An encoder-decoder reads `target` shifted right, so row i is about piece i of the target; without one there is
        a single row, about the first piece.
        """
        return self.outputs_many([text], [target])[0]

    def outputs_many(self, texts: Sequence[Text], targets: Sequence[Text | None] | None = None) -> list[dict[str, np.ndarray]]:
        """The same for several texts in one padded batch."""
        if isinstance(texts, (str, Tokens)):
            raise TextError("outputs_many takes a list of texts; this is one. Use outputs, or put it into a list.")
        many = [self.tokens(text) for text in texts]
        if not many:
            return []
        reads = [self.reads(target) for target in (targets or [None] * len(many))]
        rows = [tokens if read is None else read for tokens, read in zip(many, reads, strict=True)]
        decoder = [read for read in reads if read is not None]
        found = {name: scores.float().cpu().numpy() for name, scores in self._run(many, decoder or None).items()}
        return [_of_one(found, n, len(tokens)) for n, tokens in enumerate(rows)]

    def logits(self, text: Text, target: Text | None = None) -> np.ndarray:
        """The scores over the vocabulary, [position, vocab]. Row i is about piece i + 1 if causal, about piece i otherwise."""
        found = self.outputs(text, target)
        if "lm" not in found:
            raise ChoiceError(
                f"{self.name} says nothing about the vocabulary: it predicts {', '.join(found)}. Use model.outputs(text), or "
                "model.generator.logits(text) where it has a generator."
            )
        return found["lm"]


class OwnModel(Predicting):
    """One of our Transformers with its tokenizer."""

    def __init__(self, name: str, module: Transformer, tokenizer: Tokenizer, preset: str) -> None:
        self.name, self.module, self.tokenizer, self.preset = name, module, tokenizer, preset
        self.config = module.config
        self.family = module.config.family
        self.streams = module.config.streams

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.embeddings.tokens.weight.device

    @property
    def longest(self) -> int:
        """The most pieces that one text may have."""
        return self.config.length

    @property
    def start(self) -> int:
        """The piece that a decoder beside an encoder begins with."""
        return self.config.start

    @property
    def width(self) -> int:
        """The features of all heads together."""
        return self.config.dim

    @property
    def generator(self) -> OwnModel | None:
        """The smaller masked model that replaced pieces while this one was trained; None where there is none."""
        held = self.module.generator
        return None if held is None else OwnModel(f"the generator of {self.name}", held, self.tokenizer, self.preset)

    def tokens(self, text: Text) -> Tokens:
        """The pieces that the model would read; a clear error for a text that it cannot."""
        tokens = super().tokens(text)
        if int(tokens.ids.min()) < 0:
            raise ChoiceError("Ids must be 0 or more.")
        if 0 < self.config.segments <= max(tokens.segments):
            raise TextError(
                f"{self.name} was made for {self.config.segments} segment, so it cannot read a pair. Give one text."
            )
        if int(tokens.ids.max()) >= self.config.vocab:
            raise ChoiceError(
                f"There is no piece {int(tokens.ids.max())}: {self.name} knows the ids 0 to {self.config.vocab - 1}."
            )
        return tokens

    def refuses(self, edit: Edit) -> str:
        """Nothing: every edit finds its place in our own models."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures must know."""
        return (NEVER_TRAINED,) if untrained(self.module) else ()

    def _run(self, many: Sequence[Tokens], reads: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        check_settled(self.module, self.name)
        with torch.set_grad_enabled(follows()):
            return self._forward(many, reads)

    def _forward(self, many: Sequence[Tokens], reads: Sequence[Tokens] | None) -> dict[str, Tensor]:
        ids, real = self._padded([t.ids.tolist() for t in many])
        if reads is not None:
            target, _ = self._padded([t.ids.tolist() for t in reads])
            hidden = self.module.decode(self.module.encode(ids, real), target, real)
        else:
            parts = self._padded([list(t.segments) for t in many])[0] if self.config.segments else None
            hidden = self.module(ids, parts, real)
        return self.module.outputs(hidden)

    def _padded(self, rows: Sequence[list[int]]) -> tuple[Tensor, Tensor | None]:
        """Rows side by side, filled up at the right, and which places are real (None: all of them)."""
        longest = max(map(len, rows))
        filled = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        real = torch.arange(longest, device=self.device) < lengths[:, None]  # [batch, position]
        return filled, None if bool(real.all()) else real


def check_settled(module: torch.nn.Module, name: str) -> None:
    """Refuse a model in training mode: dropout would make every number a different one each time."""
    if module.training:
        raise ChoiceError(
            f"{name} is in training mode, so its numbers would change from call to call. Call model.module.eval() first."
        )


def untrained(module: torch.nn.Module) -> bool:
    """Whether all gains of the norms are still exactly 1 and all shifts 0: after the first step of any training they are not."""
    norms = [part for part in module.modules() if "Norm" in type(part).__name__]
    held = [
        (name, value.detach()) for part in norms for name, value in part.named_parameters(recurse=False) if value.dim() == 1
    ]
    first = {name: value.flatten()[0] for name, value in held}  # 1, or 0 where a class counts from there; a shift begins at 0
    return bool(held) and all(
        bool((value == (0.0 if name == "bias" else first[name])).all()) and float(first[name]) in (0.0, 1.0)
        for name, value in held
    )


def _of_one(found: dict[str, np.ndarray], row: int, length: int) -> dict[str, np.ndarray]:
    return {name: scores[row, :length] if name in BY_PLACE else scores[row] for name, scores in found.items()}
