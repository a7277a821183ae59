"""DistilBertForMaskedLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.bert import ACTIVATIONS
from explorer.models.hub.bert import FIXED as BERT_FIXED
from explorer.models.hub.twins import Twin, WeightName, both, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config

FIXED: dict[str, Any] = {**BERT_FIXED, "segments": 0, "next_sentence": False, "norm_epsilon": 1e-12}
SETTINGS = {
    "vocab": "vocab_size", "dim": "dim", "layers": "n_layers", "heads": "n_heads", "hidden": "hidden_dim",
    "length": "max_position_embeddings",
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a DistilBERT: a BERT without segments and next sentence."""
    return config.groups == config.heads and config.activation in ACTIVATIONS.values() and has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | {
        "activation": their_name(ACTIVATIONS, config.activation),
        "dropout": config.dropout,
        "attention_dropout": config.dropout,
        "sinusoidal_pos_embds": False,
        "tie_word_embeddings": True,
    }


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names. With `sinusoidal_pos_embds` they only fill the same table in another way."""
    if not theirs.get("tie_word_embeddings", True):
        raise ChoiceError("This DistilBERT has an extra matrix before the vocabulary; it has no twin here.")
    usual = {"dim": 768, "layers": 6, "heads": 12, "hidden": 3072, "length": 512, "vocab": 30522}
    return Config(
        **renamed_settings(theirs, SETTINGS, **usual), activation=ACTIVATIONS[theirs.get("activation", "gelu")], **FIXED
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names."""
    theirs, ours = "distilbert.transformer.layer.{}", "layers.{}"
    return (
        WeightName("distilbert.embeddings.word_embeddings.weight", ("embeddings.tokens.weight",)),
        WeightName("distilbert.embeddings.position_embeddings.weight", ("embeddings.position.table.weight",)),
        *both("distilbert.embeddings.LayerNorm", "embeddings.norm"),
        *both(f"{theirs}.attention.q_lin", f"{ours}.attention.query"),
        *both(f"{theirs}.attention.k_lin", f"{ours}.attention.key"),
        *both(f"{theirs}.attention.v_lin", f"{ours}.attention.value"),
        *both(f"{theirs}.attention.out_lin", f"{ours}.attention.output"),
        *both(f"{theirs}.sa_layer_norm", f"{ours}.after_attention.norm"),
        *both(f"{theirs}.ffn.lin1", f"{ours}.feed_forward.widen"),
        *both(f"{theirs}.ffn.lin2", f"{ours}.feed_forward.narrow"),
        *both(f"{theirs}.output_layer_norm", f"{ours}.after_feed_forward.norm"),
        *both("vocab_transform", "head.transform.dense"),
        *both("vocab_layer_norm", "head.transform.norm"),
        WeightName("vocab_projector.bias", ("head.bias",)),
    )


DISTILBERT = Twin("distilbert", "distilbert", ("DistilBertForMaskedLM",), fits, to_theirs, to_ours, names)
