"""Models of every kind are siblings: one protocol, no kind a subclass of another, and nothing that a kind says of itself is wrong."""

from __future__ import annotations

import ast
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

import explorer as ex
from explorer.errors import ChoiceError
from explorer.models import model as shared
from explorer.models import ngram, store
from explorer.models.elmo import ElmoModel
from explorer.models.factory import model_of
from explorer.models.hub.foreign import HubModel
from explorer.models.model import Model, TrainableModel, trainable
from explorer.models.ngram import NGram
from explorer.models.transformer import TransformerModel, transformer
from explorer.models.vectors import StaticModel
from explorer.records import SilenceHead

ROOT = Path(__file__).parent.parent
KINDS = (TransformerModel, ElmoModel, StaticModel, HubModel, NGram)
MEMBERS = [name for name in vars(Model) if not name.startswith("_")] + list(Model.__annotations__)


def counted() -> NGram:
    tokenizer = ex.load("gpt2").tokenizer
    return ngram.train(ngram.token_rows(["The dog ran.", "The cat ran."], tokenizer), tokenizer)


def opened(kind: type) -> Model:
    names = {TransformerModel: "bert", ElmoModel: "elmo", StaticModel: "word2vec"}
    if kind is NGram:
        return counted()
    if kind is HubModel:
        from transformers import GPT2Config, GPT2LMHeadModel

        tokenizer = ex.load("gpt2").tokenizer
        config = GPT2Config(vocab_size=tokenizer.vocabulary.size, n_embd=16, n_layer=1, n_head=2, n_positions=32)
        return ex.load((GPT2LMHeadModel(config).eval(), tokenizer))
    return ex.load(names[kind], device="cpu")


def test_no_kind_is_a_subclass_of_another() -> None:
    for kind in KINDS:
        for other in KINDS:
            assert kind is other or not issubclass(kind, other), f"{kind.__name__} is no {other.__name__}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_all_that_the_protocol_names(kind: type) -> None:
    assert {"name", "family", "tokenizer", "streams", "module", "device", "tokens", "run", "outputs_many"} <= set(MEMBERS)
    model = opened(kind)
    assert type(model) is kind and [name for name in MEMBERS if not hasattr(model, name)] == []
    assert isinstance(model.module, torch.nn.Module) and isinstance(model.device, torch.device)
    text = "The dog ran."
    tokens = model.tokens(text)
    alone, both = model.outputs(text), model.outputs_many([text, "The cat ran."])
    for name, scores in model.run(tokens, model.reads(None)).items():
        np.testing.assert_allclose(scores[0].numpy(), alone[name], atol=1e-5)
        np.testing.assert_allclose(both[0][name], alone[name], atol=1e-4)
    with pytest.raises(ChoiceError, match="takes no target"):
        model.reads("The cat ran.")
    assert isinstance(model.notes, tuple) and isinstance(model.refuses(SilenceHead("encoder", 0, 0)), str)


def test_a_kind_says_what_its_network_is() -> None:
    for kind in (TransformerModel, ElmoModel, StaticModel):
        model = opened(kind)
        assert isinstance(model, TrainableModel) and trainable(model) is model
        assert type(model.module).__name__ == kind.__annotations__["module"]
        assert type(model.config).__name__ == kind.__annotations__["config"]
        again = model_of(model.name, model.module, model.tokenizer, model.preset)
        assert type(again) is kind
    with pytest.raises(ChoiceError, match="is a ElmoModel; this takes one of our own Transformers"):
        transformer(opened(ElmoModel))
    with pytest.raises(ChoiceError, match="NGram, which cannot be trained"):
        trainable(counted())
    with pytest.raises(ChoiceError, match="no network of this package"):
        model_of("x", torch.nn.Linear(1, 1), opened(StaticModel).tokenizer, "x")


def test_models_pickle() -> None:
    for kind in (TransformerModel, ElmoModel, StaticModel):
        model = opened(kind)
        again = pickle.loads(pickle.dumps(model))
        assert vars(again).keys() == vars(model).keys() and (again.name, again.config) == (model.name, model.config)


def test_opening_promises_a_model() -> None:
    for function in (ex.load, store.read, store.open_by_name):
        assert inspect.signature(function).return_annotation == "Model"
    assert inspect.signature(ex.build).return_annotation == "TrainableModel"


def test_no_model_lies_about_its_types() -> None:
    """The files of the kinds need no `type: ignore`: what a class declares is what it holds."""
    for name in ("model", "transformer", "elmo", "vectors", "ngram", "factory", "store", "load"):
        path = ROOT / "explorer" / "models" / f"{name}.py"
        assert "type: ignore" not in path.read_text("utf-8"), path.name
        assert ast.parse(path.read_text("utf-8"))
    assert not hasattr(shared, "TransformerModel"), "what all share knows no kind"
