"""From the name of a system and a corpus to a run: a model, the examples that it learns from, and a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.analysis.evaluation.causal import edge
from explorer.errors import ChoiceError, unknown
from explorer.errors.elsewhere import OPTIONS
from explorer.errors.kinds import checked
from explorer.errors.targets import check_folder
from explorer.errors.waiting import during
from explorer.models.factory import check_fields, settings_of
from explorer.models.load import build
from explorer.models.model import TrainableModel
from explorer.models.presets import Preset, preset, size_of
from explorer.text.begin_token import adds_nothing, with_begin
from explorer.text.examples import Texts, Translation, packed, prepared
from explorer.text.learning import TOKENIZERS
from explorer.text.opening import as_tokenizer
from explorer.text.streamed import StreamedTexts
from explorer.text.stretches import Layout
from explorer.training.checking import Checks
from explorer.training.corpora import Corpus, corpus_of
from explorer.training.counting import CountingPlan, CountingRun
from explorer.training.device import pick_autocast
from explorer.training.distillation import Teacher, learns_from, new_student
from explorer.training.keeping import learned_tokenizer, reads_more
from explorer.training.objectives import FRAME, Objective, text_examples
from explorer.training.objectives import objective as entry_of
from explorer.training.plan import Plan
from explorer.training.run import Run
from explorer.training.tracking import taken_log

TrainingRun = Run[Any] | CountingRun  # iterate for one `TrainingStep` each, and go on later from the folder
FEW_PAIRS = 0.2  # of the texts: with fewer, at most every tenth second part follows the first
STEPS = 2000  # how long a preset without a number trains
GIVEN = {"teacher", "steps", "seed", "precision", "corpus"}  # parts of a plan that are not taken from the options as they are
LAYOUT = [field.name for field in fields(Layout)]
LEARNED = ("tokenizer", "pieces", "whole")  # what says how a tokenizer is learned
PLANNED = {field.name for field in fields(Plan)} - GIVEN


@checked
def fit(  # noqa: PLR0913  the public contract fixes these names
    what: str | TrainableModel,
    *,
    size: str = "tiny",
    corpus: str | Path | Texts | Iterable[Any] | None = None,
    steps: int | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    device: str = "auto",
    precision: str = "auto",
    **options: Any,
) -> TrainingRun:
    """A run that trains a system from scratch, or goes on with a model. Iterate over it for one `TrainingStep` each.

    `corpus` (else the preset's) is a name, a file (text, JSON lines, CSV, Parquet, also as .gz), a folder of them or one that
    `ex.text.corpus` prepared, `hub:name`, or texts: a list, generator, column, table or data set. `field` names the field of the text,
    `document` what ends one in a text file ("blank line", "line", "file"), `encoding` that of the files. The last 2% are held out, or
    `held` is given. `folder` keeps the run or takes it up, `resume=True` lengthens it, `log` follows it ("tensorboard", "wandb", …).
    `options` are parts of the plan (batch, …), fields of the preset, a `tokenizer`, `teacher`, of "ngram" `portions`, `order`, `smoothing`.
    >>> len(list(ex.fit("gpt2", corpus=ex.microworld.texts(40, 1), pieces=300, steps=2, batch=4, checks=0, device="cpu")))
    2
    """
    system, log = preset(what.preset if isinstance(what, TrainableModel) else what), taken_log(options)
    chosen = system.corpus if corpus is None else corpus
    if isinstance(what, str) and system.objective == "counting":
        return fit_ngram(system, chosen, options, steps=steps, seed=seed, folder=folder)
    planned = {name: options.pop(name) for name in PLANNED & options.keys()} | ({} if steps is None else {"steps": steps})
    wanted = planned.pop("objective", system.objective)
    options.setdefault("teacher", system.teacher if entry_of(wanted).taught else None)
    teacher, objective = learns_from(system, wanted, options.pop("teacher"))
    plan = _plan(what, system, size, wanted, objective, planned | {"seed": seed}, taught=teacher is not None)
    _check_names(what, system, teacher, options)  # what cannot be done is said before texts are read, which takes long
    source = _source(chosen, options, folder)
    model = _model(what, system, source, options, size=size, teacher=teacher, seed=seed, device=device)
    plan = replace(plan, packed=plan.packed and ("packed" in planned or source.tokenizer is None))
    examples = _examples(source, model, entry_of(objective), packing=plan.packed)
    read: dict[str, Any] = {"corpus": source.plan() | {"stories": len(examples)}, "teacher": teacher and teacher.plan()}
    plan = replace(plan, precision=pick_autocast(precision, model.device), **read)
    return _run(model, examples, plan, folder, source, teacher, log)


def _plan(  # noqa: PLR0913
    what: str | TrainableModel, system: Preset, size: str, wanted: str, objective: str, planned: dict[str, Any], *, taught: bool
) -> Plan:
    """The plan before there are texts: what was given, and of the rest what is usual for the preset."""
    entry, sized = entry_of(objective), size if isinstance(what, str) else size_of(what.preset, asdict(what.config))
    new = isinstance(what, str) and not (taught and entry.discriminator)
    settings = (
        _usual(system, sized == "tiny" and wanted == system.objective, planned, new=new, packable=entry.packable) | planned
    )
    return Plan(objective, **{"strategy": entry.usual_strategy, "steps": STEPS, **settings})


def _check_names(what: str | TrainableModel, system: Preset, teacher: Teacher | None, options: Mapping[str, Any]) -> None:
    """Refuse options that are neither of the texts nor of the model: one that exists keeps its shape, a student checks its own."""
    names = [name for name in options if name not in (*LAYOUT, "held")]
    if isinstance(what, TrainableModel) and names:
        foreign = [f"{name} is called {OPTIONS[name]} here" for name in names if name in OPTIONS]
        why = "; ".join(foreign) or f"{', '.join(names)} cannot be changed"
        raise ChoiceError(f"A model that exists keeps its shape: {why}.")
    if teacher is None:
        check_fields(system.name, [name for name in names if name not in LEARNED])


def _run(  # noqa: PLR0913
    model: TrainableModel,
    examples: Sequence[Any],
    plan: Plan,
    folder: str | Path | None,
    source: Corpus,
    teacher: Teacher | None,
    log: Any,
) -> Run[Any]:
    """The run of a plan, measured on what is held out of its texts."""
    checks = Checks(source, plan.objective, examples, plan.strategy, teacher)
    run = Run(model, examples, plan, folder, checks, teacher)
    run.log = log
    run.report = source.report() + ("" if source.user_texts is None else _without_pairs(examples, plan))
    return run


def _without_pairs(examples: Sequence[Any], plan: Plan) -> str:
    """That next-sentence prediction has one answer, where hardly a text has a second sentence; empty where there are pairs."""
    if not entry_of(plan.objective).pairs or plan.pairs_from > 1 or isinstance(examples, StreamedTexts):
        return ""
    pairs = sum(int(example.sentences[-1]) > 0 for example in examples)
    if pairs > FEW_PAIRS * len(examples):
        return ""
    return (
        f" {pairs:,} of {len(examples):,} texts have a second sentence: next-sentence prediction needs it, and learns to give one answer "
        "to every pair. Give longer texts, or leave it out with objective='mlm'."
    )


def _source(corpus: Any, options: dict[str, Any], folder: str | Path | None) -> Corpus:
    """The texts. Before they are read, the folder of the run and the tokenizer are looked at."""
    if folder is not None:
        check_folder(folder)
    given = options.get("tokenizer")
    if isinstance(given, str) and given not in TOKENIZERS and not Path(given).exists():
        raise unknown("tokenizer or file", given, TOKENIZERS)
    if given is not None and not (isinstance(given, str) and given in TOKENIZERS):
        options["tokenizer"] = as_tokenizer(given)
    layout = {name: options.pop(name) for name in LAYOUT if name in options}
    return corpus_of(corpus, options.pop("held", None), Layout(**layout))


def _usual(system: Preset, tiny: bool, planned: Mapping[str, Any], *, new: bool, packable: bool) -> dict[str, Any]:
    """What a plan takes from its preset; of the shares that are hidden, nothing that does not go with what was given."""
    usual = system.plan | (system.tiny if tiny else {})
    if not packable:
        usual.pop("packed", None)
    left = set[str]() if new else {"mask_rate_first", "random_until"}  # who has learned does not begin with what is easy
    if "strategy" in planned:
        left |= {"mask_rate", "mask_rate_first"}
    if "mask_rate" in planned:
        left |= {"mask_rate_first"}
    return {name: value for name, value in usual.items() if name not in left}


def _model(
    what: str | TrainableModel,
    system: Preset,
    corpus: Corpus,
    options: dict[str, Any],
    *,
    size: str,
    teacher: Teacher | None,
    **given: Any,
) -> TrainableModel:
    """The model to train: the one that was given, a teacher's student, or a new one with a tokenizer learned from the texts."""
    if isinstance(what, TrainableModel):
        what.tokenizer = reads_more(what.tokenizer, corpus)
        return what
    if teacher is not None:
        return new_student(system, teacher, options, **given)
    shape = {name: value for name, value in options.items() if name not in LEARNED}
    tokenizer = options.get("tokenizer", corpus.tokenizer)
    learned = options.get("tokenizer") is None or isinstance(tokenizer, str)
    if "vocab" in options and learned:
        raise ChoiceError(
            f"The vocabulary of a model is that of its tokenizer: pieces={options['vocab']} learns one of so many tokens."
        )
    if tokenizer is None or isinstance(tokenizer, str):
        tokens = options.get("pieces", (size == "tiny" and system.pieces) or PIECES.get(size, 8000))
        whole = options.get("whole", WHOLE.get(size, 0) if corpus.mark else 0)
        grows = "pieces" not in options and bool(whole)
        tokenizer = learned_tokenizer(system, corpus, tokens, tokenizer, whole, grows=grows)
    if system.objective == "causal" and (learned or adds_nothing(tokenizer)):  # one that is given keeps what it adds
        tokenizer = with_begin(tokenizer)
    if "start" in settings_of(system.name):
        shape.setdefault("start", getattr(tokenizer.vocabulary, system.start) or 0)
    return build(what, size=size, tokenizer=tokenizer, precision="float32", **given, **shape)


def fit_ngram(
    system: Preset, chosen: Any, options: dict[str, Any], *, steps: int | None, seed: int, folder: str | Path | None
) -> CountingRun:
    """A run that counts n-grams: `order`, `smoothing`, how many `portions` (its steps), `checks`, and `tokenizer` or `pieces`."""
    known = ("tokenizer", "pieces", "portions", "held", *COUNTED)
    for name in options:
        if name not in (*known, *LAYOUT):
            raise unknown("setting of ngram", name, known)
    if steps is not None and "portions" in options:
        raise ChoiceError(f"steps={steps!r} and portions={options['portions']!r} mean the same of an ngram. Give one of them.")
    corpus = _source(chosen, options, folder)
    texts = [text for text in corpus.texts if not isinstance(text, Translation)]
    if len(texts) < len(corpus.texts):
        raise ChoiceError("An n-gram model counts texts, not translations. Choose another corpus.")
    tokenizer, size = options.pop("tokenizer", corpus.tokenizer), options.pop("pieces", PIECES["tiny"])
    if tokenizer is None or isinstance(tokenizer, str):
        tokenizer = learned_tokenizer(system, corpus, size, tokenizer)
    options |= {} if steps is None else {"portions": steps}
    renamed = {"steps" if name == "portions" else name: value for name, value in options.items()}
    ends = edge(tokenizer)
    with during("Tokenizing the texts"):
        rows = [np.array([*ends, *story.ids, *ends]) for story in prepared(texts, tokenizer)]
    plan = CountingPlan(seed=seed, corpus=corpus.plan() | {"stories": len(rows)}, **renamed)
    run = CountingRun(rows, tokenizer, plan, folder, Checks(corpus, "counting"))
    run.report = corpus.report()
    return run


def _examples(corpus: Corpus, model: TrainableModel, objective: Objective, *, packing: bool) -> Sequence[Any]:
    """What an objective makes of the texts; translations for one that translates, and for no other. Packed, they fill the rows."""
    streamed = isinstance(corpus.texts, StreamedTexts)
    if streamed and (packing or objective.examples is not text_examples):
        raise ChoiceError(
            f"A prepared folder is read story by story, which {'packed=True' if packing else repr(objective.name)} cannot. Give the "
            f"text file itself{', or packed=False' if packing else ''}."
        )
    if corpus.translations != (len(corpus.texts) if objective.translations else 0):
        raise ChoiceError(
            f"The objective {objective.name!r} and this corpus do not go together: one is about translations, the other not."
        )
    with during("Tokenizing the texts"):
        examples = objective.examples(corpus, model.tokenizer, model.longest)
    vocabulary = model.tokenizer.vocabulary
    separator = vocabulary.sep if vocabulary.sep is not None else vocabulary.end
    if packing and separator is None:
        raise ChoiceError("packed=True puts a separator between two texts, but this tokenizer has none. Choose another.")
    return packed(examples, separator, model.longest - FRAME) if packing and separator is not None else examples


COUNTED = ("order", "smoothing", "checks")
PIECES = {"tiny": 2000, "mini": 4000, "small": 8000, "base": 30_000}
WHOLE = {"mini": 50}  # in models of this size a word of our own corpora that occurs so often is one token
