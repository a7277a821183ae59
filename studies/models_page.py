"""`docs/models.md`: what the shipped models can and cannot do, made of their cards alone.

`python -m studies.models_page` writes it again, and five lines of the README; a test holds both to the cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from explorer.models import store
from explorer.models.abilities import ABILITIES, CHANCE, PAIRS, CardAbility, abilities_on_card, clearly_better
from explorer.models.card_figures import figures, shipped_figures
from studies.model_cards import TRAINED, card_of_model, twin_of
from studies.recipes import RECIPES
from studies.study import filled, table

SPLITS = ("validation", "test")
PAGE, README = Path("docs") / "models.md", Path("README.md")
ASKED = ("bert", "gpt2", "llama")  # in the README, of minimal pairs


HEAD = """# What the shipped models can and cannot do

Made from the cards in `data/models` by `python -m studies.models_page`; a test compares the two. Figures are those of the
shipped seed: on validation text (facts that are not in the training texts), then on test text (also with unseen words). *Without a
model* is what a simple rule or chance reaches on the same questions. **Bold** is clearly better than that: by 0.1, in
BLEU by 10, in perplexity by a tenth; do not expect a class to see anything else. Seconds are the mean of the seeds.
"""
PAIRED = """Two texts that differ in one word, which decides; a pair counts if both are right, so chance is 0.25. Validation / test."""


EXTREMES = """Ranked by the share of the way from the baseline to the best possible value, on the kind of held-out text where it is less."""


def page() -> str:
    """The whole page as Markdown."""
    cards = {name: card_of_model(store.data_folder() / "models", name) for name in RECIPES}
    tables = [part for ability in ABILITIES if PAIRS not in ability.figure and (part := ability_table(ability, list(cards)))]
    parts = (
        HEAD, "## Minimal pairs", PAIRED, pair_table(list(cards)), "## The weakest and the best of each", EXTREMES,
        extremes_table(list(cards)),
        "## Abilities", *tables, "## Models", model_table(cards), "## Every figure of the cards", *map(every_figure, cards),
    )  # fmt: skip
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _folder(name: str) -> Path:
    return store.data_folder() / "models" / name


def pair_table(names: Sequence[str]) -> str:
    """Minimal pairs by category: a row for each model that was asked, validation and test in a cell."""
    by_name = {name: [shipped_figures(_folder(name), split) for split in SPLITS] for name in names}
    categories = list(dict.fromkeys(figure for both in by_name.values() for figure in both[0] if figure.startswith(PAIRS)))
    rows = []
    for name, both in by_name.items():
        if any(figure in both[0] for figure in categories):
            cells = [[_cell(values.get(figure), CHANCE, True) for values in both] for figure in categories]
            rows.append((name, *("–" if set(cell) == {"–"} else " / ".join(cell) for cell in cells)))
    return table(("model", *(figure.removeprefix(PAIRS).partition(":")[0] for figure in categories)), rows)


def extremes_table(names: Sequence[str]) -> str:
    """Of each model the ability that is farthest from what needs no model to what can be reached, and the nearest."""
    rows = []
    for name in names:
        if figures_of := abilities_on_card(_folder(name)):
            ends = figures_of[0], figures_of[-1]
            rows.append((name, *(cell for one in ends for cell in (one.ability.title, f"{one.own:.3f} ({one.beside:.3f})"))))
    return table(("model", "weakest", "(without a model)", "best", "(without a model)"), rows)


def every_figure(name: str) -> str:
    """Every figure of a card, of the shipped seed."""
    both = [shipped_figures(_folder(name), split) for split in SPLITS]
    shown = sorted(dict.fromkeys((*both[0], *both[1])), key=lambda figure: not figure.startswith(PAIRS))
    rows = [(figure, *("–" if figure not in values else f"{values[figure]:.3f}" for values in both)) for figure in shown]
    return f"### {name}\n\n{table(('figure', *SPLITS), rows)}"


def ability_table(ability: CardAbility, names: Sequence[str]) -> str:
    """One ability: every model that was asked for it, beside what needs no model."""
    rows = []
    for name in names:
        figures_of = [shipped_figures(_folder(name), split) for split in SPLITS]
        rules = [values.get(ability.beside) if isinstance(ability.beside, str) else ability.beside for values in figures_of]
        if ability.figure in figures_of[0] and rules[0] is not None:
            own = (values.get(ability.figure) for values in figures_of)
            cells = [_cell(figure, rule, ability.largest) for figure, rule in zip(own, rules, strict=True)]
            same = [_cell(values.get(ability.pairs), CHANCE, True) for values in figures_of] if ability.pairs else []
            asked = [" / ".join(same)] if same else []
            rows.append((name, *cells, " / ".join("–" if rule is None else f"{rule:.3f}" for rule in rules), *asked))
    head = (
        "model",
        "validation",
        "test",
        "without a model",
        *([f"minimal pairs, both right (chance {CHANCE})"] * bool(ability.pairs)),
    )
    return f"### {ability.title[0].upper()}{ability.title[1:]}\n\n{table(head, rows)}" if rows else ""


def _cell(own: float | None, rule: float | None, largest: bool) -> str:
    """A figure, bold where it is clearly better than the rule; BLEU counts to 100, all other shares to 1."""
    if own is None:
        return "–"
    better = rule is not None and clearly_better(own, rule, largest)
    return f"**{own:.3f}**" if better else f"{own:.3f}"


def model_table(cards: dict[str, str]) -> str:
    """What each model is: its card's first sentence, its size, its time and its twin."""
    rows = []
    for name, card in cards.items():
        weights, twin, _ = twin_of(card)
        about = " ".join(card.split("\n\n")[1].split()).split(" (")[0].replace("|", "/")
        rows.append((name, about, weights, f"{np.mean(figures(card)[TRAINED]):.0f}", twin))
    return table(("model", "what it is", "weights", "seconds of training", "opens in Hugging Face as"), rows)


def in_short() -> str:
    """Five lines for the README, each figure from a card: on validation text, where no other is named."""

    def of(name: str, figure: str, split: str = "validation") -> float:
        return shipped_figures(_folder(name), split)[figure]

    bleu, copied = "bleu", "copying the source, bleu"
    return f"""\
- minimal pairs, both right (chance 0.25), weakest and best: {"; ".join(map(pair_range, ASKED))}
- a name that was said before: `bert` {of("bert", "a name said before"):.2f} (chance 0.5)
- a sentence in French, exactly: `transformer` {of("transformer", "exact match"):.2f}
- a damaged story restored, BLEU: `bart` {of("bart", bleu):.0f} (untouched {of("bart", copied):.0f}); with new words \
{of("bart", bleu, "test"):.0f} ({of("bart", copied, "test"):.0f})
- an analogy: `word2vec` {of("word2vec", "analogies"):.2f}, of gender {of("word2vec", "analogies, gender"):.2f}"""


def pair_range(name: str) -> str:
    """The categories of minimal pairs in which a model is weakest and best, with its figures."""
    values = {figure: value for figure, value in shipped_figures(_folder(name)).items() if figure.startswith(PAIRS)}
    ends = (min(values, key=values.__getitem__), max(values, key=values.__getitem__))
    return f"`{name}` " + ", ".join(f"{figure.removeprefix(PAIRS).partition(':')[0]} {values[figure]:.2f}" for figure in ends)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    README.write_text(filled(README.read_text("utf-8"), "models", in_short()), "utf-8")
    print(f"Written: {PAGE}, {README}")
