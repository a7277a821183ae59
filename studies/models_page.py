"""`docs/models.md`: what the shipped models can and cannot do, made of their cards alone.

`python -m studies.models_page` writes it again, and five lines of the README; a test holds both to the cards.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.errors import FileError
from explorer.models import store
from explorer.models.card_figures import CARD, figures, shipped_figures
from studies.model_cards import TRAINED, twin_of
from studies.recipes import RECIPES

PAGE, README = Path("docs") / "models.md", Path("README.md")
MARKS = "<!-- models -->", "<!-- end -->"


@dataclass(frozen=True)
class PageAbility:
    """Something a class may want to see: the figure of the cards that measures it, and the figure beside it that needs no model."""

    said: str
    figure: str
    beside: str | float  # the name of a figure of the same card, or the share that chance gives
    largest: bool = True


ABILITIES = (
    PageAbility("fills a hidden word (the token itself)", "mlm accuracy", 0.0),
    PageAbility("fills in a name that the text says elsewhere", "a name said before", 0.5),
    PageAbility("fills in a noun that the text says elsewhere", "a noun said before", 0.25),
    PageAbility("chooses *he* or *she* by the name", "he or she", 0.5),
    PageAbility("makes a verb agree with its subject", "agreement", 0.5),
    PageAbility("… past a noun of the other number", "agreement past an attractor", 0.5),
    PageAbility(
        "finds whom a reason means: *too tired, too wide*, both of a pair", "too tired, too wide: both of a pair", 0.25
    ),
    PageAbility("finds whom a reason means: *too big, too small*, both of a pair", "too big, too small: both of a pair", 0.25),
    PageAbility(
        "finds whom a reason means, with words that never occur together in training (minimal pairs, both right)",
        "minimal pairs, reason: both of a pair",
        0.25,
    ),
    PageAbility("the same inside a story", "minimal pairs, reason, in stories: both of a pair", 0.25),
    PageAbility("finds which of two people a reason means", "who, by the reason", 0.5),
    PageAbility("finds whether a second half belongs to the first", "nsp accuracy", "nsp, shared-name rule"),
    PageAbility("finds words that were replaced (F1)", "replaced f1", "f1, always saying replaced"),
    PageAbility("is surprised by the next token less than counting (perplexity)", "perplexity", "4-gram perplexity", False),
    PageAbility("goes on with what was repeated", "repeat accuracy", 0.0),
    PageAbility("writes its whole answer exactly: a translation, a restored text, the answer of a task", "exact match", 0.0),
    PageAbility("restores a text (BLEU), beside leaving it as it is", "bleu", "copying the source, bleu"),
    PageAbility("writes hidden spans exactly", "spans exactly right", 0.0),
    PageAbility("writes a missing sentence (F1)", "gap sentence F1", "as many first words, F1"),
    PageAbility("translates, named by a prefix (BLEU), beside copying", "translation, bleu", "translation, copying the text"),
    PageAbility(
        "judges a sentence, named by a prefix, beside the most frequent answer",
        "acceptability, accuracy",
        "acceptability, most frequent answer",
    ),
    PageAbility(
        "finds a feeling, named by a prefix, beside the most frequent answer",
        "sentiment, accuracy",
        "sentiment, most frequent answer",
    ),
    PageAbility(
        "summarises, named by a prefix (F1), beside the first sentence and the commonest ending",
        "summary, F1 of words",
        "summary, first sentence and “It ends well.”",
    ),
    PageAbility("solves analogies", "analogies", 0.0),
)
HEAD = """# What the shipped models can and cannot do

