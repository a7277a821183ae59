"""Models without attention: ELMo, which reads letters, and word vectors, which read nothing but words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError
from explorer.model import OwnModel, check_settled
from explorer.nn.elmo import BiLM, ElmoConfig, States
from explorer.nn.static import StaticConfig, WordVectors
from explorer.nn.transformer import Transformer
from explorer.records import Tokens
from explorer.text.letters import WIDTH
from explorer.text.reading import Text
from explorer.text.tokenizers import AS_ELMO, Tokenizer


class OneText(OwnModel):
    """A model that reads one text: it has no decoder beside it, and nobody who replaces pieces."""

    @property
    def generator(self) -> None:
        """It has none."""

    def reads(self, target: Text | None) -> None:
        """It has no decoder, so there is no target."""
        if target is not None:
            raise ChoiceError(f"{self.name} reads one text and takes no target. Leave `target` out.")


class ElmoModel(OneText):
    """An ELMo with its tokenizer: it reads the letters of words, and predicts both the next word and the one before."""

    module: BiLM  # type: ignore[assignment]
    config: ElmoConfig  # type: ignore[assignment]

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.head.weight.device

    def layers(self, texts: Sequence[Text]) -> list[np.ndarray]:
        """h_k0, h_k1, … of every text, [layer, position, 2 dim]: what a task mixes. Nothing is learned here."""
        many = [self.tokens(text) for text in texts]
        states = self._states(many).layers.float().cpu().numpy()
        return [states[:, n, : len(tokens)] for n, tokens in enumerate(many)]

    @torch.no_grad()
    def _run(self, many: Sequence[Tokens], reads: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        return self.module.outputs(self._states(many))

    @torch.no_grad()
    def _states(self, many: Sequence[Tokens]) -> States:
        check_settled(self.module, self.name)
        longest = max(map(len, many))
        letters = torch.zeros(len(many), longest, WIDTH, dtype=torch.long)
        for row, tokens in enumerate(many):
            assert tokens.characters is not None, "its tokenizer was checked when the model was built"
            letters[row, : len(tokens)] = torch.tensor(tokens.characters)
        lengths = torch.tensor([len(tokens) for tokens in many])
        real = torch.arange(longest) < lengths[:, None]
        return self.module(letters.to(self.device), real.to(self.device))


class StaticModel(OneText):
    """Word vectors with their tokenizer. They say nothing about a text but where its words lie."""

    module: WordVectors  # type: ignore[assignment]
    config: StaticConfig  # type: ignore[assignment]

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.module.words.weight.device

    @torch.no_grad()
    def _run(self, many: Sequence[Tokens], reads: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        self.module(self._padded([tokens.ids.tolist() for tokens in many])[0])
        return {}

    @property
    def vectors(self) -> np.ndarray:
        """The vector of every word [word, dim]."""
        return self.module.table.detach().float().cpu().numpy()


def model_of(name: str, module: torch.nn.Module, tokenizer: Tokenizer, preset: str) -> OwnModel:
    """A network with its tokenizer, as the kind of model that it is."""
    if isinstance(module, WordVectors):
        return StaticModel(name, module, tokenizer, preset)  # type: ignore[arg-type]
    if not isinstance(module, BiLM):
        assert isinstance(module, Transformer)
        return OwnModel(name, module, tokenizer, preset)
    if tokenizer.core.token_to_id(AS_ELMO) is None:
        raise ChoiceError("An ELMo reads the letters of words: it takes a tokenizer of the kind 'characters'.")
    return ElmoModel(name, module, tokenizer, preset)  # type: ignore[arg-type]
