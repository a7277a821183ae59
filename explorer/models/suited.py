"""What a stored model can be asked, by its configuration alone: nothing is opened, so that a list of models costs little."""

from __future__ import annotations

from typing import Any

from explorer.errors import ExplorerError
from explorer.models.hub import TWINS
from explorer.models.hub.settings import architectures
from explorer.models.load import fits_ours
from explorer.models.presets import PRESETS
from explorer.models.shelf import StoredModel, read_config
from explorer.nn.config import FAMILIES

WRITING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")  # so the classes of Hugging Face that write are called
FILLING = ("ForMaskedLM", "ForPreTraining")  # and those that fill in masks
DETECTING = "Electra"  # but for the one that is pre-trained to find what was replaced


def attends(stored: StoredModel) -> bool:
    """Whether its attention can be looked at: it is none of ours that count, read letters or keep one vector a word."""
    system = PRESETS.get(stored.about()["preset"])
    return system is None or system.architecture["family"] in FAMILIES


def writes_as(stored: StoredModel) -> str:
    """The family as which it writes: "decoder", "encoder-decoder", "ngram"; empty where it does not."""
    config = _config(stored)
    if "explorer" not in config:
        classes = _classes(config)
        both = "encoder-decoder" if classes.endswith(WRITING[-1]) else "decoder"
        return both if classes.endswith(WRITING) else ""
    output, system = config.get("output"), PRESETS.get(stored.about()["preset"])
    answers = isinstance(output, dict) and output.get("kind") != "text"  # fine-tuned to say a label
    return "" if answers or system is None else str(system.architecture["family"])


def fills_masks(stored: StoredModel) -> bool:
    """Whether it fills in masks: an encoder that was not made to say a label, nor to find what was replaced."""
    config = _config(stored)
    if "explorer" not in config:
        return any(name.endswith(FILLING) and not name.startswith(DETECTING) for name in _classes(config).split())
    system = PRESETS.get(stored.about()["preset"])
    if system is None or config.get("output"):
        return False
    return system.architecture["family"] == "encoder" and system.objective != "replaced"


def learns_tasks(stored: StoredModel) -> bool:
    """Whether it can be fine-tuned to say labels, with the parts that a lesson shows: an encoder or decoder that opens as ours."""
    config = _config(stored)
    if "explorer" in config:
        preset = "" if config.get("output") else stored.about()["preset"]
    else:
        twin = TWINS.get(str(config.get("model_type", "")))
        preset = twin.preset if twin is not None and fits_ours(twin, config, stored.folder) else ""
    return preset in PRESETS and PRESETS[preset].architecture["family"] in FAMILIES[:2]


def trained_here(stored: StoredModel) -> bool:
    """Whether it was trained with this package, which keeps how."""
    return "explorer" in _config(stored)


def _classes(config: dict[str, Any]) -> str:
    """The classes of Hugging Face that a checkpoint names."""
    return " ".join(map(str, architectures(config)))


def _config(stored: StoredModel) -> dict[str, Any]:
    try:
        return read_config(stored.folder)
    except ExplorerError:
        return {}
