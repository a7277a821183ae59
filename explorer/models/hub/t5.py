"""T5ForConditionalGeneration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.twins import Twin, WeightName, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config
from explorer.nn.positions import RelativeBuckets

FORWARD = {"relu": "relu", "gated-gelu": "geglu"}
FIXED: dict[str, Any] = {
    "family": "encoder-decoder", "positions": "t5", "norm": "rms", "norm_place": "pre", "embedding_norm": False, "final_norm": True,
    "bias": False, "scaled": False, "embedding_scale": False, "head_transform": False, "head_bias": False, "segments": 0,
    "next_sentence": False,
}  # fmt: skip


SETTINGS = {
    "vocab": "vocab_size", "dim": "d_model", "layers": "num_decoder_layers", "encoder_layers": "num_layers", "heads": "num_heads",
    "hidden": "d_ff", "length": "n_positions", "norm_epsilon": "layer_norm_epsilon", "start": "decoder_start_token_id",
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a T5: the class ties its head to the embeddings, and may or may not scale the last states."""
    return has(config, FIXED) and config.groups == config.heads and config.activation in FORWARD.values() and config.tied


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | {
        "num_layers": config.encoder_depth,
        "d_kv": config.dim // config.heads,
        "feed_forward_proj": their_name(FORWARD, config.activation),
        "dropout_rate": config.dropout,
        "relative_attention_num_buckets": RelativeBuckets.buckets,
        "relative_attention_max_distance": RelativeBuckets.furthest,
        "pad_token_id": config.start,
        "tie_word_embeddings": config.scaled_head,  # read by the class as: scale the last states (the head is tied all the same)
    }


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs["d_kv"] * theirs["num_heads"] != theirs["d_model"]:
        raise ChoiceError("The heads of this T5 do not fill its width; it has no twin here.")
    buckets, furthest = theirs.get("relative_attention_num_buckets", 32), theirs.get("relative_attention_max_distance", 128)
    if (buckets, furthest) != (RelativeBuckets.buckets, RelativeBuckets.furthest) or theirs["feed_forward_proj"] not in FORWARD:
        raise ChoiceError("This T5 has other distance buckets or another feed-forward layer than T5's; it has no twin here.")
    own_head = "scale_decoder_outputs" not in theirs and theirs.get("tie_word_embeddings") is False  # as T5 1.1 was published
    return Config(
        **renamed_settings(theirs, SETTINGS, layers=theirs["num_layers"], length=512, norm_epsilon=1e-6, start=0),
        activation=FORWARD[theirs["feed_forward_proj"]],
        tied=not own_head,
        scaled_head=theirs.get("scale_decoder_outputs", not own_head),
        **FIXED,
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names."""
    pairs = {"shared": "embeddings.tokens"} | ({} if config.tied else {"lm_head": "head.project"})
    for theirs, ours in (("encoder", "encoder."), ("decoder", "")):
        pairs |= {f"{theirs}.final_layer_norm": f"{ours}norm"}
        pairs |= {f"{theirs}.block.0.layer.0.SelfAttention.relative_attention_bias": f"{ours}embeddings.position.table"}
        for layer in range(config.encoder_depth if ours else config.layers):
            pairs |= _layer(f"{theirs}.block.{layer}.layer", f"{ours}layers.{layer}", config, cross=not ours)
    return tuple(WeightName(f"{theirs}.weight", (f"{ours}.weight",)) for theirs, ours in pairs.items())


def _layer(theirs: str, ours: str, config: Config, *, cross: bool) -> dict[str, str]:
    parts = {"q": "query", "k": "key", "v": "value", "o": "output"}
    weights = {f"{theirs}.0.SelfAttention.{a}": f"{ours}.attention.{b}" for a, b in parts.items()}
    weights[f"{theirs}.0.layer_norm"] = f"{ours}.after_attention.norm"
    if cross:
        weights |= {f"{theirs}.1.EncDecAttention.{a}": f"{ours}.cross.{b}" for a, b in parts.items()}
        weights[f"{theirs}.1.layer_norm"] = f"{ours}.after_cross.norm"
    last = f"{theirs}.{2 if cross else 1}"
    gated = {"wi_0": "gate", "wi_1": "widen"} if config.activation == "geglu" else {"wi": "widen"}
    weights |= {f"{last}.DenseReluDense.{a}": f"{ours}.feed_forward.{b}" for a, b in {**gated, "wo": "narrow"}.items()}
    return weights | {f"{last}.layer_norm": f"{ours}.after_feed_forward.norm"}


T5 = Twin("t5", "t5", ("T5ForConditionalGeneration",), fits, to_theirs, to_ours, names)
