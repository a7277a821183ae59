"""The systems of the lectures: what each of them changed, in two sentences, and the measured figures that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.app.prose import prose
from explorer.models import run_folder
from explorer.models.card_figures import shipped_figures as shipped_figures
from explorer.models.shelf import folder_of
from explorer.records import Curve, Curves, TrainingStep

PROSE = prose("training")

LOSS, FOUND = "held-out loss", ("replaced f1", "f1, pairs never met", "f1, always saying replaced")


@dataclass(frozen=True)
class Idea:
    """What a system changed. `figures` are names of its held-out measures; `new` are those that are shown of stories with new words too."""

    name: str
    figures: tuple[str, ...]
    new: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """What it changed."""
        return PROSE(self.name)

    @property
    def caution(self) -> str:
        """What its figures may not show."""
        return PROSE(f"{self.name}: caution")


COUNTED = ("perplexity", "4-gram perplexity")  # the second is what the same texts cost a model that counts
COPYING = ("bleu", "copying the source, bleu")


IDEAS = {
    idea.name: idea
    for idea in (
        Idea("transformer", ("exact match", "bleu", "alignment", "alignment, mean of last heads")),
        Idea("gpt", COUNTED, new=COUNTED),
        Idea("gpt2", COUNTED, new=COUNTED),
        Idea("bart", (*COPYING, "exact match"), new=COPYING),
        Idea("t5", ("spans exactly right", "token accuracy")),
        Idea("bert", ("mlm accuracy", "nsp accuracy", "nsp, shared-name rule")),
        Idea("roberta", ("mlm accuracy", "recoverable accuracy")),
        Idea("spanbert", ("sbo accuracy", "sbo, place in the span only", "mlm accuracy, in spans")),
        Idea(
            "electra",
            (
                "replaced f1",
                "f1, always saying replaced",
                "f1, pairs never met",
                "tokens with a signal",
                "tokens with a signal, masking",
            ),
        ),
        Idea(
            "distilbert",
            ("mlm accuracy", "without a teacher: mlm accuracy", "teacher's mlm accuracy", "share of its teacher's"),
        ),
        Idea(
            "deberta",
            (
                "mlm accuracy",
                "spread of scores, content → content",
                "spread of scores, content → position",
                "spread of scores, position → content",
            ),
        ),
        Idea("llama", COUNTED, new=COUNTED),
        Idea("olmo", COUNTED, new=COUNTED),
        Idea("olmo2", COUNTED, new=COUNTED),
        Idea("pegasus", ("gap sentence F1", "as many first words, F1", "token accuracy")),
    )
}
OWN = {  # models that do not do what their system does, by their own name
    idea.name: idea
    for idea in (
        Idea("bert-told", ("mlm accuracy", "it → the right noun, best head")),
        Idea("t5-tasks", ("translation, bleu", "acceptability, accuracy", "sentiment, accuracy", "summary, F1 of words")),
        Idea("induction", ("repeat accuracy",)),
    )
}


def teacher_of(name: str) -> str:
    """The teacher of a model, or whose layers it begins with; empty for most."""
    folder = folder_of(name)
    plan = run_folder.described(folder)["plan"] if (folder / run_folder.RUN).is_file() else {}
    return str((plan.get("teacher") or {}).get("name", ""))


def over_seeds(seeds: Mapping[str, tuple[float, ...]], names: Sequence[str], command: str) -> str:
    """How often a system was trained, between which values its figures lie over the seeds, and how to measure again."""
    count = max(map(len, seeds.values()), default=0)
    if not count:
        return "No card says what was measured of this model on held-out text, so no figures are shown."
    spans = [f"{name} {min(seeds[name]):.3g} to {max(seeds[name]):.3g}" for name in names if len(set(seeds.get(name, ()))) > 1]
    sentence = "Measured on held-out text after the training"
    if count == 1:
        sentence += "; one training run, so it is unknown how much another seed would change"
    else:
        sentence += (
            f". The best of {count} seeds on this text is shipped; over all seeds: {'; '.join(spans) or 'the same figures'}"
        )
    return f"{sentence}." + (f" Measure again: `{command}`." if command else "")


def beside_counting(figures: Mapping[str, float]) -> str:
    """What the perplexity on stories with new words says beside that of a 4-gram; empty where one of them was not measured."""
    if not all(name in figures for name in COUNTED):
        return ""
    own, counted = (figures[name] for name in COUNTED)
    sentence = (
        f"In stories with **new words** its perplexity is **{own:.1f}**, that of a 4-gram on the same tokens **{counted:.1f}**"
    )
    return f"{sentence}: there it is worse than counting." if own > counted else f"{sentence}."


def beside_copying(figures: Mapping[str, float]) -> str:
    """What the BLEU on stories with new words says beside that of the damaged text; empty where one of them was not measured."""
    if not all(name in figures for name in COPYING):
        return ""
    own, copied = (figures[name] for name in COPYING)
    sentence = f"In stories with **new words** its BLEU is **{own:.1f}**, that of the damaged text itself **{copied:.1f}**"
    return (
        f"{sentence}: what it writes there has less in common with the original than the damaged text has."
        if own < copied
        else f"{sentence}."
    )


def new_tokens(new: np.ndarray, known: np.ndarray, stories: int) -> str:
    """Where the loss on stories with new words comes from: −log P of tokens that training never had, and of the others."""
    if not len(new):
        return f"In {stories} such stories, all tokens occurred in its training: new words are cut into tokens that it knows."
    apart = float(new.mean()), float(known.mean())
    sentence = PROSE("new tokens", stories=stories, share=len(new) / (len(new) + len(known)), apart=apart)
    if apart[0] < 2 * apart[1]:
        return sentence
    return f"{sentence} In training such a token was never right, so its score only fell. Counting keeps some probability for every token."


def by_pieces(steps: Sequence[TrainingStep], each: float) -> Curves:
    """What an ELECTRA finds on held-out texts, and its loss, against the tokens that it had read: `each` of them per step.

    Every token that it reads has a label, so this is also the number of labels.
    """
    checked = [step for step in steps if all(name in step.metrics for name in (LOSS, *FOUND))]
    read = np.array([each * step.step for step in checked])
    lines = tuple(Curve(name, read, np.array([step.metrics[name] for step in checked])) for name in (*FOUND, LOSS))
    return Curves(
        "What ELECTRA finds, by the tokens it has read", "tokens read, each with a label", "F1; loss in nats", lines,
        f"one training run of {steps[-1].step:,} steps, about {each:,.0f} tokens each", log=True,
    )  # fmt: skip
