"""A student and its teacher: a model that begins with half the layers of a trained one, and what that one says to every batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer import library
from explorer.errors import ChoiceError
from explorer.loading import build, load, pick_device
from explorer.model import OwnModel
from explorer.nn.presets import Preset
from explorer.nn.transformer import Transformer
from explorer.objectives import OBJECTIVES, Losses, Objective, Tensors, places, states_at

TAUGHT = "distillation"  # the objective that cannot do without a teacher
FINDS = "replaced"  # the one whose model may begin as a masked model that has learned
HEADS = ("head_transform", "head_bias", "next_sentence", "span_boundary", "mask_decoder", "replaced", "generator")


class Teacher:
    """A trained model that is only asked: it reads each batch in its lasting mood (no dropout, no gradient) and never changes."""

    def __init__(self, model: OwnModel) -> None:
        self.model = model
        model.module.eval()

    def plan(self) -> dict[str, str]:
        """What the plan of a run says about it: a run that goes on must have the very same teacher."""
        return {"name": self.model.name, "sha256": library.checksum(library.state(self.model.module))}

    @torch.no_grad()
    def says(self, batch: Tensors) -> dict[str, Tensor]:
        """Its last hidden states [batch, position, dim], and its raw scores at the scored places and some more [place, vocab]."""
        module = self.model.module
        states = module(batch["source"], batch["segments"] if module.config.segments else None, batch["real"])
        return {"teacher's states": states, "teacher's scores": module.head(states_at(states, places(batch)))}

    def beside(self, objective: Objective, device: torch.device) -> Objective:
        """An objective that is told, with every batch, what the teacher says to it."""
        self.model.module.to(device)

        def taught(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
            return objective(module, {**batch, **self.says(batch)}, smoothing)

        return taught


def learns_from(system: Preset, objective: str, options: dict[str, Any], *, usual: bool = True) -> tuple[Teacher | None, str]:
    """The teacher that was asked for, or the preset's own where its objective wants one; and the objective.

    `teacher` is a name, a folder or a model. Without one (`teacher=None`) a student learns by itself, from the hidden pieces alone,
    and a discriminator begins with random weights. So it does where its shape or its texts were chosen: that is not `usual`, and
    the preset's teacher would not fit.
    """
    own = system.teacher if objective == TAUGHT or (objective == FINDS and usual and not options) else None
    wanted = options.pop("teacher", own)
    if wanted is None:
        return None, "mlm" if objective == TAUGHT else objective
    if not system.teacher:
        raise ChoiceError(f"{system.name} learns without a teacher. Leave teacher=… out, or fit 'distilbert'.")
    model = wanted if isinstance(wanted, OwnModel) else load(wanted, device="cpu")
    if model.family != "encoder" or model.tokenizer.vocabulary.mask is None:
        raise ChoiceError(f"A teacher must be a masked model, such as bert; {model.name} is one {model.family}.")
    return Teacher(model), objective


def taught(name: str, student: OwnModel, teacher: Teacher | None) -> Objective:
    """The objective of that name, with its teacher where it has one."""
    if name != TAUGHT:
        return OBJECTIVES[name]
    if teacher is None:
        raise ChoiceError(f"The objective {name!r} needs a teacher. Name one: teacher='bert'.")
    check_pair(student, teacher.model)
    return teacher.beside(OBJECTIVES[name], student.device)


def check_pair(student: OwnModel, teacher: OwnModel) -> None:
    """Refuse a teacher that reads other pieces than its student or has states of another width."""
    if student.tokenizer.core.to_str() != teacher.tokenizer.core.to_str():
        raise ChoiceError(f"{teacher.name} and {student.name} have different tokenizers, so a student cannot copy its answers.")
    if (student.config.dim, student.longest) != (teacher.config.dim, teacher.longest):
        raise ChoiceError(
            f"{teacher.name} is {teacher.config.dim} wide and reads {teacher.longest} pieces, {student.name} is "
            f"{student.config.dim} wide and reads {student.longest}. They must be the same: states are compared at every place."
        )


def every_other(layers: int) -> tuple[int, ...]:
    """Half of the layers, spread from the first to the last: of twelve 0, 2, 4, 7, 9 and 11, as in the released DistilBERT."""
    return tuple(int(n) for n in np.linspace(0, layers - 1, (layers + 1) // 2).round())


def new_student(system: Preset, teacher: Teacher, options: Mapping[str, Any], *, seed: int, device: str) -> OwnModel:
    """A student that has learned nothing yet but what its layers bring along; its shape and its tokenizer are its teacher's."""
    if options:
        raise ChoiceError(f"A student has its teacher's shape and tokenizer: {', '.join(options)} cannot be chosen.")
    if system.objective == FINDS:
        made = discriminator_of(teacher.model, name=system.name, seed=seed)
    else:
        made = student_of(teacher.model, name=system.name)
    made.module.to(pick_device(device))
    return made


def discriminator_of(teacher: OwnModel, *, name: str = "electra", seed: int = 0) -> OwnModel:
    """A discriminator with the embeddings and all layers of a masked model; its head and its generator, a quarter as wide, are new.

    ELECTRA's authors begin theirs as its generator where both are as wide, because one that begins with random weights sometimes
    does not learn more than that most pieces are original. Here it does not either.
    """
    held = teacher.config
    shape = {part.name: getattr(held, part.name) for part in fields(held) if part.name not in (*HEADS, "family", "vocab")}
    made = build(
        name,
        tokenizer=teacher.tokenizer,
        seed=seed,
        device="cpu",
        precision="float32",
        generator=max(1, held.dim // 4),
        **shape,
    )
    own, known = library.state(made.module), library.state(teacher.module)
    trunk = {part: known[part] for part in own if not part.startswith(("generator.", "replaced."))}
    library.fill(made.module, {**own, **trunk}, Path(teacher.name))
    return made


def student_of(teacher: OwnModel, layers: Sequence[int] | None = None, *, name: str = "distilbert") -> OwnModel:
    """A model with some of its teacher's layers (half of them) and all else as it is, without segments and next sentence.

    What the teacher adds to every piece of a single text, the vector of segment 0, is added to the table of positions: with all
    layers kept, the student would say exactly what its teacher says.
    """
    held = teacher.config
    kept = every_other(held.layers) if layers is None else tuple(layers)
    weights = library.state(teacher.module)
    if held.segments:
        table = "embeddings.position.table.weight" if held.positions == "learned" else "embeddings.tokens.weight"
        weights[table] = weights[table] + weights.pop("embeddings.segments.weight")[0]
    inner = {
        f"layers.{new}.{part}": weights[f"layers.{old}.{part}"]
        for new, old in enumerate(kept)
        for part in (name.split(".", 2)[2] for name in weights if name.startswith("layers.0."))
    }
    outer = {name: value for name, value in weights.items() if not name.startswith(("layers.", "next_sentence."))}
    module = Transformer(replace(held, layers=len(kept), segments=0, next_sentence=False))
    library.fill(module, {**outer, **inner}, Path(teacher.name))
    return OwnModel(name, module.eval(), teacher.tokenizer, name)
