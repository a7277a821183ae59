"""The scene of a text: who and what has been mentioned, and when a pronoun says clearly who is meant."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.microworld.grammar.drawing import Draw
from explorer.microworld.grammar.tree import (
    NP,
    Both,
    Of,
    Phrase,
    Pronoun,
    ProperName,
    Relative,
    agreement,
    is_thing,
    key_of,
)
from explorer.microworld.grammar.words import Adjective, TranslatedVerb


@dataclass
class Scene:
    """Who and what has been mentioned in a text, by the letters of its frame."""

    draw: Draw
    known: dict[str, NP] = field(default_factory=dict)
    mentioned: list[str] = field(default_factory=list)
    verb: TranslatedVerb | None = None
    verbs: list[TranslatedVerb] = field(default_factory=list)
    adjectives: list[Adjective] = field(default_factory=list)
    here: set[str] = field(default_factory=set)  # what this sentence has mentioned

    def mention(self, key: str, node: NP) -> None:
        """Remember somebody or something under a letter."""
        self.known[key] = node
        self.here.add(key)
        if key not in self.mentioned:
            self.mentioned.append(key)

    def meant(self, node: NP) -> NP:
        """Who a pronoun or a gap means: adjectives are chosen for that."""
        known = self.known.get(key_of(node))
        if known is None:
            return node
        return known.head if isinstance(known, (Of, Relative)) else known

    def refer(self, key: str, forced: bool = False) -> NP:
        """Somebody or something that was mentioned before: a pronoun where it is clear who is meant, else the name or noun again."""
        node = self.known[key]
        if isinstance(node, Pronoun):
            return node
        clear = forced or not any(alike(self.known[other], node) for other in self.mentioned if other != key)
        if isinstance(node, Both):
            return Pronoun(3, True, agreement(node).gender, key=key)
        if (clear and self.draw.maybe(0.97 if key in self.here else 0.86)) or forced:
            features = agreement(node)
            return Pronoun(3, features.plural, features.gender, thing=is_thing(node), key=key)
        if isinstance(node, (Of, Relative)):
            node = node.head
        if isinstance(node, Phrase):
            owner = None if node.owner is None or not clear else node.owner
            few = node.determiner if node.determiner in ("this", "that") and node.owner is None else "the"
            return node._replace(determiner="" if node.noun.mass and few != "the" else few, adjectives=(), owner=owner)
        return node


def alike(first: NP, second: NP) -> bool:
    """Whether the same English pronoun may mean both."""
    if isinstance(first, Pronoun) and first.person < 3:
        return False
    features, others = agreement(first), agreement(second)
    same = features.plural == others.plural and is_thing(first) == is_thing(second)
    return same and (features.plural or is_thing(first) or features.gender == others.gender)


def without_judgement(node: NP) -> NP:
    """A noun phrase with no adjective but a colour or a nation: *the boring film was interesting* contradicts itself."""
    if not isinstance(node, Phrase) or node.determiner == "most":
        return node
    kept = tuple(adjective for adjective in node.adjectives if {"colour", "nation"} & set(adjective.classes))
    return node._replace(adjectives=kept)


def same_words(first: NP, second: NP) -> bool:
    """Whether both would be the same name, noun or pronoun."""
    if isinstance(first, Pronoun) and isinstance(second, Pronoun):
        return first.person == second.person and first.plural == second.plural
    if isinstance(first, ProperName) and isinstance(second, ProperName):
        return first.text == second.text
    if isinstance(first, Phrase) and isinstance(second, Phrase):
        return first.noun.en == second.noun.en
    return isinstance(first, Pronoun) and isinstance(second, Both)
