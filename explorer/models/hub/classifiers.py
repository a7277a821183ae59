"""BertForSequenceClassification and its like: the Hugging Face classes of models with an output layer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from explorer.errors import ChoiceError
from explorer.nn.output_layers import OutputConfig

CLASSES = {"class": "SequenceClassification", "number": "SequenceClassification", "tags": "TokenClassification",
           "span": "QuestionAnswering"}  # fmt: skip
PLAIN = {"tags": {"classify": "classifier"}, "span": {"classify": "qa_outputs"}}


@dataclass(frozen=True)
class Family:
    """How the classes of a family are called, what of a pre-trained checkpoint they lack, and where their output layer lies."""

    name: str
    lacks: tuple[str, ...]  # how the names of weights begin that predict words or the next sentence
    whole: dict[str, str]  # the parts of the layer for whole texts
    by_token: dict[str, dict[str, str]] = field(default_factory=lambda: PLAIN)

    def parts(self, kind: str) -> dict[str, str] | None:
        """Our parts of the output layer with their names; None where the family has no such class."""
        return self.whole if kind in ("class", "number") else self.by_token.get(kind)


FAMILIES = {
    "bert": Family("Bert", ("cls.", "bert.pooler."), {"dense": "bert.pooler.dense", "classify": "classifier"}),
    "roberta": Family("Roberta", ("lm_head.",), {"dense": "classifier.dense", "classify": "classifier.out_proj"}),
    "distilbert": Family("DistilBert", ("vocab_",), {"dense": "pre_classifier", "classify": "classifier"}),
    "electra": Family(
        "Electra", ("discriminator_predictions.",), {"dense": "classifier.dense", "classify": "classifier.out_proj"}
    ),
    "gpt2": Family("GPT2", ("lm_head.",), {"classify": "score"}, {"tags": {"classify": "classifier"}}),
    "openai-gpt": Family("OpenAIGPT", ("lm_head.",), {"classify": "score"}, {}),
    "llama": Family("Llama", ("lm_head.",), {"classify": "score"}, {"tags": {"classify": "score"}}),
}


def check_exports(name: str, output: OutputConfig) -> None:
    """Refuse an output layer that no Hugging Face class has."""
    if output.apart or output.lstm or output.mixed or output.pool in ("mean", "counts") or output.crf or output.kind == "spans":
        raise ChoiceError(f"{name} has no Hugging Face class: none has this output layer. ex.load opens its own folder.")


def as_classifier(
    config: dict[str, Any], weights: dict[str, Tensor], output: OutputConfig, layer: dict[str, Tensor], end: int | None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The configuration and the weights of a pre-trained checkpoint as those of the class with this output layer.

    `end` is the token used as padding where there is none: a class that reads the last token must know where a text ends.
    """
    family = FAMILIES.get(str(config["model_type"]))
    parts = None if family is None else family.parts(output.kind)
    if family is None or parts is None:
        raise ChoiceError(
            f"Hugging Face has no class here for {output.task!r} on a {config['model_type']}. ex.load opens the model's own folder."
        )
    if output.kind in ("class", "number") and output.pool != ("first" if "dense" in family.whole else "last"):
        raise ChoiceError(
            f"{output.task!r} has no Hugging Face class here: none of a {config['model_type']} reads pool={output.pool!r}."
        )
    named_weights = {name: value for name, value in weights.items() if not name.startswith(family.lacks)}
    for ours, theirs in parts.items():
        named_weights |= {
            f"{theirs}.{part}": value for name, value in layer.items() for at, part in [name.split(".", 1)] if at == ours
        }
    labels = output.labels or tuple(f"LABEL_{n}" for n in range(output.outputs))
    named = {
        "id2label": {str(n): label for n, label in enumerate(labels)},
        "label2id": {label: n for n, label in enumerate(labels)},
    }
    settings = config | named | {"architectures": [f"{family.name}For{CLASSES[output.kind]}"]}
    if output.kind == "number":
        settings["problem_type"] = "regression"
    elif output.kind == "class":
        settings["problem_type"] = "single_label_classification"
    if output.pool == "last" and settings.get("pad_token_id") is None:
        settings["pad_token_id"] = end
    return settings, named_weights


def write_config(path: Path, config: dict[str, Any]) -> None:
    """Write a config.json."""
    path.write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n", "utf-8")


def tell_segments(path: Path) -> None:
    """Let the tokenizer of a checkpoint say which of two texts a token belongs to, which a class for pairs needs."""
    config = json.loads(path.read_text("utf-8"))
    write_config(path, config | {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]})
