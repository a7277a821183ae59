"""One of our Transformers as a model: an encoder, a decoder, or both."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.errors import ChoiceError
from explorer.errors.kinds import called
from explorer.models.model import Model, TrainableModel, check_eval_mode, follows, padded
from explorer.nn.config import Config
from explorer.nn.transformer import Transformer
from explorer.records import Tokens
from explorer.text.tokenizers import Tokenizer


@called("a Transformer, for example ex.load('bert')")
class TransformerModel(TrainableModel):
    """One of our Transformers with its tokenizer."""

    module: Transformer
    config: Config

    def __init__(self, name: str, module: Transformer, tokenizer: Tokenizer, preset: str) -> None:
        super().__init__(name, module, tokenizer, preset)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.embeddings.tokens.weight.device

    @property
    def start(self) -> int:
        """The token that a decoder beside an encoder begins with."""
        return self.config.start

    @property
    def generator(self) -> TransformerModel | None:
        """The smaller masked model that replaced tokens while this one was trained; None where there is none."""
        module = self.module.generator
        return (
            None if module is None else TransformerModel(f"the generator of {self.name}", module, self.tokenizer, self.preset)
        )

    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        """Texts as ids [batch, position], padded, through the network: raw scores by name."""
        check_eval_mode(self.module, self.name)
        with torch.set_grad_enabled(follows()):
            ids, attention_mask = padded([t.ids.tolist() for t in texts], self.device)
            if decoder_tokens is not None:
                target, _ = padded([t.ids.tolist() for t in decoder_tokens], self.device)
                hidden = self.module.decode(self.module.encode(ids, attention_mask), target, attention_mask)
            else:
                segments = padded([list(t.segments) for t in texts], self.device)[0] if self.config.segments else None
                hidden = self.module(ids, segments, attention_mask)  # [batch, position, dim]
            return self.module.outputs(hidden)


def transformer(model: Model) -> TransformerModel:
    """The same model, where it is one of our Transformers; else an error that says what it is."""
    if not isinstance(model, TransformerModel):
        raise ChoiceError(f"{model.name} is a {type(model).__name__}; this takes one of our own Transformers.")
    return model
