"""What a minimal pair is: two texts with the same open place, of which one word decides what belongs there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from explorer.microworld.apart import WORLD
from explorer.microworld.derived.stage import Stage
from explorer.microworld.lexicon import Word, lexicon

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContrastPair:
    """Two texts with an open place each: `before[n]`, then one of the `choices`, then `after[n]`; `choices[n]` is right in text n."""

    phenomenon: str
    kind: str  # the family or the word that it is about
    before: tuple[str, str]
    after: tuple[str, str]
    choices: tuple[str, str]
    rule: tuple[int, int] = (1, 1)  # what the trivial rule of the phenomenon chooses
    story: str = ""  # sentences before both texts
    sources: tuple[str, ...] = ()  # for translations: the two texts to be translated
    targets: tuple[tuple[str, str], ...] = ()  # and for each of them the two translations to choose from
    lecture: bool = False

    def text(self, which: int, choice: int) -> str:
        """One of the texts with one of the choices in its open place."""
        if self.targets:
            return self.targets[which][choice]
        return f"{self.story}{self.before[which]}{self.choices[choice]}{self.after[which]}"


def opposed(phenomenon: str, kind: str, texts: Sequence[str], choices: tuple[str, str], rule: int = 1) -> ContrastPair:
    """A minimal pair from two texts with a ␣ at their open place; `rule` is the choice of who looks only at what is the same."""
    (first, end), (second, close) = (text.split("␣") for text in texts)
    return ContrastPair(phenomenon, kind, (first, second), (end, close), choices, (rule, rule))


def shuffled(stage: Stage, rows: Sequence[T]) -> list[T]:
    """The rows in an order that chance decides."""
    order = sorted((stage.rng.random(), number) for number in range(len(rows)))
    return [rows[number] for _, number in order]


def words_of(group: str) -> list[Word]:
    """The words of a class that are no verbs."""
    return [word for word in lexicon(WORLD).classes[group] if isinstance(word, Word)]
