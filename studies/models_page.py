"""`docs/models.md`: what the shipped models can and cannot do, made of their cards alone.

`python -m studies.models_page` writes it again, and five lines of the README; a test holds both to the cards.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.models import store
from explorer.models.card_figures import figures, shipped_figures
from studies.model_cards import TRAINED, card_of_model, twin_of
from studies.recipes import RECIPES
from studies.study import table

PAGE, README = Path("docs") / "models.md", Path("README.md")
MARKS = "<!-- models -->", "<!-- end -->"


@dataclass(frozen=True)
class PageAbility:
    """Something a class may want to see: the figure of the cards that measures it, and the figure beside it that needs no model."""

    title: str
    figure: str
    beside: str | float  # the name of a figure of the same card, or the share that chance gives
    largest: bool = True


ABILITIES = tuple(
    PageAbility(title, **entry)
    for title, entry in tomllib.loads(Path(__file__).with_name("abilities.toml").read_text("utf-8")).items()
)
HEAD = """# What the shipped models can and cannot do

Made of the cards in `data/models` by `python -m studies.models_page`; a test holds it to them. Figures are those of the
shipped seed: on validation text (facts that are not in the training texts), then on test text (words that it never had as well). *Without a
model* is what a simple rule or chance reaches on the same questions. **Bold** is clearly better than that: by 0.1, in
BLEU by 10, in perplexity by a tenth; all else a class should not expect to see. Seconds are the mean of the seeds.
"""


def page() -> str:
    """The whole page as Markdown."""
    cards = {name: card_of_model(store.data_folder() / "models", name) for name in RECIPES}
    tables = [part for ability in ABILITIES if (part := ability_table(ability, list(cards)))]
    return "\n\n".join(part.strip() for part in (HEAD, "## Abilities", *tables, "## Models", model_table(cards))) + "\n"


def ability_table(ability: PageAbility, names: Sequence[str]) -> str:
    """One ability: every model that was asked for it, beside what needs no model."""
    rows = []
    for name in names:
        figures_of = [shipped_figures(store.data_folder() / "models" / name, split) for split in ("validation", "test")]
        rules = [values.get(ability.beside) if isinstance(ability.beside, str) else ability.beside for values in figures_of]
        if ability.figure in figures_of[0] and rules[0] is not None:
            own = (values.get(ability.figure) for values in figures_of)
            cells = [_cell(figure, rule, ability.largest) for figure, rule in zip(own, rules, strict=True)]
            rows.append((name, *cells, " / ".join("–" if rule is None else f"{rule:.3f}" for rule in rules)))
    head = ("model", "validation", "test", "without a model")
    return f"### {ability.title[0].upper()}{ability.title[1:]}\n\n{table(head, rows)}" if rows else ""


def _cell(own: float | None, rule: float | None, largest: bool) -> str:
    """A figure, bold where it is clearly better than the rule; BLEU counts to 100, all other shares to 1."""
    if own is None:
        return "–"
    step = 10.0 if largest and max(own, rule or 0.0) > 1 else 0.1
    better = rule is not None and (own >= rule + step if largest else own <= 0.9 * rule)
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
        return shipped_figures(store.data_folder() / "models" / name, split)[figure]

    both, bleu, copied = "minimal pairs, reason: both of a pair", "bleu", "copying the source, bleu"
    return f"""\
- whom a reason means (*too tired*, *too wide*), both of a pair: `llama` {of("llama", both):.2f}, `roberta` \
{of("roberta", both):.2f}, `bert` {of("bert", both):.2f} (chance 0.25)
- a name that was said before: `bert` {of("bert", "a name said before"):.2f} (chance 0.5)
- a sentence in French, exactly: `transformer` {of("transformer", "exact match"):.2f}
- a damaged story restored, BLEU: `bart` {of("bart", bleu):.0f} (untouched {of("bart", copied):.0f}); with new words \
{of("bart", bleu, "test"):.0f} ({of("bart", copied, "test"):.0f})
- an analogy: `word2vec` {of("word2vec", "analogies"):.2f}, of gender {of("word2vec", "analogies, gender"):.2f}"""


def in_readme(text: str) -> str:
    """The README with these lines between their marks."""
    before, _, rest = text.partition(f"{MARKS[0]}\n")
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{in_short()}\n{MARKS[1]}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    README.write_text(in_readme(README.read_text("utf-8")), "utf-8")
    print(f"Written: {PAGE}, {README}")
