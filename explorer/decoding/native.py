"""Our models as steppers: one piece at a time, with keys and values kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer import tap
from explorer.decoding import State
from explorer.errors import ChoiceError
from explorer.model import OwnModel, check_settled
from explorer.nn.alone import Alone, Roomy
from explorer.nn.cache import Cache
from explorer.nn.step import Step
from explorer.records import Tokens, log_softmax


@dataclass
class OwnState(State):
    """The state of some beams of one of our models: `unread` pieces, then what the cache holds."""

    cache: Cache = field(default_factory=Cache)
    unread: list[int] = field(default_factory=list)
    beams: int = 1
    states: Tensor | None = None


class OwnStepper:
    """A decoder, or an encoder-decoder with its source, which the encoder reads once.

    `cross` records where the decoder looks in the source, `hidden` keeps the last states (for contrastive search).
    """

    def __init__(self, model: OwnModel, source: Tokens | None = None, *, cross: bool = False, hidden: bool = False) -> None:
        check_settled(model.module, model.name)
        self.model, self.cross, self.hidden = model, cross and source is not None, hidden
        self.size = model.config.vocab
        self.longest: int | None = model.longest
        last = model.tokenizer.vocabulary.last
        self.ends: tuple[int, ...] = () if last is None else (last,)
        self.source = source
        self.memory: Tensor | None = None
        self.step = Step(model.module) if Step.fits(model.module) and not self.cross else None
        self.alone = Alone(model.module) if Alone.fits(model.module) and not hidden else None

    def start(self, prompt: Sequence[int]) -> OwnState:
        """One beam that is about to read `prompt`; its last piece is given to `next`. The encoder reads the source, once."""
        if self.source is not None and self.memory is None:
            with torch.inference_mode():
                source = torch.as_tensor(self.source.ids[None].copy(), device=self.model.device)
                self.memory = self.model.module.encode(source)
        return OwnState(unread=[int(piece) for piece in prompt[:-1]])

    def next(self, state: OwnState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, OwnState]:
        """New beams, the log-probabilities of every piece after them, and their state. The state that is given is used up."""
        if self._goes_alone(state, len(ids)):
            return self._next_alone(state, int(ids[0]))
        if isinstance(state.cache, Roomy):
            state.cache = state.cache.plain()
        return self._next_together(state, ids, parents)

    @torch.inference_mode()
    def _next_together(self, state: OwnState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, OwnState]:
        device, beams = self.model.device, len(ids)
        states = state.states
        if beams != state.beams or any(parent != n for n, parent in enumerate(parents)):
            chosen = torch.tensor(parents, device=device)
            _go_on(state.cache, chosen)
            states = None if states is None else states[chosen]
        read = torch.tensor([[*state.unread, piece] for piece in ids], device=device)  # [beam, position]
        before = state.cache.length
        if self.step is not None and before and not state.unread and not tap.watched():  # who listens hears the modules
            hidden, heard = self.step(read[:, 0], state.cache)[:, None], []
        else:
            with self._listening() as heard:
                hidden = self._run(read, state.cache)
        scores = self.model.module.head(hidden[:, -1]).float()
        logp = scores.log_softmax(dim=-1).cpu().numpy()
        made = OwnState(read.shape[1], before, scores.cpu().numpy(), cache=state.cache, beams=beams)
        if self.cross:
            made.cross = np.stack([weights[:, :, -1].cpu().numpy().swapaxes(0, 1) for weights in heard])
        if self.hidden:
            made.states = hidden if states is None else torch.cat((states, hidden), dim=1)
            made.hidden = made.states.float().cpu().numpy()
        return logp, made

    def _goes_alone(self, state: OwnState, beams: int) -> bool:
        """Whether one text goes on by one piece, in a model that is small enough, and nobody listens."""
        if self.alone is None or beams != 1 or state.beams != 1 or state.unread or tap.watched():
            return False
        return 0 < state.cache.length < self.alone.room

    def _next_alone(self, state: OwnState, piece: int) -> tuple[np.ndarray, OwnState]:
        assert self.alone is not None
        cache = state.cache if isinstance(state.cache, Roomy) else Roomy(state.cache, self.alone.room)
        before, scores = cache.length, self.alone(piece, cache)
        logp = torch.from_numpy(scores).log_softmax(dim=-1).numpy()
        return logp, OwnState(1, before, scores, cache=cache)

    def _run(self, read: Tensor, cache: Cache) -> Tensor:
        if self.memory is None:
            return self.model.module(read, cache=cache)
        return self.model.module.decode(self.memory, read, cache=cache)

    @contextmanager
    def _listening(self) -> Iterator[list[Tensor]]:
        """The weights of cross-attention [beam, head, query, source] by layer, where they are wanted."""
        heard: list[Tensor] = []

        def hear(place: str, stream: str, layer: int, values: dict[str, Any]) -> None:
            if place == "attention" and stream == "cross":
                heard.append(values["weights"])

        with tap.listening(hear) if self.cross else nullcontext():
            yield heard

    def text_of(self, piece: int) -> str:
        """One piece, readable."""
        return self.model.tokenizer.text_of(piece)

    def text(self, ids: Sequence[int]) -> str:
        """The text of these pieces, without special ones."""
        return self.model.tokenizer.decode(ids)


def _go_on(cache: Cache, parents: Tensor) -> None:
    """Keys and values of these beams; those of the source are the same for all."""
    for (stream, layer), (k, v) in cache.kept.items():
        if stream == "cross":
            cache.kept[stream, layer] = k[:1].expand(len(parents), *k.shape[1:]), v[:1].expand(len(parents), *v.shape[1:])
        else:
            cache.kept[stream, layer] = k.index_select(0, parents), v.index_select(0, parents)


@dataclass
class WholeState(State):
    """Beams without a cache: their whole texts."""

    texts: list[list[int]] = field(default_factory=list)


class WholeStepper:
    """Whatever gives scores [position, vocab] for a text, read anew at every step: for models without a cache, and to compare."""

    def __init__(self, model: Any, scores: Callable[[list[int]], np.ndarray] | None = None) -> None:
        self.model, self.scores = model, scores or model.logits
        v = model.tokenizer.vocabulary
        self.size, self.longest = v.size, getattr(model, "longest", None)
        self.ends: tuple[int, ...] = () if v.last is None else (v.last,)

    def start(self, prompt: Sequence[int]) -> WholeState:
        """One beam that is about to read `prompt`."""
        return WholeState(texts=[[int(piece) for piece in prompt[:-1]]])

    def next(self, state: WholeState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, WholeState]:
        """New beams and the log-probabilities of every piece after them."""
        texts = [[*state.texts[parent], int(piece)] for parent, piece in zip(parents, ids, strict=True)]
        raw = np.stack([np.asarray(self.scores(text)[-1], np.float32) for text in texts])
        return log_softmax(raw).astype(np.float32), WholeState(len(texts[0]), 0, raw, texts=texts)

    def text_of(self, piece: int) -> str:
        """One piece, readable."""
        return self.model.tokenizer.text_of(piece)

    def text(self, ids: Sequence[int]) -> str:
        """The text of these pieces, without special ones."""
        return self.model.tokenizer.decode(ids)


def without_cache(model: OwnModel, source: Tokens | None = None) -> WholeStepper:
    """One of our models as a stepper that computes everything anew at every step."""
    if model.family == "encoder":
        raise ChoiceError(f"{model.name} is an encoder, which reads a whole text at once and cannot go on after it.")
    if source is None:
        return WholeStepper(model)
    return WholeStepper(model, lambda ids: model.logits(source, target=[*ids[1:], 0]))
