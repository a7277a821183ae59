"""Masked models that fill several blanks: ours, and live ones of the transformers library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from explorer.decoding import Blanks, huggingface
from explorer.decoding.filling import filling_steps
from explorer.errors import ChoiceError, TextError
from explorer.models.finetuned import below
from explorer.models.hub.foreign import HubModel
from explorer.models.model import check_eval_mode
from explorer.models.transformer import TransformerModel
from explorer.records import FillingStep, Tokens
from explorer.text.reading import Text, as_tokens, blanks_as_tokens
from explorer.text.tokenizers import Tokenizer

ANOTHER = " Take ex.load('bert')."
MOST = 40  # blanks: with more of them a page waits for minutes


def filled(
    model: Any, text: Text, *, order: str = "left", rounds: int | None = None, candidates: int = 10
) -> Iterator[FillingStep]:
    """One step for each blank of `text` (`___` or the mask token), or `rounds` over all of them in the order "mask-predict"."""
    pair = isinstance(model, tuple) and len(model) == 2
    name = huggingface.name_of(model[0]) if pair else getattr(model, "name", type(model).__name__)
    tokenizer = huggingface.as_our_tokenizer(model[1]) if pair else getattr(model, "tokenizer", None)
    masked = pair or _is_masked(model)
    if not masked or tokenizer is None or tokenizer.vocabulary.mask is None:
        raise ChoiceError(f"{name} does not fill blanks: it is not a masked model with a mask token.{below(model) or ANOTHER}")
    given = blanks_as_tokens(text, tokenizer)
    tokens = as_tokens(given, tokenizer) if pair else model.tokens(given)
    if (count := int((tokens.ids == tokenizer.vocabulary.mask).sum())) > MOST:
        raise TextError(f"The text has {count} blanks, and each needs a forward pass; at most {MOST} are filled.")
    never = [*tokenizer.vocabulary.special]
    read = _reader(model[0]) if pair else lambda ids: model.outputs(_tokens(tokens, ids, tokenizer))["lm"]
    blanks = Blanks(
        name, tokens.ids.copy(), tokenizer.vocabulary.mask, never, read, lambda ids: _tokens(tokens, ids, tokenizer),
        tokenizer.text_of, candidates,
    )  # fmt: skip
    return filling_steps(blanks, order, rounds)


def _is_masked(model: Any) -> bool:
    """Whether a model, ours or one of transformers', predicts the tokens of a text that it reads from both sides."""
    if isinstance(model, HubModel):
        return model.family == "encoder" and model.module.get_output_embeddings() is not None
    return isinstance(model, TransformerModel) and model.family == "encoder" and not model.config.replaced


def _tokens(before: Tokens, ids: np.ndarray, tokenizer: Tokenizer) -> Tokens:
    """The text with these ids, in the same segments."""
    tokens = tokenizer.tokens(ids.tolist())
    return replace(tokens, segments=before.segments)


def _reader(module: Any) -> Any:
    """What a live masked model says to ids."""
    check_eval_mode(module, huggingface.name_of(module))

    @torch.inference_mode()
    def read(ids: np.ndarray) -> np.ndarray:
        out = module(input_ids=torch.as_tensor(ids[None], device=module.device))
        scores = out.get("logits", out.get("prediction_logits"))
        if scores is None or scores.dim() != 3:
            raise ChoiceError(f"{huggingface.name_of(module)} has no scores over the vocabulary. Open it as …ForMaskedLM.")
        row: np.ndarray = scores[0].float().cpu().numpy()
        return row

    return read
