"""BertForPreTraining, and BertForMaskedLM without next sentence.

SpanBERT is exported without its output layer for span boundaries, which that class does not have; what comes back is a BERT without
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.twins import Twin, WeightName, Weights, both, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config

ACTIVATIONS = {"gelu": "gelu", "relu": "relu", "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh"}
FIXED: dict[str, Any] = {
    "family": "encoder", "positions": "learned", "norm_place": "post", "embedding_norm": True, "final_norm": False,
    "head_transform": True, "head_bias": True, "tied": True,
    "norm": "layer", "bias": True, "scaled": True, "embedding_scale": False,
}  # fmt: skip


SETTINGS = {
    "vocab": "vocab_size", "dim": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads",
    "hidden": "intermediate_size", "length": "max_position_embeddings", "segments": "type_vocab_size",
    "norm_epsilon": "layer_norm_eps",
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a BERT."""
    return config.segments > 0 and config.groups == config.heads and has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | {
        "hidden_act": their_name(ACTIVATIONS, config.activation),
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
        "tie_word_embeddings": True,
        "architectures": ["BertForPreTraining" if config.next_sentence else "BertForMaskedLM"],
    }


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs.get("is_decoder") or theirs.get("position_embedding_type", "absolute") != "absolute":
        raise ChoiceError("This BERT is a decoder or has other positions than BERT's learned ones; it has no twin here.")
    architecture = (theirs.get("architectures") or ["BertForPreTraining"])[0]
    return Config(
        **renamed_settings(theirs, SETTINGS, norm_epsilon=1e-12, segments=2),
        activation=ACTIVATIONS[theirs.get("hidden_act", "gelu")],
        next_sentence=architecture == "BertForPreTraining",
        **FIXED,
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names."""
    theirs, ours = "bert.encoder.layer.{}", "layers.{}"
    pairs = (
        WeightName("bert.embeddings.word_embeddings.weight", ("embeddings.tokens.weight",)),
        WeightName("bert.embeddings.position_embeddings.weight", ("embeddings.position.table.weight",)),
        WeightName("bert.embeddings.token_type_embeddings.weight", ("embeddings.segments.weight",)),
        *both("bert.embeddings.LayerNorm", "embeddings.norm"),
        *both(f"{theirs}.attention.self.query", f"{ours}.attention.query"),
        *both(f"{theirs}.attention.self.key", f"{ours}.attention.key"),
        *both(f"{theirs}.attention.self.value", f"{ours}.attention.value"),
        *both(f"{theirs}.attention.output.dense", f"{ours}.attention.output"),
        *both(f"{theirs}.attention.output.LayerNorm", f"{ours}.after_attention.norm"),
        *both(f"{theirs}.intermediate.dense", f"{ours}.feed_forward.widen"),
        *both(f"{theirs}.output.dense", f"{ours}.feed_forward.narrow"),
        *both(f"{theirs}.output.LayerNorm", f"{ours}.after_feed_forward.norm"),
        *both("cls.predictions.transform.dense", "head.transform.dense"),
        *both("cls.predictions.transform.LayerNorm", "head.transform.norm"),
        WeightName("cls.predictions.bias", ("head.bias",)),
    )
    extra = (*both("bert.pooler.dense", "next_sentence.pool"), *both("cls.seq_relationship", "next_sentence.classify"))
    return pairs + extra if config.next_sentence else pairs


def clean(weights: Weights) -> Weights:
    """Old checkpoints call the norm's weights gamma and beta."""
    return {name.replace(".gamma", ".weight").replace(".beta", ".bias"): value for name, value in weights.items()}


BERT = Twin("bert", "bert", ("BertForPreTraining", "BertForMaskedLM"), fits, to_theirs, to_ours, names, clean)
