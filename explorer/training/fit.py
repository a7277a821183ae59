"""From the name of a system and a corpus to a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, unknown
from explorer.loading import build
from explorer.measuring.causal import edge
from explorer.model import OwnModel
from explorer.nn.presets import Preset, preset, settings_of, size_of
from explorer.objectives import strategy_of
from explorer.text.learning import tokenizer as learned
from explorer.text.tokenizers import Tokenizer
from explorer.training.checking import Checks
from explorer.training.counting import CountingPlan, CountingRun
from explorer.training.nearness import Told, cells
from explorer.training.precision import chosen
from explorer.training.referring import referring
from explorer.training.refusing import PACKED
from explorer.training.run import Plan, Run
from explorer.training.splitting import Corpus, corpus_of
from explorer.training.stories import Texts, Translation, packed, prepared, prepared_letters, prepared_pairs
from explorer.training.teaching import Teacher, learns_from, new_student

STEPS, FRAME = 2000, 3  # how long a preset without a number trains; the most special pieces around a text
PLANNED = (
    "batch", "accumulate", "schedule", "warm", "optimiser", "rate", "smoothing", "snapshots", "checks", "strategy", "objective",
    "compiled", "mask_rate", "mask_rate_first", "packed", "static",
)  # fmt: skip


def fit(  # noqa: PLR0913  the public contract fixes these names
    what: str | OwnModel,
    *,
    size: str = "tiny",
    corpus: str | Path | Texts | None = None,
    steps: int | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    device: str = "auto",
    precision: str = "auto",
    **options: Any,
) -> Run:
    """A run that trains a system from scratch, or goes on with a model. Iterate over it for one `TrainingStep` each.

    `corpus` (the preset has its own) is a name, the path of a text file or a folder of them, or a list of stories, each a
    list of sentences. The run is measured now and then (about `checks` times, 0 for never) on texts that are held out: those
    given as `held`, or the last 2 % of what you bring along. `steps` is the preset's own number where it is not given. `folder`
    keeps the run, and takes it up where it was stopped if it is there already. `precision` is that of the matrix products:
    "auto" is bfloat16 where this device is faster in it. `options` are parts of the plan (batch, schedule, rate, …) or fields
    of the preset; `tokenizer` is one, or the kind of the one to learn. An "ngram" is not trained but counted: its steps
    are `portions`, and it takes `order` and `smoothing`. A "distilbert" has a `teacher` (a name, a folder or a model), an "electra" too.
    """
    if isinstance(what, str) and preset(what).objective == "counting":
        options = _portions(steps, options)
        return counted(what, corpus, seed, folder, options)  # type: ignore[return-value]  # used like a Run, but it counts
    planned = {name: options.pop(name) for name in PLANNED if name in options}
    system = preset(what.preset if isinstance(what, OwnModel) else what)
    found = corpus_of(system.corpus if corpus is None else corpus, options.pop("held", None))
    asked = planned.pop("objective", system.objective)
    teacher, objective = learns_from(system, asked, options, usual=_unchanged(what, size, found))
    model = _model(what, system, found.texts, options, size=size, teacher=teacher, seed=seed, device=device)
    usual = _usual(system, _is_tiny(what, size) and asked == system.objective, planned, new=isinstance(what, str))
    usual = {name: value for name, value in usual.items() if name != "packed" or objective in PACKED}
    strategy = planned.pop("strategy", strategy_of(objective))
    ready = _ready(found, model, objective, packing=bool({**usual, **planned}.get("packed")))
    told: dict[str, Any] = {"corpus": found.plan() | {"stories": len(ready)}, "teacher": teacher and teacher.plan()}
    told |= {"seed": seed, "precision": chosen(precision, model.device)} | ({} if steps is None else {"steps": steps})
    plan = Plan(objective, strategy, **{"steps": STEPS, **usual, **planned, **told})
    checks, where = Checks(found, objective, ready, strategy, teacher), None if folder is None else Path(folder)
    return Run(model, ready, plan, where, checks, teacher)


def _unchanged(what: str | OwnModel, size: str, found: Corpus) -> bool:
    """Whether a system is asked for by its name, at its smallest size and on its own texts."""
    return isinstance(what, str) and size == "tiny" and found.name == preset(what).corpus


def _is_tiny(what: str | OwnModel, size: str) -> bool:
    """Whether the model is one of the smallest size: as it was asked for, or as it is."""
    return size == "tiny" if isinstance(what, str) else size_of(what.preset, asdict(what.config)) == "tiny"


def _usual(system: Preset, tiny: bool, planned: Mapping[str, Any], *, new: bool) -> dict[str, Any]:
    """What a plan takes from its preset; of the shares that are hidden, nothing that does not go with what was given."""
    usual = system.plan | (system.tiny if tiny else {})
    if "strategy" in planned:
        return {name: value for name, value in usual.items() if name not in ("mask_rate", "mask_rate_first")}
    if "mask_rate" in planned or not new:  # who has learned already does not begin again with much hidden
        usual.pop("mask_rate_first", None)
    return usual


def _model(
    what: str | OwnModel,
    system: Preset,
    texts: Texts,
    options: dict[str, Any],
    *,
    size: str,
    teacher: Teacher | None,
    **given: Any,
) -> OwnModel:
    """The model to train: the one that was given, a teacher's student, or a new one with a tokenizer learned from the texts."""
    if isinstance(what, OwnModel):
        if options:
            raise ChoiceError(f"A model that exists keeps its shape: {', '.join(options)} cannot be changed.")
        return what
    if teacher is not None:
        return new_student(system, teacher, options, **given)
    pieces = options.pop("tokenizer", None)
    if pieces is None or isinstance(pieces, str):
        many = (size == "tiny" and system.pieces) or PIECES.get(size, 8000)
        pieces = _learned(system, texts, options.pop("pieces", many), pieces)
    if "start" in settings_of(system.name):
        options.setdefault("start", getattr(pieces.vocabulary, system.start) or 0)
    return build(what, size=size, tokenizer=pieces, precision="float32", **given, **options)