Made of the cards in `data/models` by `python -m studies.models_page`; a test holds it to them. Figures are those of the
shipped seed: on validation text (facts that are not in the training texts), then on test text (words that it never had as well). *Without a
model* is what a simple rule or chance reaches on the same questions. **Bold** is clearly better than that: by 0.1, in
BLEU by 10, in perplexity by a tenth; all else a class should not expect to see. Seconds are the mean of the seeds.
"""


def page() -> str:
    """The whole page as Markdown."""
    cards = {name: card_of_model(name) for name in RECIPES}
    parts = [
        HEAD,
        "## Abilities",
        *(part for ability in ABILITIES if (part := section(ability, list(cards)))),
        "## Models",
        models(cards),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def card_of_model(name: str) -> str:
    """The card of a shipped model."""
    path = store.data_folder() / "models" / name / CARD
    if not path.is_file():
        raise FileError(f"There is no {path}. Train the model first: python -m studies.recipes {name}.")
    return path.read_text("utf-8")


def section(ability: PageAbility, names: Sequence[str]) -> str:
    """One ability: every model that was asked for it, beside what needs no model."""
    rows = []
    for name in names:
        held = [shipped_figures(store.data_folder() / "models" / name, split) for split in ("validation", "test")]
        beside = [found.get(ability.beside) if isinstance(ability.beside, str) else ability.beside for found in held]
        if ability.figure in held[0] and beside[0] is not None:
            cells = [_cell(found.get(ability.figure), rule, ability.largest) for found, rule in zip(held, beside, strict=True)]
            rows.append(
                f"| {name} | {' | '.join(cells)} | {' / '.join('–' if one is None else f'{one:.3f}' for one in beside)} |"
            )
    return "\n".join([f"### {ability.said[0].upper()}{ability.said[1:]}", "", *TABLE, *rows]) if rows else ""


TABLE = ("| model | validation | test | without a model |", "|---|---|---|---|")


def _cell(own: float | None, rule: float | None, largest: bool) -> str:
    """A figure, bold where it is clearly better than the rule; BLEU counts to 100, all other shares to 1."""
    if own is None:
        return "–"
    step = 10.0 if largest and max(own, rule or 0.0) > 1 else 0.1
    better = rule is not None and (own >= rule + step if largest else own <= 0.9 * rule)
    return f"**{own:.3f}**" if better else f"{own:.3f}"


def models(cards: dict[str, str]) -> str:
    """What each model is: its card's first sentence, its size, its time and its twin."""
    lines = ["| model | what it is | weights | seconds of training | opens in Hugging Face as |", "|---|---|---|---|---|"]
    for name, card in cards.items():
        weights, twin, _ = twin_of(card)
        said = " ".join(card.split("\n\n")[1].split()).split(" (")[0].replace("|", "/")
        lines.append(f"| {name} | {said} | {weights} | {np.mean(figures(card)[TRAINED]):.0f} | {twin} |")
    return "\n".join(lines)


def in_short() -> str:
    """Five lines for the README, each figure from a card: on validation text, where no other is named."""

    def of(name: str, figure: str, split: str = "validation") -> float:
        return shipped_figures(store.data_folder() / "models" / name, split)[figure]

    both, bleu, copied = "minimal pairs, reason: both of a pair", "bleu", "copying the source, bleu"
    return "\n".join(
        (
            f"- whom a reason means (*too tired*, *too wide*), both of a pair: `llama` {of('llama', both):.2f}, `roberta` "
            f"{of('roberta', both):.2f}, `bert` {of('bert', both):.2f} (chance 0.25)",
            f"- a name that was said before: `bert` {of('bert', 'a name said before'):.2f} (chance 0.5)",
            f"- a sentence in French, exactly: `transformer` {of('transformer', 'exact match'):.2f}",
            f"- a damaged story restored, BLEU: `bart` {of('bart', bleu):.0f} (untouched {of('bart', copied):.0f}); with new words "
            f"{of('bart', bleu, 'test'):.0f} ({of('bart', copied, 'test'):.0f})",
            f"- an analogy: `word2vec` {of('word2vec', 'analogies'):.2f}, of gender {of('word2vec', 'analogies, gender'):.2f}",
        )
    )


def in_readme(text: str) -> str:
    """The README with these lines between their marks."""
    before, _, rest = text.partition(f"{MARKS[0]}\n")
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{in_short()}\n{MARKS[1]}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    README.write_text(in_readme(README.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"Written: {PAGE}, {README}\n")
