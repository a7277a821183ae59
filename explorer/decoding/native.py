"""Our models as steppers: one token at a time, with keys and values kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.decoding.stepper import State
from explorer.errors import ChoiceError
from explorer.models.model import check_eval_mode
from explorer.models.transformer import TransformerModel
from explorer.nn import fast, tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.fast.numpy_decoder import MOST_BEAMS, NumpyDecoder, PreallocatedCache
from explorer.nn.known_parts import accepts_cache
from explorer.records import TapPlace, Tokens, log_softmax


@dataclass
class NativeState(State):
    """The state of some beams of one of our models: `unread` tokens, then what the cache holds.

    `ids` [beam, position] are the whole texts, for a model whose parts accept no cache.
    """

    cache: KeyValueCache = field(default_factory=KeyValueCache)
    unread: list[int] = field(default_factory=list)
    beams: int = 1
    states: Tensor | None = None
    ids: Tensor | None = None


class NativeStepper:
    """A decoder, or an encoder-decoder with its source, which the encoder reads once.

    `cross` records where the decoder looks in the source, `hidden` keeps the last states (for contrastive search). `cached` says
    whether the model's parts accept a cache; otherwise every step reads the whole texts, with the same results.
    """

    def __init__(
        self, model: TransformerModel, source: Tokens | None = None, *, cross: bool = False, hidden: bool = False
    ) -> None:
        check_eval_mode(model.module, model.name)
        self.model, self.cross, self.hidden = model, cross and source is not None, hidden
        self.size = model.config.vocab
        self.longest: int | None = model.longest
        last = model.tokenizer.vocabulary.last
        self.ends: tuple[int, ...] = () if last is None else (last,)
        self.source = source
        self.memory: Tensor | None = None
        module = model.module
        self.cached = accepts_cache(module)
        self.numpy = NumpyDecoder(module) if NumpyDecoder.fits(module) and not hidden else None

    def start(self, prompt: Sequence[int]) -> NativeState:
        """One beam that is about to read `prompt`; its last token is given to `next`. The encoder reads the source, once."""
        if self.source is not None and self.memory is None:
            with torch.inference_mode():
                source = torch.as_tensor(self.source.ids[None].copy(), device=self.model.device)
                self.memory = self.model.module.encode(source)
        return NativeState(unread=[int(token) for token in prompt[:-1]])

    def next(self, state: NativeState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, NativeState]:
        """New beams, the log-probabilities of every token after them, and their state. The state that is given is used up."""
        if self.numpy is not None and self._is_quick(self.numpy, state, len(ids)):
            return self._next_by_numpy(self.numpy, state, ids, parents)
        if isinstance(state.cache, PreallocatedCache):
            state.cache = state.cache.as_cache()
        return self._next_by_modules(state, ids, parents)

    @staticmethod
    def _is_quick(decoder: NumpyDecoder, state: NativeState, beams: int) -> bool:
        """Whether few texts are continued by one token each, without a trace."""
        few, room = max(beams, state.beams) <= MOST_BEAMS, 0 < state.cache.length < decoder.capacity
        return few and room and not state.unread and fast.chosen()

    def _next_by_numpy(
        self, decoder: NumpyDecoder, state: NativeState, ids: Sequence[int], parents: Sequence[int]
    ) -> tuple[np.ndarray, NativeState]:
        cache = state.cache
        if not isinstance(cache, PreallocatedCache):
            cache = PreallocatedCache(cache, decoder.capacity, cross=self.cross)
        if not _go_on(state, parents):
            cache.select(parents)
        before, scores = cache.length, decoder(ids, cache)
        logp = torch.from_numpy(scores).log_softmax(dim=-1).numpy()
        following = NativeState(1, before, scores, cache=cache, beams=len(ids))
        if cache.cross is not None:
            looked = np.stack(cache.cross).reshape(len(cache.cross), len(ids), *cache.cross[0].shape[-2:])
            following.cross = looked.swapaxes(1, 2)  # [layer, head, beam, source]
            cache.cross.clear()
        return logp, following

    @torch.inference_mode()
    def _next_by_modules(
        self, state: NativeState, ids: Sequence[int], parents: Sequence[int]
    ) -> tuple[np.ndarray, NativeState]:
        if not _go_on(state, parents):  # the beams that go on are others, or in another order
            state.cache.select(parents)
            chosen = torch.tensor(parents, device=self.model.device)
            state.states = None if state.states is None else state.states[chosen]
            state.ids = None if state.ids is None else state.ids[chosen]
        new = torch.tensor([[*state.unread, token] for token in ids], device=self.model.device)  # [beam, position]
        before, cross = state.cache.length, list[Tensor]()
        with self._recording(cross):
            hidden, following = self._hidden(new, state)
        scores = self.model.module.head(hidden[:, -1]).float()
        logp = scores.log_softmax(dim=-1).cpu().numpy()
        following.computed, following.reused, following.beams = hidden.shape[1], before, len(ids)
        following.raw = scores.cpu().numpy()
        if self.cross:
            following.cross = np.stack([weights[:, :, -1].cpu().numpy().swapaxes(0, 1) for weights in cross])
        if self.hidden:
            earlier = state.states if self.cached else None
            following.states = hidden if earlier is None else torch.cat((earlier, hidden), dim=1)
            following.hidden = following.states.float().cpu().numpy()
        return logp, following

    def _hidden(self, new: Tensor, state: NativeState) -> tuple[Tensor, NativeState]:
        """The last states [beam, position, dim] of the new tokens (without a cache, of all), and the state that keeps them."""
        if not self.cached:
            ids = new if state.ids is None else torch.cat((state.ids, new), dim=1)
            return self._run(ids, None), NativeState(ids=ids)
        return self._run(new, state.cache), NativeState(cache=state.cache)

    def _run(self, ids: Tensor, cache: KeyValueCache | None) -> Tensor:
        if self.memory is None:
            states: Tensor = self.model.module(ids, cache=cache)
            return states
        memory = self.memory if cache is not None else self.memory.expand(len(ids), -1, -1)
        return self.model.module.decode(memory, ids, cache=cache)

    @contextmanager
    def _recording(self, weights: list[Tensor]) -> Iterator[None]:
        """While inside, the weights of cross-attention [beam, head, query, source] are added by layer, where they are wanted."""

        def hear(place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
            if place == TapPlace.ATTENTION and stream == "cross":
                weights.append(values["weights"])

        with tap.listening(hear) if self.cross else nullcontext():
            yield

    def text_of(self, token: int) -> str:
        """One token, readable."""
        return self.model.tokenizer.text_of(token)

    def text(self, ids: Sequence[int]) -> str:
        """The text of these tokens, without special ones."""
        return self.model.tokenizer.decode(ids)


def _go_on(state: NativeState, parents: Sequence[int]) -> bool:
    """Whether a state's beams all go on, in their order."""
    return len(parents) == state.beams and all(parent == n for n, parent in enumerate(parents))


