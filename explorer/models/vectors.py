"""Word vectors as a model: one vector for each word. They say nothing about a text but where its words lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.errors.kinds import called
from explorer.models.model import TrainableModel, padded
from explorer.nn.static import StaticConfig, WordVectors
from explorer.records import Tokens
from explorer.text.reading import Text, refuse_target
from explorer.text.tokenizers import Tokenizer


@called("word vectors, for example ex.load('word2vec')")
class StaticModel(TrainableModel):
    """Word vectors with their tokenizer. They say nothing about a text but where its words lie."""

    module: WordVectors
    config: StaticConfig

    def __init__(self, name: str, module: WordVectors, tokenizer: Tokenizer, preset: str) -> None:
        super().__init__(name, module, tokenizer, preset)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.words.weight.device

    @property
    def vectors(self) -> np.ndarray:
        """The vector of every word [word, dim]."""
        return self.module.table.detach().float().cpu().numpy()

    def reads(self, target: Text | None) -> None:
        """They have no decoder, so there is no target."""
        refuse_target(self.name, target)

    @torch.no_grad()
    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        self.module(padded([tokens.ids.tolist() for tokens in texts], self.device)[0])
        return {}
