"""A network with its tokenizer, as the kind of model that it is."""

from __future__ import annotations

from torch import nn

from explorer.errors import ChoiceError
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.nn.elmo import BiLM
from explorer.nn.static import WordVectors
from explorer.nn.transformer import Transformer
from explorer.text.tokenizers import Tokenizer


def model_of(name: str, module: nn.Module, tokenizer: Tokenizer, preset: str) -> TrainableModel:
    """A network with its tokenizer, as the kind of model that it is."""
    if isinstance(module, Transformer):
        return TransformerModel(name, module, tokenizer, preset)
    if isinstance(module, BiLM):
        return ElmoModel(name, module, tokenizer, preset)
    if isinstance(module, WordVectors):
        return StaticModel(name, module, tokenizer, preset)
    raise ChoiceError(f"A {type(module).__name__} is no network of this package.")
