"""A student and its teacher: a model that begins with half the layers of a trained one, and what that one says to every batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError, an
from explorer.models import store
from explorer.models.load import build, load, pick_device
from explorer.models.model import TrainableModel
from explorer.models.presets import Preset
from explorer.models.transformer import TransformerModel, transformer
from explorer.nn.losses import Loss, Losses, Tensors, loss_positions, states_at
from explorer.nn.transformer import Transformer
from explorer.training.objectives import OBJECTIVES, Objective
from explorer.training.objectives import objective as entry_of

HEADS = ("head_transform", "head_bias", "next_sentence", "span_boundary", "mask_decoder", "replaced", "generator")


class Teacher:
    """A trained model in evaluation mode: it reads each batch without dropout and gradients, and never changes."""

    def __init__(self, model: TransformerModel) -> None:
        self.model = model
        model.module.eval()

    def plan(self) -> dict[str, str]:
        """What the plan of a run says about it: a run that goes on must have the very same teacher."""
        return {"name": self.model.name, "sha256": store.checksum(store.state(self.model.module))}

    @torch.no_grad()
    def says(self, batch: Tensors) -> dict[str, Tensor]:
        """Its last hidden states [batch, position, dim], and its raw scores at the scored places and some more [place, vocab]."""
        module = self.model.module
        states = module(batch["source"], batch["segments"] if module.config.segments else None, batch["attention_mask"])
        return {"teacher's states": states, "teacher's scores": module.head(states_at(states, loss_positions(batch)))}

    def beside(self, loss: Loss, device: torch.device) -> Loss:
        """A loss that is given, with every batch, what the teacher says to it."""
        self.model.module.to(device)

        def with_teacher(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
            return loss(module, {**batch, **self.says(batch)}, smoothing)

        return with_teacher


def learns_from(system: Preset, objective: str, teacher: str | Path | TrainableModel | None) -> tuple[Teacher | None, str]:
    """The teacher, and the objective: without one (`teacher=None`) a student learns by itself, from the hidden tokens alone.

    `teacher` is a name, a folder or a model. A discriminator begins with random weights, or with the layers of a teacher that is named.
    """
    entry = entry_of(objective)
    if teacher is None:
        return None, entry.fallback if entry.taught else objective
    if not (system.teacher or entry.discriminator):
        raise ChoiceError(f"{system.name} learns without a teacher. Leave teacher=… out, or fit 'distilbert'.")
    model = teacher if isinstance(teacher, TrainableModel) else load(teacher, device="cpu")
    if model.family != "encoder" or model.tokenizer.vocabulary.mask is None:
        raise ChoiceError(f"A teacher must be a masked model, such as bert; {model.name} is {an(model.family)}.")
    return Teacher(transformer(model)), objective


def loss_of(objective: Objective, student: TrainableModel, teacher: Teacher | None) -> Loss:
    """The loss of an objective, with its teacher where it has one."""
    if not objective.taught:
        return objective.loss
    if teacher is None:
        raise ChoiceError(f"The objective {objective.name!r} needs a teacher. Name one: teacher='bert'.")
    check_pair(student, teacher.model)
    return teacher.beside(objective.loss, student.device)


def check_pair(student: TrainableModel, teacher: TransformerModel) -> None:
    """Refuse a teacher that reads other tokens than its student or has states of another width."""
    if student.tokenizer.core.to_str() != teacher.tokenizer.core.to_str():
        raise ChoiceError(f"{teacher.name} and {student.name} have different tokenizers, so a student cannot copy its answers.")
    if (student.config.dim, student.longest) != (teacher.config.dim, teacher.longest):
        raise ChoiceError(
            f"{teacher.name} is {teacher.config.dim} wide and reads {teacher.longest} tokens, {student.name} is "
            f"{student.config.dim} wide and reads {student.longest}. They must be the same: states are compared at every position."
        )


def every_other(layers: int) -> tuple[int, ...]:
    """Half of the layers, spread from the first to the last: of twelve 0, 2, 4, 7, 9 and 11, as in the released DistilBERT."""
    return tuple(int(n) for n in np.linspace(0, layers - 1, (layers + 1) // 2).round())


def new_student(system: Preset, teacher: Teacher, options: Mapping[str, Any], *, seed: int, device: str) -> TransformerModel:
    """A student that has learned nothing yet but what its layers bring along; its shape and its tokenizer are its teacher's."""
    if options:
        raise ChoiceError(f"A student has its teacher's shape and tokenizer: {', '.join(options)} cannot be chosen.")
    if OBJECTIVES[system.objective].discriminator:
        student = discriminator_of(teacher.model, name=system.name, seed=seed)
    else:
        student = student_of(teacher.model, name=system.name)
    student.module.to(pick_device(device))
    return student


def discriminator_of(teacher: TransformerModel, *, name: str = "electra", seed: int = 0) -> TransformerModel:
    """A discriminator with the embeddings and all layers of a masked model; its head and its generator, a quarter as wide, are new.

    ELECTRA's authors begin theirs as its generator where both are as wide, because one that begins with random weights sometimes
    does not learn more than that most tokens are original. Here it does, where some of the replaced tokens are random at first
    (`random_until`).
    """
    config = teacher.config
    names = [part.name for part in fields(config) if part.name not in (*HEADS, "family", "vocab")]
    shape: dict[str, Any] = {name: getattr(config, name) for name in names}
    shape |= {"generator": max(1, config.dim // 4), "precision": "float32"}
    discriminator = transformer(build(name, tokenizer=teacher.tokenizer, seed=seed, device="cpu", **shape))
    own, known = store.state(discriminator.module), store.state(teacher.module)
    trunk = {part: known[part] for part in own if not part.startswith(("generator.", "replaced."))}
    store.fill_weights(discriminator.module, {**own, **trunk}, Path(teacher.name))
    return discriminator


def student_of(teacher: TransformerModel, layers: Sequence[int] | None = None, *, name: str = "distilbert") -> TransformerModel:
    """A model with some of its teacher's layers (half of them) and all else as it is, without segments and next sentence.

    What the teacher adds to every token of a single text, the vector of segment 0, is added to the table of positions: with all
    layers kept, the student would say exactly what its teacher says.
    """
    config = teacher.config
    kept = every_other(config.layers) if layers is None else tuple(layers)
    weights = store.state(teacher.module)
    if config.segments:
        table = "embeddings.position.table.weight" if config.positions == "learned" else "embeddings.tokens.weight"
        weights[table] = weights[table] + weights.pop("embeddings.segments.weight")[0]
    inner = {
        f"layers.{new}.{part}": weights[f"layers.{old}.{part}"]
        for new, old in enumerate(kept)
        for part in (name.split(".", 2)[2] for name in weights if name.startswith("layers.0."))
    }
    outer = {name: value for name, value in weights.items() if not name.startswith(("layers.", "next_sentence."))}
    module = Transformer(replace(config, layers=len(kept), segments=0, next_sentence=False))
    store.fill_weights(module, {**outer, **inner}, Path(teacher.name))
    return TransformerModel(name, module.eval(), teacher.tokenizer, name)
