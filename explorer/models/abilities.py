"""What the card of a model says that it can and cannot do, each figure beside the one that needs no model: the weakest first."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path

from explorer.models.card_figures import shipped_figures

PAIRS, CHANCE = "minimal pairs, ", 0.25  # so the figures of minimal pairs begin; to be right in both texts by chance


@dataclass(frozen=True)
class CardAbility:
    """Something a class may want to see: the figure of the cards that measures it, and the figure beside it that needs no model."""

    title: str
    figure: str
    beside: str | float  # the name of a figure of the same card, or the share that chance gives
    largest: bool = True
    pairs: str = ""  # the figure of minimal pairs that ask the same


@dataclass(frozen=True)
class AbilityFigure:
    """An ability of one model: its figure, and what is reached without a model, on the kind of held-out text where it gains least."""

    ability: CardAbility
    own: float
    beside: float

    @property
    def gained(self) -> float:
        """How far the model is from what needs no model (0) to the best possible (1); below 0 it is worse than that."""
        if not self.ability.largest:  # perplexities: by their logarithms, which are losses
            return 1 - log(self.own) / log(self.beside)
        best = 100.0 if max(self.own, self.beside) > 1 else 1.0  # BLEU counts to 100
        return (self.own - self.beside) / (best - self.beside)


ABILITIES = tuple(
    CardAbility(title, **entry)
    for title, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
)


def abilities_on_card(folder: Path) -> tuple[AbilityFigure, ...]:
    """What the card in this folder measured, the weakest first; empty where there is no card.

    >>> made = abilities_on_card(Path("data/models/bert"))
    >>> all(one.gained <= other.gained for one, other in zip(made, made[1:], strict=False))
    True
    """
    both = [shipped_figures(folder, split) for split in ("validation", "test")]
    known = {ability.figure for ability in ABILITIES}
    unnamed = (figure for figure in both[0] if figure.startswith(PAIRS) and figure not in known)
    weakest = []
    for ability in (*ABILITIES, *(CardAbility(figure, figure, CHANCE) for figure in unnamed)):
        asked = [(values[ability.figure], _beside(ability, values)) for values in both if ability.figure in values]
        figures = [AbilityFigure(ability, own, rule) for own, rule in asked if rule is not None]
        weakest += sorted(figures, key=lambda figure: figure.gained)[:1]
    return tuple(sorted(weakest, key=lambda figure: figure.gained))


def _beside(ability: CardAbility, values: Mapping[str, float]) -> float | None:
    return values.get(ability.beside) if isinstance(ability.beside, str) else ability.beside


def clearly_better(own: float, rule: float, largest: bool = True) -> bool:
    """Whether a figure is clearly better than what needs no model: by 0.1, in BLEU by 10, in perplexity by a tenth.

    >>> clearly_better(0.5, 0.25), clearly_better(55.0, 50.0), clearly_better(8.0, 10.0, largest=False)
    (True, False, True)
    """
    step = 10.0 if max(own, rule) > 1 else 0.1
    return own >= rule + step if largest else own <= 0.9 * rule