def _portions(steps: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """The options of an n-gram model, whose steps are its portions."""
    if steps is None:
        return options
    if "portions" in options:
        raise ChoiceError(f"steps={steps!r} and portions={options['portions']!r} mean the same of an ngram. Give one of them.")
    return {**options, "portions": steps}


def counted(what: str, corpus: Any, seed: int, folder: str | Path | None, options: dict[str, Any]) -> CountingRun:
    """A run that counts n-grams: `order`, `smoothing`, how many `portions`, `checks`, and `tokenizer` or the number of `pieces`."""
    system = preset(what)
    found = corpus_of(system.corpus if corpus is None else corpus, options.pop("held", None))
    texts = [text for text in found.texts if not isinstance(text, Translation)]
    if len(texts) < len(found.texts):
        raise ChoiceError("An n-gram model counts texts, not translations. Choose another corpus.")
    pieces = options.pop("tokenizer", None) or _learned(system, texts, options.pop("pieces", PIECES["tiny"]))
    renamed = {"steps" if name == "portions" else name: value for name, value in options.items()}
    for name in renamed:
        if name not in COUNTED:
            raise unknown("setting of ngram", name, ("tokenizer", "pieces", "portions", "held", *COUNTED[1:]))
    ends = edge(pieces)
    rows = [np.array([*ends, *story.ids, *ends]) for story in prepared(texts, pieces)]
    plan = CountingPlan(seed=seed, corpus=found.plan() | {"stories": len(rows)}, **renamed)
    return CountingRun(rows, pieces, plan, None if folder is None else Path(folder), Checks(found, "counting"))


def _ready(found: Corpus, model: OwnModel, objective: str, *, packing: bool = False) -> Sequence[Any]:
    """The texts in pieces; translations for an objective that translates, and for no other. Packed, they fill the rows."""
    texts = found.texts
    told = [text for text in texts if isinstance(text, Translation)]
    if objective == "translation" and len(told) == len(texts):
        return prepared_pairs(told, model.tokenizer)
    if told or objective == "translation":
        raise ChoiceError(
            f"The objective {objective!r} and this corpus do not go together: one is about translations, the other not."
        )
    if objective == "mlm+antecedent":
        return referring(found, model.tokenizer)
    if objective in ("skip-gram", "co-occurrence"):
        made = prepared(texts, model.tokenizer)
        size = model.tokenizer.vocabulary.size
        return Told(made, size) if objective == "skip-gram" else cells(made, size)
    if objective == "bilm":
        return prepared_letters(texts, model.tokenizer, model.longest - 2)
    room, vocabulary = model.longest - FRAME, model.tokenizer.vocabulary
    made = prepared(texts, model.tokenizer, room)
    separator = vocabulary.sep if vocabulary.sep is not None else vocabulary.end
    if packing and separator is None:
        raise ChoiceError("packed=True puts a separator between two texts, but this tokenizer has none. Choose another.")
    return packed(made, separator, room) if packing and separator is not None else made


def _learned(system: Preset, texts: Texts, size: int, kind: str | None = None) -> Tokenizer:
    """The tokenizer of a preset, or one of another kind, learned from the corpus."""
    plain = (text if isinstance(text, str) else " ".join(text) for text in texts)
    return learned(kind or system.tokenizer, plain, size=size, specials=system.specials if kind is None else None)


COUNTED = ("steps", "order", "smoothing", "checks")
PIECES = {"tiny": 2000, "small": 8000, "base": 30_000}
