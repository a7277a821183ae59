"""LlamaForCausalLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.hub.twins import Name, Twin
from explorer.nn.config import Config

FIXED: dict[str, Any] = {
    "family": "decoder", "positions": "rope", "norm": "rms", "norm_place": "pre", "embedding_norm": False, "final_norm": True,
    "activation": "swiglu", "bias": False, "scaled": True, "embedding_scale": False, "head_transform": False, "head_bias": False,
    "segments": 0, "next_sentence": False,
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a LLaMA."""
    return all(getattr(config, name) == value for name, value in FIXED.items())


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return {
        "vocab_size": config.vocab,
        "hidden_size": config.dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.groups,
        "intermediate_size": config.hidden,
        "max_position_embeddings": config.length,
        "rms_norm_eps": config.norm_epsilon,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "attention_dropout": config.dropout,
        "tie_word_embeddings": config.tied,
    }


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    rope = theirs.get("rope_parameters") or theirs.get("rope_scaling") or {}
    base, kind = rope.get("rope_theta", theirs.get("rope_theta", 10000.0)), rope.get("rope_type", "default")
    width = theirs.get("head_dim") or theirs["hidden_size"] // theirs["num_attention_heads"]
    if base != 10000.0 or kind != "default" or width * theirs["num_attention_heads"] != theirs["hidden_size"]:
        raise ChoiceError(
            "This LLaMA turns its positions at another speed, or its heads do not fill the width; it has no twin here."
        )
    if theirs.get("attention_bias") or theirs.get("mlp_bias") or theirs.get("hidden_act", "silu") != "silu":
        raise ChoiceError("This LLaMA has biases or another activation than LLaMA's SiLU; it has no twin here.")
    return Config(
        vocab=theirs["vocab_size"],
        dim=theirs["hidden_size"],
        layers=theirs["num_hidden_layers"],
        heads=theirs["num_attention_heads"],
        kv_heads=theirs.get("num_key_value_heads") or theirs["num_attention_heads"],
        hidden=theirs["intermediate_size"],
        length=theirs["max_position_embeddings"],
        norm_epsilon=theirs.get("rms_norm_eps", 1e-6),
        tied=theirs.get("tie_word_embeddings", False),
        **FIXED,
    )


def names(config: Config) -> tuple[Name, ...]:
    """Every weight under both names."""
    attention, forward = "model.layers.{}.self_attn", "model.layers.{}.mlp"
    pairs = {
        "model.embed_tokens": "embeddings.tokens",
        f"{attention}.q_proj": "layers.{}.attention.query",
        f"{attention}.k_proj": "layers.{}.attention.key",
        f"{attention}.v_proj": "layers.{}.attention.value",
        f"{attention}.o_proj": "layers.{}.attention.output",
        f"{forward}.gate_proj": "layers.{}.feed_forward.gate",
        f"{forward}.up_proj": "layers.{}.feed_forward.widen",
        f"{forward}.down_proj": "layers.{}.feed_forward.narrow",
        "model.layers.{}.input_layernorm": "layers.{}.after_attention.norm",
        "model.layers.{}.post_attention_layernorm": "layers.{}.after_feed_forward.norm",
        "model.norm": "norm",
    } | ({} if config.tied else {"lm_head": "head.project"})
    return tuple(Name(f"{theirs}.weight", (f"{ours}.weight",)) for theirs, ours in pairs.items())


LLAMA = Twin("llama", "llama", ("LlamaForCausalLM",), fits, to_theirs, to_ours, names)
