"""BartForConditionalGeneration, MarianMTModel and PegasusForConditionalGeneration: the same names, other settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from explorer.errors import ChoiceError
from explorer.models.hub.bert import ACTIVATIONS
from explorer.models.hub.twins import Twin, WeightName, Weights, both, has, renamed, renamed_settings, their_name
from explorer.nn.config import Config
from explorer.nn.positions import PositionContext, SinusoidalHalves

SHARED: dict[str, Any] = {
    "family": "encoder-decoder", "norm": "layer", "norm_epsilon": 1e-5, "bias": True,
    "scaled": True, "tied": True, "head_transform": False, "head_bias": True, "scaled_head": False, "segments": 0,
    "next_sentence": False,
}  # fmt: skip
BART_ONLY: dict[str, Any] = {"positions": "learned", "norm_place": "post", "embedding_norm": True, "final_norm": False}
MARIAN_ONLY: dict[str, Any] = {"norm_place": "post", "embedding_norm": False, "final_norm": False}
PEGASUS_ONLY: dict[str, Any] = {"norm_place": "pre", "embedding_norm": False, "final_norm": True}
CURVES = "curves of the places"
SPARE = 2  # BART's position tables begin with two rows that are never used


SETTINGS = {
    "vocab": "vocab_size", "dim": "d_model", "layers": "decoder_layers", "heads": "decoder_attention_heads", "hidden": "decoder_ffn_dim",
    "length": "max_position_embeddings", "embedding_scale": "scale_embedding", "start": "decoder_start_token_id",
}  # fmt: skip


def fits(fixed: dict[str, Any], config: Config) -> bool:
    """Whether this is one of them."""
    places = "positions" in fixed or config.positions in ("sinusoidal", "sinusoidal-halves")
    return places and config.groups == config.heads and has(config, SHARED | fixed)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | {
        "encoder_layers": config.encoder_depth,
        "encoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.hidden,
        "activation_function": their_name(ACTIVATIONS, config.activation),
        "dropout": config.dropout,
        "pad_token_id": config.start,
        "tie_word_embeddings": True,
    }


def to_ours(fixed: dict[str, Any], theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    for name in ("attention_heads", "ffn_dim"):
        if theirs[f"encoder_{name}"] != theirs[f"decoder_{name}"]:
            raise ChoiceError(f"Its encoder and decoder have different {name}; it has no twin here.")
    if theirs.get("activation_function", "gelu") not in ACTIVATIONS:
        raise ChoiceError(f"Its activation {theirs['activation_function']!r} is not known here; it has no twin.")
    return Config(
        **renamed_settings(theirs, SETTINGS, embedding_scale=False, start=0),
        encoder_layers=theirs["encoder_layers"],
        activation=ACTIVATIONS[theirs.get("activation_function", "gelu")],
        **{"positions": "sinusoidal-halves", **SHARED, **fixed},
    )


def names(tables: bool, config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names; `tables` says whether position tables are stored."""
    weights = [
        WeightName("model.shared.weight", ("embeddings.tokens.weight",)),
        WeightName("final_logits_bias", ("head.bias",), row=True),
    ]
    for theirs, ours in (("model.encoder", "encoder."), ("model.decoder", "")):
        depth = config.encoder_depth if ours else config.layers
        if tables:
            weights.append(
                WeightName(f"{theirs}.embed_positions.weight", (f"{ours}embeddings.position.table.weight",), spare=SPARE)
            )
            weights += both(f"{theirs}.layernorm_embedding", f"{ours}embeddings.norm")
        if config.final_norm:  # PEGASUS, whose class also stores its curves
            weights.append(WeightName(f"{theirs}.embed_positions.weight", (CURVES,), theirs_only=True))
            weights += both(f"{theirs}.layer_norm", f"{ours}norm")
        for layer in range(depth):
            weights += _layer(f"{theirs}.layers.{layer}", f"{ours}layers.{layer}", cross=not ours)
    return tuple(weights)


def _layer(theirs: str, ours: str, *, cross: bool) -> list[WeightName]:
    weights = _attention(f"{theirs}.self_attn", f"{ours}.attention")
    weights += both(f"{theirs}.self_attn_layer_norm", f"{ours}.after_attention.norm")
    if cross:
        weights += _attention(f"{theirs}.encoder_attn", f"{ours}.cross")
        weights += both(f"{theirs}.encoder_attn_layer_norm", f"{ours}.after_cross.norm")
    weights += both(f"{theirs}.fc1", f"{ours}.feed_forward.widen")
    weights += both(f"{theirs}.fc2", f"{ours}.feed_forward.narrow")
    return [*weights, *both(f"{theirs}.final_layer_norm", f"{ours}.after_feed_forward.norm")]


def _attention(theirs: str, ours: str) -> list[WeightName]:
    parts = (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "output"))
    return [name for mine, our in parts for name in both(f"{theirs}.{mine}", f"{ours}.{our}")]


def in_halves(config: Config, weights: Weights) -> Weights:
    """Weights of a model whose sinusoids are interleaved, with the dimensions put in Marian's order: sines first, then cosines.

    The order of dimensions does not matter to a Transformer as long as all matrices that read or write them agree.
    """
    if config.positions != "sinusoidal":
        return weights
    order = torch.cat([torch.arange(0, config.dim, 2), torch.arange(1, config.dim, 2)])
    rows = ("output.weight", "output.bias", "narrow.weight", "narrow.bias", "norm.weight", "norm.bias")  # they write dimensions
    columns = ("tokens.weight", "query.weight", "key.weight", "value.weight", "widen.weight")  # they read dimensions
    return {
        name: value[order] if name.endswith(rows) else value[:, order] if name.endswith(columns) else value
        for name, value in weights.items()
    }


def with_curves(config: Config, weights: Weights) -> Weights:
    """The same, and the table of sinusoids."""
    curves = SinusoidalHalves(PositionContext(config.dim, config.heads, config.length, causal=False))
    return in_halves(config, weights) | {CURVES: curves.add(torch.arange(config.length))}


def twin(kind: str, preset: str, architecture: str, fixed: dict[str, Any], tables: bool) -> Twin:
    """One of the three."""
    ways = (partial(fits, fixed), to_theirs, partial(to_ours, fixed), partial(names, tables))
    return Twin(kind, preset, (architecture,), *ways, ready=with_curves if fixed.get("final_norm") else in_halves)


BART = twin("bart", "bart", "BartForConditionalGeneration", BART_ONLY, tables=True)
MARIAN = twin("marian", "transformer", "MarianMTModel", MARIAN_ONLY, tables=False)
PEGASUS = twin("pegasus", "pegasus", "PegasusForConditionalGeneration", PEGASUS_ONLY, tables=False)
