"""From the name of a system and a corpus to a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, unknown
from explorer.loading import build
from explorer.model import OwnModel
from explorer.nn.presets import Preset, preset
from explorer.text.corpora import texts as documents
from explorer.text.learning import tokenizer as learned
from explorer.text.microworld.french import pairs
from explorer.text.seedling import stories as toy
from explorer.text.tokenizers import Tokenizer
from explorer.training.run import Plan, Run
from explorer.training.stories import Texts, Translation, prepared, prepared_pairs

STRATEGY = {
    "mlm": "mlm",
    "mlm+nsp": "mlm",
    "denoising": "bart",
    "span-to-text": "t5",
    "gap-sentence": "pegasus",
    "causal": "causal",
}
PLANNED = ("batch", "schedule", "warm", "optimiser", "rate", "smoothing", "snapshots", "strategy", "objective")


def fit(  # noqa: PLR0913  the public contract fixes these names
    what: str | OwnModel,
    *,
    size: str = "tiny",
    corpus: str | Path | Texts | None = None,
    steps: int = 2000,
    seed: int = 0,
    folder: str | Path | None = None,
    device: str = "auto",
    precision: str = "auto",
    **options: Any,
) -> Run:
    """A run that trains a system from scratch, or goes on with a model. Iterate over it for one `TrainingStep` each.

    `corpus` (the preset has its own) is a name, the path of a text file or a folder of them, or a list of stories, each a
    list of sentences. `folder` keeps the run, and takes it up where it was stopped if it is there already. `options` are
    parts of the plan (batch, schedule, rate, …) or fields of the preset.
    """
    planned = {name: options.pop(name) for name in PLANNED if name in options}
    system = preset(what.preset if isinstance(what, OwnModel) else what)
    corpus = system.corpus if corpus is None else corpus
    texts = _texts(corpus)
    if isinstance(what, OwnModel):
        if options:
            raise ChoiceError(f"A model that exists keeps its shape: {', '.join(options)} cannot be changed.")
        model = what
    else:
        pieces = options.pop("tokenizer", None) or _learned(system, texts, options.pop("pieces", PIECES.get(size, 8000)))
        starts = {"start": getattr(pieces.vocabulary, system.start) or 0} if "start" not in options else {}
        model = build(what, size=size, tokenizer=pieces, seed=seed, device=device, precision=precision, **starts, **options)
    objective = planned.pop("objective", system.objective)
    strategy = planned.pop("strategy", STRATEGY.get(objective, objective))
    name = str(corpus) if isinstance(corpus, (str, Path)) else "given"
    plan = Plan(
        objective, strategy, steps, seed=seed, corpus={"name": name, "stories": len(texts)}, **{**system.plan, **planned}
    )
    ready = _ready(texts, model.tokenizer, objective)
    return Run(model, ready, plan, None if folder is None else Path(folder))


def _ready(texts: Texts, tokenizer: Tokenizer, objective: str) -> Sequence[Any]:
    """The texts in pieces; translations for an objective that translates, and for no other."""
    told = [text for text in texts if isinstance(text, Translation)]
    if objective == "translation" and len(told) == len(texts):
        return prepared_pairs(told, tokenizer)
    if told or objective == "translation":
        raise ChoiceError(
            f"The objective {objective!r} and this corpus do not go together: one is about translations, the other not."
        )
    return prepared([text for text in texts if not isinstance(text, Translation)], tokenizer)


def _learned(system: Preset, texts: Texts, size: int) -> Tokenizer:
    """The tokenizer of a preset, learned from the corpus."""
    plain = (text if isinstance(text, str) else " ".join(text) for text in texts)
    return learned(system.tokenizer, plain, size=size, specials=system.specials)


def _texts(corpus: str | Path | Texts) -> Texts:
    """The stories of a corpus by its name, the documents of a text file or a folder of them, or what was given."""
    if isinstance(corpus, Path) or (isinstance(corpus, str) and (corpus.startswith(".") or "/" in corpus)):
        return list(documents(corpus))
    if not isinstance(corpus, str):
        return corpus
    if corpus not in CORPORA:
        raise unknown("corpus", corpus, CORPORA)
    return CORPORA[corpus]()


def _translations() -> Texts:
    return [Translation(pair.english, pair.french) for pair in pairs(100_000, 1)]


PIECES = {"tiny": 2000, "small": 8000, "base": 30_000}
CORPORA: dict[str, Callable[[], Texts]] = {"toy": lambda: list(toy(20_000, 1)), "english-french": _translations}
