"""What a template is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a template: a fixed word, or a slot."""

    text: str = ""
    pos: str = ""
    sense: str = ""
    key: str = ""  # the slot's owner in the cast
    path: str = ""  # which of its forms
    who: tuple[str, ...] = ()  # whom or what it means
    form: str = ""  # name, pronoun or description
    lemma: str = ""  # of a finite verb
    number: str = ""  # the number of a finite verb: sg, pl, or the key of what decides it
    slot: bool = False
