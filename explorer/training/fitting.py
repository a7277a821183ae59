"""From the name of a system and a corpus to a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, unknown
from explorer.loading import build
from explorer.model import OwnModel
from explorer.nn.presets import preset
from explorer.text.corpora import texts as documents
from explorer.text.learning import tokenizer as learned
from explorer.text.seedling import stories as toy
from explorer.training.run import Plan, Run
from explorer.training.stories import Texts, prepared

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
    corpus: str | Path | Texts = "toy",
    steps: int = 2000,
    seed: int = 0,
    folder: str | Path | None = None,
    device: str = "auto",
    precision: str = "auto",
    **options: Any,
) -> Run:
    """A run that trains a system from scratch, or goes on with a model. Iterate over it for one `TrainingStep` each.

    `corpus` is a name, the path of a text file or a folder of them, or a list of stories, each a list of sentences;
    `folder` keeps the run, and takes it up where it was
    stopped if it is there already. `options` are parts of the plan (batch, schedule, rate, …) or fields of the preset.
    """
    texts = _texts(corpus)
    planned = {name: options.pop(name) for name in PLANNED if name in options}
    if isinstance(what, OwnModel):
        if options:
            raise ChoiceError(f"A model that exists keeps its shape: {', '.join(options)} cannot be changed.")
        model = what
    else:
        system = preset(what)
        pieces = options.pop("tokenizer", None) or learned(
            system.tokenizer, (s if isinstance(s, str) else " ".join(s) for s in texts), size=options.pop("pieces", 800)
        )
        model = build(what, size=size, tokenizer=pieces, seed=seed, device=device, precision=precision, **options)
    objective = planned.pop("objective", preset(model.preset).objective)
    strategy = planned.pop("strategy", STRATEGY.get(objective, objective))
    name = str(corpus) if isinstance(corpus, (str, Path)) else "given"
    plan = Plan(objective, strategy, steps, seed=seed, corpus={"name": name, "stories": len(texts)}, **planned)
    return Run(model, prepared(texts, model.tokenizer), plan, None if folder is None else Path(folder))


def _texts(corpus: str | Path | Texts) -> Texts:
    """The stories of a corpus by its name, the documents of a text file or a folder of them, or what was given."""
    if isinstance(corpus, Path) or (isinstance(corpus, str) and (corpus.startswith(".") or "/" in corpus)):
        return list(documents(corpus))
    if not isinstance(corpus, str):
        return corpus
    if corpus not in CORPORA:
        raise unknown("corpus", corpus, CORPORA)
    return CORPORA[corpus]()


CORPORA: dict[str, Callable[[], Texts]] = {"toy": lambda: list(toy(20_000, 1))}
