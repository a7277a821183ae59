"""LlamaForCausalLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.twins import Twin, WeightName, has, renamed, renamed_settings
from explorer.nn.config import Config

FIXED: dict[str, Any] = {
    "family": "decoder", "positions": "rope", "norm": "rms", "norm_place": "pre", "embedding_norm": False, "final_norm": True,
    "activation": "swiglu", "bias": False, "scaled": True, "embedding_scale": False, "head_transform": False, "head_bias": False,
    "segments": 0, "next_sentence": False,
}  # fmt: skip


SETTINGS = {
    "vocab": "vocab_size", "dim": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads",
    "hidden": "intermediate_size", "length": "max_position_embeddings", "norm_epsilon": "rms_norm_eps", "tied": "tie_word_embeddings",
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a LLaMA."""
    return has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | attention_to_theirs(config) | {"mlp_bias": False}


def attention_to_theirs(config: Config) -> dict[str, Any]:
    """What all of LLaMA's kind say of their attention, under their names."""
    return {
        "num_key_value_heads": config.groups, "hidden_act": "silu", "attention_bias": False, "attention_dropout": config.dropout,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_base},
    }  # fmt: skip


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    return Config(
        **renamed_settings(theirs, SETTINGS, norm_epsilon=1e-6, tied=False), **attention_to_ours(theirs, "LLaMA"), **FIXED
    )


def attention_to_ours(theirs: Mapping[str, Any], who: str) -> dict[str, Any]:
    """The groups of heads and the speed of RoPE; what ours has no place for is refused."""
    rope = theirs.get("rope_parameters") or theirs.get("rope_scaling") or {}
    base, kind = rope.get("rope_theta", theirs.get("rope_theta", 10000.0)), rope.get("rope_type", rope.get("type", "default"))
    share = rope.get("partial_rotary_factor", 1.0)
    width = theirs.get("head_dim") or theirs["hidden_size"] // theirs["num_attention_heads"]
    if kind != "default" or share != 1 or width * theirs["num_attention_heads"] != theirs["hidden_size"]:
        raise ChoiceError(
            f"This {who} rotates its positions in another way than the first RoPE, or its heads do not fill the width; it has no twin "
            "here."
        )
    if theirs.get("attention_bias") or theirs.get("mlp_bias") or theirs.get("hidden_act", "silu") != "silu":
        raise ChoiceError(f"This {who} has biases or another activation than LLaMA's SiLU; it has no twin here.")
    return {"kv_heads": theirs.get("num_key_value_heads") or theirs["num_attention_heads"], "rope_base": base}


def names(config: Config) -> tuple[WeightName, ...]:
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
    return tuple(WeightName(f"{theirs}.weight", (f"{ours}.weight",)) for theirs, ours in pairs.items())


LLAMA = Twin("llama", "llama", ("LlamaForCausalLM",), fits, to_theirs, to_ours, names)
