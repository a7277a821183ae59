"""What a model does beside what its best head attends to: the figures of the cards, the text and the ◇ question."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.models import run_folder, store
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.records import Exercise

FILLED = ("too tired, too wide", "too big, too small")
HEAD, TAUGHT = "it → the right noun, best head", "it → the right noun, taught head"
CHANCE = 0.5
SAYS = (
    "*The dog did not cross the road because it was too **tired***: *it* is the dog. With *too **wide*** it is the road. We ask each "
    "model twice about such pairs, inside stories that no training had. **Behaviour**: *it* is replaced by *the [MASK]*; which of both "
    "nouns does the model find more probable? **Heads**: in which head does *it* attend more to the right noun? The best head is chosen "
    "on every other pair and scored on those between. Two nouns: by chance half of the answers are right."
)
CONCLUDE = (
    "**You may conclude** whether one head of a model shows what the whole model does. **You may not conclude** that its heads have no "
    "part in it: several may share the work, and a weight says nothing about the values. Each head's figure is from at most 250 pairs, so "
    "differences of a few points may be chance; models that learned from another version of the stories were asked about that one."
)


def measured() -> dict[str, tuple[float, float, bool]]:
    """By model: how often it fills in the right noun, how often its best head finds it, and whether a head was supervised."""
    found = {}
    for name in models():
        figures = shipped_figures(store.folder_of(name))
        if HEAD in figures and all(kind in figures for kind in FILLED):
            found[name] = (sum(figures[kind] for kind in FILLED) / len(FILLED), figures[HEAD], TAUGHT in figures)
    return found


def head_question(found: Mapping[str, tuple[float, float, bool]]) -> Exercise:
    """How often the best head is right in the model that behaves best, of those without a supervised head."""
    alone = {name: figures for name, figures in found.items() if not figures[2]}
    name = max(alone, key=lambda name: alone[name][0])
    filled, head, _ = alone[name]
    options = ("about half: chance", "clearly more than half, but less often than the model", "as often as the model")
    answer = options[2] if head > filled - 0.06 else options[1] if head > CHANCE + 0.06 else options[0]
    why = f"{head:.0%}, and the model {filled:.0%}."
    for other, (does, looks, _) in found.items():
        if found[other][2]:
            why += f" The head of {other} was trained with gold labels to find the noun: {looks:.0%}. The model itself: {does:.0%}."
    asked = (
        f"{name} fills in the right noun in {filled:.0%} of these texts. In how many does *it* attend more to the right noun in the best "
        "of its heads?"
    )
    return Exercise(asked, answer, why, options)


def stories_of(name: str) -> str:
    """The stories from which a model learned, and of which new ones were asked; empty where it kept no plan."""
    folder = store.folder_of(name)
    planned = run_folder.described(folder)["plan"] if (folder / run_folder.RUN).is_file() else {}
    return str(planned.get("corpus", {}).get("name", ""))


def rows(found: Mapping[str, tuple[float, float, bool]]) -> list[dict[str, str]]:
    """A table of all models, the best behaviour first."""
    order = sorted(found, key=lambda name: -found[name][0])
    return [
        {
            "model": name + (" (supervised)" if found[name][2] else ""),
            "the model is right": f"{found[name][0]:.0%}",
            "its best head is right": f"{found[name][1]:.0%}",
            "stories": stories_of(name),
        }
        for name in order
    ]
