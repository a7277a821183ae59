"""Live models of the transformers library as steppers, through their own cache. Nothing of that library is imported here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.decoding import State
from explorer.errors import ChoiceError
from explorer.models.hub.foreign import HUGE, HubModel
from explorer.models.hub.listening import NAME
from explorer.models.model import check_eval_mode
from explorer.text.tokenizers import Tokenizer

STEP_BY_STEP = ("eager", NAME)  # ways to attend that hand out their weights
LENGTHS = ("max_position_embeddings", "n_positions", "max_target_positions")


@dataclass
class HuggingFaceState(State):
    """The state of some beams: their whole texts, and the library's cache where the model has one."""

    texts: list[list[int]] = field(default_factory=list)
    cache: Any = None
    states: Tensor | None = None


class HuggingFaceStepper:
    """A causal model or an encoder-decoder of the transformers library, with its tokenizer (ours or theirs)."""

    def __init__(
        self, module: Any, tokenizer: Any, source: Sequence[int] | None = None, *, cross: bool = False, hidden: bool = False
    ) -> None:
        check_generates(module)
        check_eval_mode(module, name_of(module))
        self.module, self.tokenizer, self.device = module, as_our_tokenizer(tokenizer), module.device
        self.cross, self.hidden = cross and source is not None, hidden
        self.size, self.longest = int(module.get_output_embeddings().weight.shape[0]), longest_of(module)
        ends = setting(module, "eos_token_id")
        self.ends = () if ends is None else tuple(ends) if isinstance(ends, (list, tuple)) else (int(ends),)
        self.source = None if source is None else [int(token) for token in source]
        self.memory: Tensor | None = None

    def start(self, prompt: Sequence[int]) -> HuggingFaceState:
        """One beam that is about to read `prompt`; its last token is given to `next`. The encoder reads the source, once."""
        if self.source is not None and self.memory is None:
            with torch.inference_mode():
                ids = torch.tensor([self.source], device=self.device)
                self.memory = self.module.get_encoder()(input_ids=ids, return_dict=True).last_hidden_state
        return HuggingFaceState(texts=[[int(token) for token in prompt[:-1]]])

    @torch.inference_mode()
    def next(self, state: HuggingFaceState, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, HuggingFaceState]:
        """New beams, the log-probabilities of every token after them, and their state. The state that is given is used up."""
        texts = [[*state.texts[parent], int(token)] for parent, token in zip(parents, ids, strict=True)]
        states, cache = state.states, state.cache
        if cache is not None and (len(texts) != len(state.texts) or list(parents) != list(range(len(texts)))):
            chosen = torch.tensor(parents, device=self.device)
            cache.reorder_cache(chosen)
            states = None if states is None else states[chosen]
        before = 0 if cache is None else len(texts[0]) - 1
        out = self._run(torch.tensor([text[before:] for text in texts], device=self.device), cache)
        scores = out.logits[:, -1].float()
        following = HuggingFaceState(
            len(texts[0]) - before, before, scores.cpu().numpy(), texts=texts, cache=out.get("past_key_values")
        )
        if self.cross:
            following.cross = np.stack([w[:, :, -1].float().cpu().numpy().swapaxes(0, 1) for w in out.cross_attentions])
        if self.hidden:
            new = (out.decoder_hidden_states if self.memory is not None else out.hidden_states)[-1]
            following.states = new if states is None or cache is None else torch.cat((states, new), dim=1)
            following.hidden = following.states.float().cpu().numpy()
        return scores.log_softmax(dim=-1).cpu().numpy(), following

    def _run(self, ids: Tensor, cache: Any) -> Any:
        options: dict[str, Any] = {"use_cache": True, "return_dict": True}
        if cache is not None:
            options["past_key_values"] = cache
        if self.hidden:
            options["output_hidden_states"] = True
        if self.memory is None:
            return self.module(input_ids=ids, **options)
        memory = self.memory.expand(len(ids), -1, -1)
        with explicit(self.module) if self.cross else nullcontext():
            return self.module(encoder_outputs=(memory,), decoder_input_ids=ids, output_attentions=self.cross, **options)

    def text_of(self, token: int) -> str:
        """One token, readable."""
        return self.tokenizer.text_of(token)

    def text(self, ids: Sequence[int]) -> str:
        """The text of these tokens, without special ones."""
        return self.tokenizer.decode([token for token in ids if token < self.tokenizer.vocabulary.size])


@dataclass(frozen=True)
class LiveModel:
    """A model of the transformers library that is about to write: what it is called, its tokenizer, how much it reads at most."""

    module: Any
    name: str
    tokenizer: Tokenizer
    longest: int | None = None


def live(module: Any, tokenizer: Any) -> LiveModel:
    """A pair that is somebody's."""
    check_generates(module)
    return LiveModel(module, name_of(module), as_our_tokenizer(tokenizer), longest_of(module))


def live_of(model: HubModel) -> LiveModel:
    """One that was opened here."""
    return LiveModel(model.module, model.name, model.tokenizer, None if model.longest >= HUGE else model.longest)


def generates(module: Any) -> bool:
    """Whether a module of the transformers library predicts the next token."""
    writes = callable(getattr(module, "can_generate", None)) and module.can_generate()
    return bool(writes) and module.get_output_embeddings() is not None


def check_generates(module: Any, name: str = "") -> None:
    """Refuse what predicts no next token."""
    if not generates(module):
        what = f"{name} ({name_of(module)})" if name else name_of(module)
        raise ChoiceError(
            f"{what} cannot generate: it has no head that predicts the next token. Open it as …ForCausalLM or "
            "…ForConditionalGeneration; a masked model can only 'fill' blanks."
        )


def name_of(module: Any) -> str:
    """What a live model is called: its class."""
    return type(module).__name__


def setting(module: Any, name: str) -> Any:
    """One setting, as `generate` would take it: from the settings for generation, else from the model's own."""
    value = getattr(getattr(module, "generation_config", None), name, None)
    return getattr(module.config, name, None) if value is None else value


def longest_of(module: Any) -> int | None:
    """How many positions the model can read; None where nothing limits it."""
    return next((int(n) for name in LENGTHS if (n := getattr(module.config, name, None))), None)


def as_our_tokenizer(tokenizer: Any) -> Tokenizer:
    """A tokenizer of the transformers library as one of ours, so that its tokens can be read."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        raise ChoiceError(
            f"The tokenizer must be one of ours or a fast one of transformers; this is {type(tokenizer).__name__}."
        )
    return Tokenizer(type(core).from_str(core.to_str()))  # a copy: ours switches padding and cutting off


@contextmanager
def explicit(module: Any) -> Iterator[None]:
    """While inside, the model computes attention step by step and hands out its weights; then it is as it was."""
    before = module.config._attn_implementation
    if before in STEP_BY_STEP:  # a model that was opened here may be asked by several threads, and stays as it is
        yield
        return
    module.set_attn_implementation("eager")
    try:
        yield
    finally:
        module.set_attn_implementation(before)
