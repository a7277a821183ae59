"""ELMo as a model: it reads letters, and predicts both the next word and the one before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError
from explorer.errors.kinds import called
from explorer.models.model import TrainableModel, check_eval_mode
from explorer.nn.elmo import BiLM, BiLMStates, ElmoConfig
from explorer.records import Tokens
from explorer.text.letters import WIDTH
from explorer.text.reading import Text, refuse_target
from explorer.text.tokenizers import AS_ELMO, Tokenizer


@called("an ELMo, for example ex.load('elmo')")
class ElmoModel(TrainableModel):
    """An ELMo with its tokenizer: it reads the letters of words, and predicts both the next word and the one before."""

    module: BiLM
    config: ElmoConfig

    def __init__(self, name: str, module: BiLM, tokenizer: Tokenizer, preset: str) -> None:
        if tokenizer.core.token_to_id(AS_ELMO) is None:
            raise ChoiceError("An ELMo reads the letters of words: it takes a tokenizer of the kind 'characters'.")
        super().__init__(name, module, tokenizer, preset)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.head.weight.device

    def reads(self, target: Text | None) -> None:
        """It has no decoder, so there is no target."""
        refuse_target(self.name, target)

    def layers(self, texts: Sequence[Text]) -> list[np.ndarray]:
        """h_k0, h_k1, … of every text, [layer, position, 2 dim]: what a task mixes. Nothing is learned here."""
        many = [self.tokens(text) for text in texts]
        states = self._states(many).layers.float().cpu().numpy()
        return [states[:, n, : len(tokens)] for n, tokens in enumerate(many)]

    @torch.no_grad()
    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        return self.module.outputs(self._states(texts))

    @torch.no_grad()
    def _states(self, many: Sequence[Tokens]) -> BiLMStates:
        check_eval_mode(self.module, self.name)
        longest = max(map(len, many))
        letters = torch.zeros(len(many), longest, WIDTH, dtype=torch.long)
        for row, tokens in enumerate(many):
            assert tokens.characters is not None, "its tokenizer was checked when the model was built"
            letters[row, : len(tokens)] = torch.tensor(tokens.characters)
        lengths = torch.tensor([len(tokens) for tokens in many])
        real = torch.arange(longest) < lengths[:, None]
        states: BiLMStates = self.module(letters.to(self.device), real.to(self.device))
        return states
