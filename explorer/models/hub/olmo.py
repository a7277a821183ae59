"""OlmoForCausalLM and Olmo2ForCausalLM: LLaMA's weights by LLaMA's names; what differs is the norms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub import llama
from explorer.models.hub.twins import Twin, WeightName, has, renamed, renamed_settings
from explorer.nn.config import Config

FIXED: dict[str, Any] = llama.FIXED | {"norm": "bare", "norm_epsilon": 1e-5}  # their class has this epsilon written into it
FIXED_2: dict[str, Any] = llama.FIXED | {"norm_place": "inside", "qk_norm": True}
SETTINGS = {ours: theirs for ours, theirs in llama.SETTINGS.items() if ours != "norm_epsilon"}
SECOND = {"input_layernorm": "post_attention_layernorm", "post_attention_layernorm": "post_feedforward_layernorm"}


def fits(config: Config) -> bool:
    """Whether this is an OLMo, of the first version."""
    return has(config, FIXED)


def fits_second(config: Config) -> bool:
    """Whether this is an OLMo 2."""
    return has(config, FIXED_2)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    return renamed(config, SETTINGS) | llama.attention_to_theirs(config) | {"clip_qkv": None}


def second_to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under OLMo 2's names."""
    return renamed(config, llama.SETTINGS) | llama.attention_to_theirs(config)


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    if theirs.get("clip_qkv") is not None:
        raise ChoiceError("This OLMo cuts its queries, keys and values at a largest size; it has no twin here.")
    return Config(**renamed_settings(theirs, SETTINGS, tied=False), **llama.attention_to_ours(theirs, "OLMo"), **FIXED)


def second_to_ours(theirs: Mapping[str, Any]) -> Config:
    """OLMo 2's settings under our names."""
    ours = renamed_settings(theirs, llama.SETTINGS, norm_epsilon=1e-5, tied=False)
    return Config(**ours, **llama.attention_to_ours(theirs, "OLMo 2"), **FIXED_2)


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names: LLaMA's, but the norms, which have none."""
    return tuple(name for name in llama.names(config) if "norm" not in name.theirs)


def second_names(config: Config) -> tuple[WeightName, ...]:
    """LLaMA's, but the norms stand after what they stood before, and there are two more."""
    attention = ("model.layers.{{}}.self_attn.{}_norm.weight", "layers.{{}}.attention.{}_norm.weight")
    weights = [WeightName(_renamed(name.theirs), name.ours) for name in llama.names(config)]
    weights += [WeightName(attention[0].format(a), (attention[1].format(b),)) for a, b in (("q", "query"), ("k", "key"))]
    return tuple(weights)


def _renamed(theirs: str) -> str:
    part = theirs.split(".")[-2]
    return theirs.replace(part, SECOND.get(part, part))


OLMO = Twin("olmo", "olmo", ("OlmoForCausalLM",), fits, to_theirs, to_ours, names)
OLMO2 = Twin("olmo2", "olmo2", ("Olmo2ForCausalLM",), fits_second, second_to_theirs, second_to_ours, second_names)
