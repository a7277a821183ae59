"""What a model does beside what its best head attends to: the figures of the cards, the text and the ◇ question."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from explorer.models import run_folder, store
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.records import Exercise, HeadSearch

FILLED = ("too tired, too wide", "too big, too small")
HEAD, TAUGHT = "it → the right noun, best head", "it → the right noun, taught head"
CHANCE = 0.5
SAYS = (
    "*The dog did not cross the river because it was too **tired***: *it* is the dog. With *too **wide*** it is the river. We ask each "
    "model twice about such pairs, inside stories that no training had. **Behaviour**: *it* is replaced by *the [MASK]*; which of both "
    "nouns does the model find more probable? **Heads**: in which head does *it* attend more to the right noun? The best head is chosen "
    "on every other pair and scored on those between. Two nouns: by chance half of the answers are right. (In BERT base, heads from "
    "pronouns to their antecedents were found: Clark et al. 2019.)"
)
CONCLUDE = (
    "**You may conclude** whether one head of a model shows what the whole model does. **You may not conclude** that its heads have no "
    "part in it: several may share the work, and a weight says nothing about the values. Each head's figure is from at most 250 pairs, so "
    "differences of a few points may be chance; models that learned from another version of the stories were asked about that one."
)


SEARCHED = (
    "A word is hidden that also occurs elsewhere in the text: a name or noun mentioned before, or the noun to which a reason applies. "
    "Does one head *find* it, by giving the right word more weight than every other candidate? The two best heads are chosen on one half "
    "of the questions and judged on the other, where they are not the best by chance. Then both are **switched off**: their output is set "
    "to 0. The part *Behaviour* reads the row of *it* in a text without a blank; here it is the row of the **hidden word**. A head that "
    "finds the noun from the blank may ignore it from *it*, so the two figures of one model may differ."
)
RESOLVING = ("bert-tiny", "bert", "gpt2")  # little and long trained; a decoder, which sees the reason only after the noun
PAIRED = (*(f"{kind}: both of a pair" for kind in FILLED), "minimal pairs, reason: both of a pair")
ALL = "all of them"
GUESSING = 0.25  # of two texts both right, where each answer is a guess
WHO = (
    "*The dog did not cross the river because it was too **tired***: *it* is the dog. With *too **wide*** it is the river. Two such texts "
    "are a pair. A model that always takes the same noun is right in one text of each pair, so we count the pairs with **both** texts "
    "right: two guesses would be, in a quarter of them. An encoder fills the place of the noun and sees the reason. A decoder cannot look "
    "ahead: of the text with the one noun and the text with the other, it should find the right one more probable."
)
LITTLE, REASONS = 0.05, "whom a reason means"


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


def paired() -> dict[str, tuple[float, ...]]:
    """By model, in how many pairs both texts are right: filled in, twice, and in minimal pairs; NaN where it was not asked."""
    found = {}
    for name in RESOLVING:
        figures = shipped_figures(store.folder_of(name)) if name in models() else {}
        if any(kind in figures for kind in PAIRED):
            found[name] = tuple(figures.get(kind, float("nan")) for kind in PAIRED)
    return found


def resolves(figures: tuple[float, ...]) -> bool:
    """Whether a model is right in both texts of a pair more often than by guessing, in everything that it was asked."""
    return all(not value <= GUESSING for value in figures)


def who_question(found: Mapping[str, tuple[float, ...]]) -> Exercise:
    """Which of the models find what *it* means."""
    can = [name for name, figures in found.items() if resolves(figures)]
    options = ("none of them", *(f"only {name}" for name in found), *_together(list(found)))
    answer = (
        options[0]
        if not can
        else f"only {can[0]}"
        if len(can) == 1
        else ALL
        if len(can) == len(found) > 2
        else " and ".join(can)
    )
    asked = f"{', '.join(found)}: which of them find whom or what *it* means, in more pairs than by guessing?"
    return Exercise(asked, answer, "; ".join(f"{name}: {_told(figures)}" for name, figures in found.items()) + ".", options)


def _together(names: list[str]) -> list[str]:
    """Every two of the names, and all of them."""
    pairs = [" and ".join(pair) for pair in combinations(names, 2)]
    return pairs if len(names) < 3 else [*pairs, ALL]


def _told(figures: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.0%}" for value in figures if value == value)


def pair_rows(found: Mapping[str, tuple[float, ...]]) -> list[dict[str, str]]:
    """A table of them."""
    heads = ("tired or wide", "big or small", "minimal pairs")
    return [
        {"model": name}
        | {head: "–" if value != value else f"{value:.0%}" for head, value in zip(heads, figures, strict=True)}
        | {"stories": stories_of(name)}
        for name, figures in found.items()
    ]


PAIRS_CONCLUDE = (
    "The *minimal pairs* join nouns and reasons that training never had together; only they were put to the decoder. **You may conclude** "
    "which models tell the two reasons apart in sentences of this kind. **You may not conclude** why one does and one does not: they "
    "differ in size, stories and length of training. Nor may two columns be compared: they ask about different pairs."
)


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


def silence_question(record: HeadSearch) -> Exercise:
    """What becomes of the model without the heads that find the noun of a reason."""
    at = record.phenomena.index(REASONS)
    intact, silenced, others = record.intact[at], record.silenced[at], record.others[at]
    options = ("about as often: other heads do it as well", "less often, but above chance", "no more often than by chance")
    answer = options[0] if silenced > intact - LITTLE else options[1] if silenced > CHANCE + LITTLE else options[2]
    asked = (
        f"A head of {record.model} finds the noun that a reason means in {record.kept[at].max():.0%} of new texts, and the model prefers "
        f"the right noun in {intact:.0%}. Its two best heads are switched off. How often does the model prefer the right noun now? "
        "(By chance: half of the time.)"
    )
    low, high = np.nanmin(others), np.nanmax(others)
    return Exercise(
        asked, answer, f"{silenced:.0%}. Without two other heads: {low:.0%} to {high:.0%}, depending on which two.", options
    )


def told(record: HeadSearch) -> str:
    """What is found for each phenomenon: whether a head finds the word, and what the model loses without both heads."""
    parts = []
    for n, name in enumerate(record.phenomena):
        lost, draws = record.intact[n] - record.silenced[n], int(np.isfinite(record.others[n]).sum())
        worse = int((record.others[n] <= record.silenced[n]).sum())
        found = "a head finds it more often than any rule" if record.finds[n] else "no head is surely better than a rule"
        cost = "switching both off costs nothing" if lost <= 0 else f"switching both off costs {100 * lost:.0f} points"
        parts.append(f"- **{name}**: {found}; {cost}, and {worse} of {draws} other pairs cost as much or more.")
    return "\n".join(parts)
