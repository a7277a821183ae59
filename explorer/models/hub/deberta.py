"""DebertaV2ForMaskedLM, with the head that fills blanks (legacy=False) and without the enhanced mask decoder, which it has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.bert import ACTIVATIONS, SETTINGS
from explorer.models.hub.twins import Twin, WeightName, both, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config

FIXED: dict[str, Any] = {
    "family": "encoder", "positions": "disentangled", "norm_place": "post", "embedding_norm": True, "final_norm": False,
    "head_transform": True, "head_bias": True, "tied": True, "norm": "layer", "bias": True, "scaled": True,
    "embedding_scale": False, "next_sentence": False, "scaled_head": False, "mask_decoder": False,
}  # fmt: skip
THEIRS: dict[str, Any] = {
    "relative_attention": True, "position_buckets": -1, "pos_att_type": ["c2p", "p2c"], "share_att_key": True,
    "norm_rel_ebd": "layer_norm", "position_biased_input": False, "legacy": False, "conv_kernel_size": 0,
}  # fmt: skip
OTHERWISE: dict[str, Any] = {  # what their class takes where the file is silent
    "relative_attention": False, "pos_att_type": [], "share_att_key": False, "norm_rel_ebd": "none",
    "position_biased_input": True, "legacy": True,
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a DeBERTa."""
    return config.groups == config.heads and config.activation in ACTIVATIONS.values() and has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return (
        renamed(config, SETTINGS)
        | THEIRS
        | {
            "max_relative_positions": config.length,
            "hidden_act": their_name(ACTIVATIONS, config.activation),
            "hidden_dropout_prob": config.dropout,
            "attention_probs_dropout_prob": config.dropout,
            "tie_word_embeddings": True,
        }
    )


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    given = THEIRS | OTHERWISE | dict(theirs)
    kinds = given["pos_att_type"] or []
    given["pos_att_type"] = sorted(kinds.lower().split("|") if isinstance(kinds, str) else kinds)
    given["position_buckets"] = max(given["position_buckets"], 0) or -1
    wrong = [f"{name}={given[name]!r}, here {wanted!r}" for name, wanted in THEIRS.items() if given[name] != wanted]
    length = theirs.get("max_position_embeddings", 512)
    if theirs.get("max_relative_positions", -1) not in (-1, length):
        wrong.append("max_relative_positions, here as many as there are positions")
    if theirs.get("embedding_size", theirs["hidden_size"]) != theirs["hidden_size"]:
        wrong.append("embeddings of another width than its layers")
    if wrong:
        raise ChoiceError(f"This DeBERTa is of another kind than ours and has no twin here: {'; '.join(wrong)}.")
    return Config(
        **renamed_settings(theirs, SETTINGS, norm_epsilon=1e-7, segments=0, length=512),
        activation=ACTIVATIONS[theirs.get("hidden_act", "gelu")],
        **FIXED,
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names."""
    theirs, ours = "deberta.encoder.layer.{}", "layers.{}"
    segments = (WeightName("deberta.embeddings.token_type_embeddings.weight", ("embeddings.segments.weight",)),)
    return (
        WeightName("deberta.embeddings.word_embeddings.weight", ("embeddings.tokens.weight",)),
        *(segments if config.segments else ()),
        *both("deberta.embeddings.LayerNorm", "embeddings.norm"),
        WeightName("deberta.encoder.rel_embeddings.weight", ("embeddings.position.table.weight",)),
        *both("deberta.encoder.LayerNorm", "embeddings.position.norm"),
        *both(f"{theirs}.attention.self.query_proj", f"{ours}.attention.query"),
        *both(f"{theirs}.attention.self.key_proj", f"{ours}.attention.key"),
        *both(f"{theirs}.attention.self.value_proj", f"{ours}.attention.value"),
        *both(f"{theirs}.attention.output.dense", f"{ours}.attention.output"),
        *both(f"{theirs}.attention.output.LayerNorm", f"{ours}.after_attention.norm"),
        *both(f"{theirs}.intermediate.dense", f"{ours}.feed_forward.widen"),
        *both(f"{theirs}.output.dense", f"{ours}.feed_forward.narrow"),
        *both(f"{theirs}.output.LayerNorm", f"{ours}.after_feed_forward.norm"),
        *both("lm_predictions.lm_head.dense", "head.transform.dense"),
        *both("lm_predictions.lm_head.LayerNorm", "head.transform.norm"),
        WeightName("lm_predictions.lm_head.bias", ("head.bias",)),
    )


DEBERTA = Twin("deberta-v2", "deberta", ("DebertaV2ForMaskedLM",), fits, to_theirs, to_ours, names)
