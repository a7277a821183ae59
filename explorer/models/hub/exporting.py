"""From a fine-tuned Hugging Face body to the class of transformers' with this output layer, checked before it is written."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from explorer.errors import ChoiceError
from explorer.models.adapters import plain_state
from explorer.models.hub.adopting import module_outputs, probe
from explorer.models.hub.body import OUTPUT_LAYER, HubBody
from explorer.nn.output_layers import OutputConfig, OutputLayer
from explorer.nn.threads import evaluating

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LISTS = {"class": "SEQUENCE_CLASSIFICATION", "number": "SEQUENCE_CLASSIFICATION", "tags": "TOKEN_CLASSIFICATION",
         "span": "QUESTION_ANSWERING"}  # fmt: skip
EQUAL = 1e-4  # logits that differ by more are those of another layer


def classifier_of(body: HubBody, output: OutputConfig, layer: OutputLayer) -> PreTrainedModel:
    """The class for this kind of output with the weights of the body and of the layer; refused where it says something else."""
    from transformers.models.auto import modeling_auto as auto

    known: Any = getattr(auto, f"MODEL_FOR_{LISTS[output.kind]}_MAPPING")
    config = deepcopy(body.module.config)
    if type(config) not in known:
        raise ChoiceError(f"transformers has no class for {output.task!r} on a {config.model_type}. Keep the run in memory.")
    labels = output.labels or tuple(f"LABEL_{n}" for n in range(output.outputs))
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: n for n, label in enumerate(labels)}
    if output.kind in ("class", "number"):
        config.problem_type = "regression" if output.kind == "number" else "single_label_classification"
    classifier: Any = known[type(config)](config)
    weights = {name: value for name, value in plain_state(body.module).items() if not name.startswith(OUTPUT_LAYER)}
    missing = classifier.base_model.load_state_dict(weights, strict=False).missing_keys
    put_in(classifier, layer)
    classifier = classifier.to(body.device).eval()
    if any("pooler" not in name for name in missing) or not _says_the_same(classifier, body, output, layer):
        raise ChoiceError(
            f"{type(classifier).__name__} reads the states in another way than this output layer. Keep the run in memory."
        )
    return classifier  # type: ignore[no-any-return]


def put_in(classifier: Any, layer: OutputLayer) -> None:
    """Write our matrices into theirs: the last one that gives the outputs, and the dense one before it."""
    wanted = [part for part in (layer.dense, layer.classify) if part is not None]
    inside = {id(part) for part in classifier.base_model.modules()}
    theirs = [part for part in classifier.modules() if isinstance(part, nn.Linear) and id(part) not in inside]
    pooler = getattr(getattr(classifier.base_model, "pooler", None), "dense", None)
    theirs = [pooler, *theirs] if isinstance(pooler, nn.Linear) and len(theirs) < len(wanted) else theirs
    with torch.no_grad():
        for ours, other in zip(wanted, theirs, strict=False):
            if ours.weight.shape == other.weight.shape and (ours.bias is None) == (other.bias is None):
                other.load_state_dict(ours.state_dict())


@torch.no_grad()
def _says_the_same(classifier: nn.Module, body: HubBody, output: OutputConfig, layer: OutputLayer) -> bool:
    """Whether both sides give the same logits for a few tokens."""
    ids = probe(body.module)
    real = torch.ones_like(ids, dtype=torch.bool)
    with evaluating(layer):
        mine = layer(body.states(ids, torch.zeros_like(ids), real), real)
    out = module_outputs(classifier, ids, attention_mask=real.long())
    theirs = torch.stack((out.start_logits, out.end_logits), dim=-1) if output.kind == "span" else out.logits
    return mine.shape == theirs.shape and float((mine - theirs).abs().max()) <= EQUAL
