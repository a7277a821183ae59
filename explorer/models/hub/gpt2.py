"""GPT2LMHeadModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.bert import ACTIVATIONS
from explorer.models.hub.gpt import SETTINGS, conv_layers, dropouts
from explorer.models.hub.twins import Twin, WeightName, Weights, both, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config

FIXED: dict[str, Any] = {
    "family": "decoder", "positions": "learned", "norm_place": "pre", "embedding_norm": False, "final_norm": True,
    "head_transform": False, "head_bias": False, "segments": 0, "next_sentence": False, "tied": True,
    "norm": "layer", "bias": True, "scaled": True, "embedding_scale": False,
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a GPT-2."""
    return config.groups == config.heads and has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    own = {"n_inner": config.hidden, "activation_function": their_name(ACTIVATIONS, config.activation)}
    return renamed(config, SETTINGS) | dropouts(config) | own | {"bos_token_id": None, "eos_token_id": None}


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs.get("scale_attn_by_inverse_layer_idx") or not theirs.get("scale_attn_weights", True):
        raise ChoiceError("This GPT-2 scales its attention by layer or not at all; it has no twin here.")
    return Config(
        **renamed_settings(theirs, SETTINGS, norm_epsilon=1e-5),
        hidden=theirs.get("n_inner") or 4 * theirs["n_embd"],
        activation=ACTIVATIONS[theirs.get("activation_function", "gelu_new")],
        **FIXED,
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names; theirs holds q, k and v side by side, and stores matrices turned."""
    theirs, ours = "transformer.h.{}", "layers.{}"
    return (
        WeightName("transformer.wte.weight", ("embeddings.tokens.weight",)),
        WeightName("transformer.wpe.weight", ("embeddings.position.table.weight",)),
        *conv_layers(theirs, ours),
        *both(f"{theirs}.ln_1", f"{ours}.after_attention.norm"),
        *both(f"{theirs}.ln_2", f"{ours}.after_feed_forward.norm"),
        *both("transformer.ln_f", "norm"),
    )


def clean(weights: Weights) -> Weights:
    """The published checkpoint has no `transformer.` before its names."""
    if any(name.startswith("transformer.") for name in weights):
        return weights
    return {f"transformer.{name}": value for name, value in weights.items()}


GPT2 = Twin("gpt2", "gpt2", ("GPT2LMHeadModel",), fits, to_theirs, to_ours, names, clean)
