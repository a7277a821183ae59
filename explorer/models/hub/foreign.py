"""A Hugging Face model with the interface of ours: it reads text, predicts, is traced and edited."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.models.hub.adopting import STAGES, WEIGHTS, Adopted, module_outputs, sees_no_future, weights_of
from explorer.models.model import NEVER_TRAINED, TextModel, follows, padded, untrained
from explorer.nn import tap
from explorer.records import (
    AddVector,
    Edit,
    MovePositions,
    NoNorm,
    NoPositions,
    NoResidual,
    PatchHidden,
    SetUnit,
    SilenceLayer,
    TapPlace,
    Tokens,
)
from explorer.text.tokenizers import Tokenizer

HUGE = 10**6  # tokenizers without a limit say so with a very large number


class HubModel(TextModel):
    """A model of transformers' with its tokenizer. A live one is left as it was after every call."""

    def __init__(
        self, name: str, adopted: Adopted, tokenizer: Tokenizer, limit: int = HUGE, notes: tuple[str, ...] = ()
    ) -> None:
        self.name, self.tokenizer, self.adopted = name, tokenizer, adopted
        self.module: Any = adopted.module
        self.family, self.streams, self.width = adopted.family, adopted.streams, adopted.width
        self._notes = notes
        self._longest = min(limit, longest(self.module))
        rows = self.module.get_input_embeddings().num_embeddings
        if tokenizer.vocabulary.size > rows:
            raise ChoiceError(
                f"The tokenizer has {tokenizer.vocabulary.size} tokens, but {name} has vectors for {rows} only. They do not belong "
                "together: give the tokenizer that the model was trained with."
            )

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        place: torch.device = self.module.get_input_embeddings().weight.device
        return place

    @property
    def longest(self) -> int:
        """The most tokens that one text may have."""
        return self._longest

    @property
    def start(self) -> int:
        """The token that a decoder beside an encoder begins with."""
        known = (getattr(self.module, "generation_config", None), self.module.config)
        names = ("decoder_start_token_id", "bos_token_id", "pad_token_id")
        ids = (getattr(config, name, None) for name in names for config in known)
        return next((int(i) for i in ids if isinstance(i, int)), 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures needs to know."""
        lines = list(self._notes)
        if untrained(self.module):
            lines.append(NEVER_TRAINED)
        if self.module.training:
            lines.append("dropout is on (training mode): the numbers change from call to call")
        if self.adopted.way == WEIGHTS:
            lines.append("this architecture hands out only its weights: no stages before them, no edits inside attention")
        return tuple(lines)

    @property
    def without_blocks(self) -> str:
        """Why `trace(…, blocks=True)` is refused; empty where what every sub-layer adds is known to the bit."""
        return self.adopted.unclear

    def refuses(self, edit: Edit) -> str:
        """Why this model cannot be changed in this way; empty where it can."""
        places, what = self.adopted.places, type(self.module).__name__
        if isinstance(edit, (PatchHidden, AddVector)):
            return "" if places.layers else f"the layers of {what} were not found."
        if isinstance(edit, SetUnit):
            reached = any(part == "feed-forward" and stream == edit.stream for _, stream, part in places.outs)
            return "" if reached else f"the hidden units of its feed-forward layers were not found in {what}."
        if isinstance(edit, SilenceLayer):
            stream = "decoder" if edit.stream == "cross" else edit.stream
            known = {part for _, at, part in places.outs if at == stream or (at, stream) == ("cross", "decoder")}
            parts = {"attention", "feed-forward"} if edit.part is None else {edit.part}
            return "" if parts <= known else f"the end of {' and '.join(sorted(parts - known))} was not found in {what}."
        if isinstance(edit, (NoResidual, NoNorm)):
            return f"{what} adds and normalises in its own code. Take one of our models, for example ex.load('bert')."
        if isinstance(edit, (MovePositions, NoPositions)):
            positioned = places.biased or any(stream == edit.stream for _, stream in places.positions)
            reached = positioned and self.adopted.way == STAGES  # elsewhere distances may enter in ways that cannot be reached
            return "" if reached else f"not every way in which {what} uses positions was found."
        if self.adopted.way == WEIGHTS:
            return f"{what} hands out its attention weights, but lets nobody change them."
        return ""

    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        ids, attention_mask = self._padded(texts)
        given: dict[str, Any] = {"attention_mask": attention_mask}
        if decoder_tokens is not None:
            target, target_mask = self._padded(decoder_tokens)
            given |= {"decoder_ids": target, "decoder_attention_mask": target_mask}
        if any(any(tokens.segments) for tokens in texts) and self._parted:
            given["token_type_ids"] = self._padded(texts, segments=True)[0]
        with torch.set_grad_enabled(follows()):
            out = self._watched(ids, given) if tap.watched() else module_outputs(self.module, ids, **given)
            return named(self.module, out, (decoder_tokens or texts)[0])

    @property
    def _parted(self) -> bool:
        """Whether it is given which of two texts a token belongs to."""
        known = "token_type_ids" in inspect.signature(self.module.forward).parameters
        return known and (getattr(self.module.config, "type_vocab_size", 0) or 0) > 1

    def _watched(self, ids: Tensor, given: dict[str, Any]) -> Any:
        with self.adopted.watched():
            if self.adopted.way == STAGES:
                return module_outputs(self.module, ids, **given)
            out = module_outputs(self.module, ids, **given, output_attentions=True)
            for stream, layers in weights_of(out, self.family).items():
                for layer, weights in enumerate(layers):
                    _tap_weights(stream, layer, weights)
            return out

    def _padded(self, many: Sequence[Tokens], *, segments: bool = False) -> tuple[Tensor, Tensor | None]:
        """A padded batch of rows, and which positions are real (None: all of them)."""
        rows = [list(tokens.segments) if segments else tokens.ids.tolist() for tokens in many]
        filled, attention_mask = padded(rows, self.device, fill=0 if segments else self.tokenizer.vocabulary.pad or 0)
        return filled, None if attention_mask is None else attention_mask.long()


def _tap_weights(stream: str, layer: int, weights: Tensor) -> None:
    """Tap the weights of a class that returns nothing else."""
    allowed = torch.ones(1, *weights.shape[-2:], dtype=torch.bool)
    allowed = allowed.tril() if stream == "decoder" and sees_no_future(weights) else allowed
    tap.tap(TapPlace.ATTENTION, stream, layer, q=None, k=None, v=None, scale=1.0, allowed=allowed[None], weights=weights)
    tap.tap(TapPlace.ATTENTION_OUT, stream, layer, output=None)


def named(module: nn.Module, out: Any, tokens: Tokens) -> dict[str, Tensor]:
    """What a class predicts, under our names."""
    names = {"prediction_logits": "lm", "seq_relationship_logits": "nsp", "sop_logits": "nsp", "start_logits": "start",
             "end_logits": "end"}  # fmt: skip
    scores = {ours: out[theirs] for theirs, ours in names.items() if theirs in out}
    logits = out.get("logits")
    if logits is None:
        return scores
    if logits.dim() == 3:
        speaks = module.get_output_embeddings() is not None and "TokenClassification" not in type(module).__name__  # type: ignore[operator]
        return {"lm" if speaks else "tags": logits, **scores}
    by_place = "PreTraining" in type(module).__name__ and logits.shape[-1] == len(tokens)
    return {"rtd" if by_place else "labels": logits, **scores}


def longest(module: Any) -> int:
    """The most tokens that a table of places, or the configuration, has room for."""
    config = module.config.get_text_config()
    known = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or HUGE
    relative = any("relative_attention_bias" in name for name, _ in module.named_modules())
    offset = next(
        (part.padding_idx + 1 for name, part in module.named_modules()
         if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None), 0,
    )  # fmt: skip
    return HUGE if relative or int(known) <= 0 else int(known) - offset
