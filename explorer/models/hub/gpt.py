"""OpenAIGPTLMHeadModel: the first GPT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub.twins import Twin, WeightName, both, has, renamed, renamed_settings
from explorer.nn.config import Config

FIXED: dict[str, Any] = {
    "family": "decoder", "positions": "learned", "norm": "layer", "norm_place": "post", "embedding_norm": False, "final_norm": False,
    "activation": "gelu-tanh", "bias": True, "scaled": True, "embedding_scale": False, "head_transform": False, "head_bias": False,
    "segments": 0, "next_sentence": False, "tied": True,
}  # fmt: skip


SETTINGS = {
    "vocab": "vocab_size", "dim": "n_embd", "layers": "n_layer", "heads": "n_head", "length": "n_positions",
    "norm_epsilon": "layer_norm_epsilon",
}  # fmt: skip


def fits(config: Config) -> bool:
    """Whether this is a GPT: its class fixes the feed-forward layer at four times the width."""
    return has(config, FIXED) and config.groups == config.heads and config.hidden == 4 * config.dim


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | dropouts(config) | {"afn": "gelu"}  # the tanh formula, under this name in their class


def dropouts(config: Config) -> dict[str, Any]:
    """What both GPTs say of dropout and of their tied head."""
    return dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), config.dropout) | {"tie_word_embeddings": True}


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs.get("afn", "gelu") != "gelu":
        raise ChoiceError("This GPT has another activation than GPT's GELU; it has no twin here.")
    return Config(**renamed_settings(theirs, SETTINGS, norm_epsilon=1e-5), hidden=4 * theirs["n_embd"], **FIXED)


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names; theirs holds q, k and v side by side, and stores matrices turned."""
    theirs, ours = "transformer.h.{}", "layers.{}"
    return (
        WeightName("transformer.tokens_embed.weight", ("embeddings.tokens.weight",)),
        WeightName("transformer.positions_embed.weight", ("embeddings.position.table.weight",)),
        *conv_layers(theirs, ours),
        *both(f"{theirs}.ln_1", f"{ours}.after_attention.norm"),
        *both(f"{theirs}.ln_2", f"{ours}.after_feed_forward.norm"),
    )


def conv_layers(theirs: str, ours: str) -> tuple[WeightName, ...]:
    """The four matrices of a layer as both GPTs name and store them."""
    qkv = (f"{ours}.attention.query", f"{ours}.attention.key", f"{ours}.attention.value")
    return (
        *both(f"{theirs}.attn.c_attn", *qkv, turned=True),
        *both(f"{theirs}.attn.c_proj", f"{ours}.attention.output", turned=True),
        *both(f"{theirs}.mlp.c_fc", f"{ours}.feed_forward.widen", turned=True),
        *both(f"{theirs}.mlp.c_proj", f"{ours}.feed_forward.narrow", turned=True),
    )


GPT = Twin("openai-gpt", "gpt", ("OpenAIGPTLMHeadModel",), fits, to_theirs, to_ours, names)
