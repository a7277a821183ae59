"""What a model does beside what its best head attends to: the figures of the cards, the text and the ◇ question."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from explorer.app.prose import prose
from explorer.models import run_folder, store
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.records import Exercise, HeadSearch

PROSE = prose("heads")

FILLED = ("too tired, too wide", "too big, too small")
HEAD, TAUGHT = "it → the right noun, best head", "it → the right noun, taught head"
CHANCE = 0.5


RESOLVING = ("bert-tiny", "bert", "gpt2")  # little and long trained; a decoder, which sees the reason only after the noun
PAIRED = (*(f"{kind}: both of a pair" for kind in FILLED), "minimal pairs, reason: both of a pair")
ALL = "all of them"
GUESSING = 0.25  # of two texts both right, where each answer is a guess
LITTLE, REASONS = 0.05, "the noun that a reason refers to"


def best_heads() -> dict[str, tuple[float, float, bool]]:
    """By model: how often it fills in the right noun, how often its best head finds it, and whether a head was supervised."""
    by_model = {}
    for name in models():
        figures = shipped_figures(store.folder_of(name))
        if HEAD in figures and all(kind in figures for kind in FILLED):
            by_model[name] = (sum(figures[kind] for kind in FILLED) / len(FILLED), figures[HEAD], TAUGHT in figures)
    return by_model


def head_question(by_model: Mapping[str, tuple[float, float, bool]]) -> Exercise:
    """How often the best head is right in the model that behaves best, of those without a supervised head."""
    alone = {name: figures for name, figures in by_model.items() if not figures[2]}
    name = max(alone, key=lambda name: alone[name][0])
    filled, head, _ = alone[name]
    answer = 2 if head > filled - 0.06 else 1 if head > CHANCE + 0.06 else 0
    why = f"{head:.0%}, and the model {filled:.0%}."
    for other, (does, looks, _) in by_model.items():
        if by_model[other][2]:
            why += f" The head of {other} was trained with gold labels to find the noun: {looks:.0%}. The model itself: {does:.0%}."
    return PROSE.question("head question", answer, name=name, filled=filled, why=why)


def paired() -> dict[str, tuple[float, ...]]:
    """By model, in how many pairs both texts are right: filled in, twice, and in minimal pairs; NaN where it was not measured."""
    by_model = {}
    for name in RESOLVING:
        figures = shipped_figures(store.folder_of(name))
        by_model[name] = tuple(figures.get(kind, float("nan")) for kind in PAIRED)
    return by_model


def resolves(figures: tuple[float, ...]) -> bool:
    """Whether a model is right in both texts of a pair more often than by guessing, in everything that was measured."""
    return all(not value <= GUESSING for value in figures)


def who_question(by_model: Mapping[str, tuple[float, ...]]) -> Exercise:
    """Which of the models find what *it* means."""
    can = [name for name, figures in by_model.items() if resolves(figures)]
    options = ("none of them", *(f"only {name}" for name in by_model), *_together(list(by_model)))
    answer = (
        options[0]
        if not can
        else f"only {can[0]}"
        if len(can) == 1
        else ALL
        if len(can) == len(by_model) > 2
        else " and ".join(can)
    )
    return PROSE.question(
        "who question",
        answer,
        options=options,
        models=", ".join(by_model),
        figures="; ".join((f"{name}: {_percentages(figures)}" for name, figures in by_model.items())) + ".",
    )


def _together(names: list[str]) -> list[str]:
    """Every two of the names, and all of them."""
    pairs = [" and ".join(pair) for pair in combinations(names, 2)]
    return pairs if len(names) < 3 else [*pairs, ALL]


def _percentages(figures: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.0%}" for value in figures if value == value)


def pair_rows(by_model: Mapping[str, tuple[float, ...]]) -> list[dict[str, str]]:
    """A table of them."""
    heads = ("tired or wide", "big or small", "minimal pairs")
    return [
        {"model": name}
        | {head: "–" if value != value else f"{value:.0%}" for head, value in zip(heads, figures, strict=True)}
        | {"stories": stories_of(name)}
        for name, figures in by_model.items()
    ]


def stories_of(name: str) -> str:
    """The stories from which a model learned, and of which new ones were used to measure it; empty where it kept no plan."""
    folder = store.folder_of(name)
    planned = run_folder.described(folder)["plan"] if (folder / run_folder.RUN).is_file() else {}
    return str(planned.get("corpus", {}).get("name", ""))


def rows(by_model: Mapping[str, tuple[float, float, bool]]) -> list[dict[str, str]]:
    """A table of all models, the best behaviour first."""
    order = sorted(by_model, key=lambda name: -by_model[name][0])
    return [
        {
            "model": name + (" (supervised)" if by_model[name][2] else ""),
            "the model is right": f"{by_model[name][0]:.0%}",
            "its best head is right": f"{by_model[name][1]:.0%}",
            "stories": stories_of(name),
        }
        for name in order
    ]


def silence_question(record: HeadSearch) -> Exercise:
    """What becomes of the model without the heads that find the noun of a reason."""
    at = record.phenomena.index(REASONS)
    intact, silenced, others = record.intact[at], record.silenced[at], record.others[at]
    answer = 0 if silenced > intact - LITTLE else 1 if silenced > CHANCE + LITTLE else 2
    low, high = np.nanmin(others), np.nanmax(others)
    return PROSE.question(
        "silence question",
        answer,
        record=record,
        kept=record.kept[at].max(),
        intact=intact,
        silenced=silenced,
        low=low,
        high=high,
    )


def search_results(record: HeadSearch) -> str:
    """What is found for each phenomenon: whether a head finds the word, and what the model loses without both heads."""
    parts = []
    for n, name in enumerate(record.phenomena):
        lost, draws = record.intact[n] - record.silenced[n], int(np.isfinite(record.others[n]).sum())
        worse = int((record.others[n] <= record.silenced[n]).sum())
        result = "a head finds it more often than any rule" if record.finds[n] else "no head is clearly better than a rule"
        cost = "switching both off costs nothing" if lost <= 0 else f"switching both off costs {100 * lost:.0f} points"
        parts.append(f"- **{name}**: {result}; {cost}, and {worse} of {draws} other pairs cost as much or more.")
    return "\n".join(parts)
