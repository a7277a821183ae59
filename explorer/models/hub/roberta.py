"""RobertaForMaskedLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from explorer.errors import ChoiceError
from explorer.models.hub import bert
from explorer.models.hub.twins import Twin, WeightName, Weights, both, has, renamed, renamed_settings
from explorer.nn.config import Config

FIXED: dict[str, Any] = bert.FIXED | {"segments": 0, "next_sentence": False, "activation": "gelu"}
SETTINGS = {ours: theirs for ours, theirs in bert.SETTINGS.items() if ours not in ("segments", "length")}
PAD = 1  # places are counted from the id of padding: the first word has row 2 of their table
SPARE, SEGMENT, PLACES = (
    PAD + 1,
    "roberta.embeddings.token_type_embeddings.weight",
    "roberta.embeddings.position_embeddings.weight",
)


def fits(config: Config) -> bool:
    """Whether this is a RoBERTa."""
    return config.groups == config.heads and has(config, FIXED)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | {
        "max_position_embeddings": config.length + SPARE,
        "type_vocab_size": 1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
        "tie_word_embeddings": True,
    }


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs.get("is_decoder") or theirs.get("position_embedding_type", "absolute") != "absolute":
        raise ChoiceError("This RoBERTa is a decoder or has other positions than RoBERTa's learned ones; it has no twin here.")
    if (
        theirs.get("type_vocab_size", 2) != 1
        or theirs.get("pad_token_id", PAD) != PAD
        or theirs.get("hidden_act", "gelu") != "gelu"
    ):
        raise ChoiceError(
            "This RoBERTa distinguishes segments, pads with another id than 1, or has another activation than GELU; it has no twin here."
        )
    return Config(
        **renamed_settings(theirs, SETTINGS, norm_epsilon=1e-12), length=theirs["max_position_embeddings"] - SPARE, **FIXED
    )


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names: BERT's, with another head. Their single segment is always added: ours has none."""
    kept = [
        name for name in bert.names(config) if name.theirs.startswith("bert.encoder.") or "embeddings.LayerNorm" in name.theirs
    ]
    return (
        WeightName("roberta.embeddings.word_embeddings.weight", ("embeddings.tokens.weight",)),
        WeightName(PLACES, ("embeddings.position.table.weight",), spare=SPARE),
        WeightName(SEGMENT, ("no segment",), theirs_only=True),
        *(WeightName(name.theirs.replace("bert.", "roberta.", 1), name.ours) for name in kept),
        *both("lm_head.dense", "head.transform.dense"),
        *both("lm_head.layer_norm", "head.transform.norm"),
        WeightName("lm_head.bias", ("head.bias",)),
    )


def clean(weights: Weights) -> Weights:
    """The vector of the single segment is added to every place, since both are added to every word."""
    weights = bert.clean(weights)
    if not {PLACES, SEGMENT} <= set(weights):
        return weights
    return weights | {PLACES: weights[PLACES] + weights[SEGMENT][0]}


def ready(config: Config, weights: Weights) -> Weights:
    """A segment that adds nothing."""
    return weights | {"no segment": torch.zeros(1, config.dim)}


ROBERTA = Twin("roberta", "roberta", ("RobertaForMaskedLM",), fits, to_theirs, to_ours, names, clean, ready, pad=PAD)