@dataclass
class UncachedState(State):
    """Beams without a cache: their whole texts."""

    texts: list[list[int]] = field(default_factory=list)


class UncachedStepper:
    """Whatever gives scores [position, vocab] for a text, read as a whole at every step: for models without a cache, and to compare."""

    def __init__(self, model: Any, scores: Callable[[list[int]], np.ndarray] | None = None) -> None:
        self.model, self.scores = model, scores or model.logits
        v = model.tokenizer.vocabulary
        self.size, self.longest = v.size, getattr(model, "longest", None)
        self.ends: tuple[int, ...] = () if v.last is None else (v.last,)

    def start(self, prompt: Sequence[int]) -> UncachedState:
        """One beam that is about to read `prompt`."""
        return UncachedState(texts=[[int(token) for token in prompt[:-1]]])

    def next(self, state: UncachedState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, UncachedState]:
        """New beams and the log-probabilities of every token after them."""
        texts = [[*state.texts[parent], int(token)] for parent, token in zip(parents, ids, strict=True)]
        raw = np.stack([np.asarray(self.scores(text)[-1], np.float32) for text in texts])
        return log_softmax(raw).astype(np.float32), UncachedState(len(texts[0]), 0, raw, texts=texts)

    def text_of(self, token: int) -> str:
        """One token, readable."""
        text: str = self.model.tokenizer.text_of(token)
        return text

    def text(self, ids: Sequence[int]) -> str:
        """The text of these tokens, without special ones."""
        decoded: str = self.model.tokenizer.decode(ids)
        return decoded


def without_cache(model: TransformerModel, source: Tokens | None = None) -> UncachedStepper:
    """One of our models as a stepper that reads the whole text at every step."""
    if model.family == "encoder":
        raise ChoiceError(f"{model.name} is an encoder, which reads a whole text at once and cannot continue it.")
    if source is None:
        return UncachedStepper(model)
    return UncachedStepper(model, lambda ids: model.logits(source, target=[*ids[1:], 0]))
