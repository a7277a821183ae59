"""ElectraForPreTraining, and its generator as ElectraForMaskedLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.errors import ChoiceError
from explorer.models.hub import bert
from explorer.models.hub.twins import Twin, WeightName, both, has, renamed_settings
from explorer.nn.config import Config

FINDS, WRITES = "ElectraForPreTraining", "ElectraForMaskedLM"
FIXED: dict[str, Any] = {**bert.FIXED, "next_sentence": False}
APART = ("head_transform", "head_bias")  # of the head over the vocabulary, which a discriminator does not have


def fits(config: Config) -> bool:
    """Whether this is a discriminator or a generator: a BERT with a separate width for the embeddings, and another output layer."""
    head = {name: getattr(config, name) for name in APART} if config.replaced else {}
    known = {"embedding": config.embedding, "replaced": config.replaced, "generator": config.generator}
    right = config.replaced or (
        config.embedding > 0 and config.activation == "gelu"
    )  # the class bends so before the vocabulary
    return right and config.segments > 0 and config.groups == config.heads and has(config, FIXED | known | head)


def to_theirs(config: Config) -> dict[str, Any]:
    """Our settings under their names."""
    which = {"architectures": [FINDS if config.replaced else WRITES], "embedding_size": config.embedding_width}
    return bert.to_theirs(config) | which


def to_ours(theirs: Mapping[str, Any]) -> Config:
    """Their settings under our names."""
    finds = (theirs.get("architectures") or [FINDS])[0] != WRITES
    if theirs.get("is_decoder") or theirs.get("add_cross_attention"):
        raise ChoiceError("This ELECTRA is a decoder; it has no twin here.")
    activation = bert.ACTIVATIONS[theirs.get("hidden_act", "gelu")]
    if not finds and (activation != "gelu" or theirs.get("tie_word_embeddings") is False):
        raise ChoiceError("This generator has another head than ELECTRA's; it has no twin here.")
    head = dict.fromkeys(APART, not finds)
    settings = renamed_settings(
        theirs, bert.SETTINGS | {"embedding": "embedding_size"}, norm_epsilon=1e-12, segments=2, embedding=128
    )
    return Config(**settings, activation=activation, replaced=finds, **FIXED | head)


def names(config: Config) -> tuple[WeightName, ...]:
    """Every weight under both names: the stack is BERT's."""
    theirs = (name for name in bert.names(config) if name.theirs.startswith("bert."))
    stack = tuple(replace(name, theirs="electra." + name.theirs.removeprefix("bert.")) for name in theirs)
    if config.embedding_width != config.dim:
        stack += both("electra.embeddings_project", "project")
    if config.replaced:
        finds = both("discriminator_predictions.dense", "replaced.dense")
        return (*stack, *finds, *both("discriminator_predictions.dense_prediction", "replaced.classify"))
    writes = both("generator_predictions.dense", "head.transform.dense")
    norm = both("generator_predictions.LayerNorm", "head.transform.norm")
    return (*stack, *writes, *norm, WeightName("generator_lm_head.bias", ("head.bias",)))


ELECTRA = Twin("electra", "electra", (FINDS, WRITES), fits, to_theirs, to_ours, names)
