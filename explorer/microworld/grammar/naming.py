"""Noun phrases: who or what a slot of a frame stands for, new or mentioned before, with its determiner, adjectives and owner."""

from __future__ import annotations

import re
from dataclasses import replace

from explorer.errors import TextError
from explorer.microworld.grammar.drawing import HUMAN, Draw
from explorer.microworld.grammar.frames import PREPOSITIONS, ClausePlan, Slot
from explorer.microworld.grammar.scene import Scene, alike, same_words
from explorer.microworld.grammar.tagging import NUMBERS
from explorer.microworld.grammar.tree import NP, Both, Clause, Exists, Gap, Of, Phrase, Pronoun, Relative, agreement
from explorer.microworld.grammar.words import Noun, TranslatedVerb, nouns

MANY = NUMBERS | {"many", "several", "a few", "a lot of", "these", "all the", "too many", "how many", "enough"}
FACTS = re.compile(r"(\w+)\((\w+)\)")


class Naming:
    """Fills the slots of one text with noun phrases; `clause`, which relative clauses need, is what `Clauses` adds."""

    def __init__(self, draw: Draw, known: dict[str, NP] | None = None) -> None:
        self.draw = draw
        self.scene = Scene(draw, dict(known or {}), list(known or {}))
        self.asks = self.plain = False  # whether the sentence is a question, and whether the frame states a fact in plain nouns
        self._fact_text = ""
        self._subjects: set[str] = set()  # what the subject that is drawn now must be

    def clause(self, plan: ClausePlan, tense: str, shared: NP | None = None) -> Clause | Exists:
        """One clause in a tense."""
        raise NotImplementedError

    def noun_phrase(self, slot: Slot, verb: TranslatedVerb | None, owner: NP | None = None, *, denied: bool = False) -> NP:
        """What a slot stands for: somebody or something new, or the same as before."""
        if slot.key in self.scene.known and not slot.classes:
            known = self.scene.known[slot.key]
            if slot.determiner == "the" and isinstance(known, Phrase):
                return known._replace(determiner="the", owner=None, adjectives=())
            if slot.determiner and isinstance(known, Phrase):
                return self._determined(known._replace(adjectives=(), owner=None), slot, denied)
            return self.scene.refer(slot.key, slot.forced)
        node = self._new(slot, verb, owner, denied)
        self.scene.mention(slot.key, node)
        return self._surrounded(node, slot)

    def _surrounded(self, node: NP, slot: Slot) -> NP:
        if slot.relative is not None and isinstance(node, Phrase):
            node = self._relative(node, slot.relative)
        if slot.of is not None and isinstance(node, Phrase):
            name, inner = slot.of
            node = Of(node, self.noun_phrase(inner, None), name.replace("_", " "), PREPOSITIONS[name])
        if slot.both is not None:
            node = Both(node, self.noun_phrase(slot.both, self.scene.verb))
        return node

    def _relative(self, head: Phrase, plan: ClausePlan) -> NP:
        outer, tense = self.scene.verb, plan.verb.tense or "past"
        gap = Gap(agreement(head), head.key)
        if plan.subject is None:
            clause = self.clause(plan, tense, gap)
            self.scene.verb = outer
            return Relative(head, clause) if isinstance(clause, Clause) else head
        clause = self.clause(plan, tense)
        self.scene.verb = outer
        return Relative(head, clause._replace(object=gap)) if isinstance(clause, Clause) else head

    def _new(self, slot: Slot, verb: TranslatedVerb | None, owner: NP | None, denied: bool) -> NP:
        classes = self._classes(slot, verb)
        classes = self.draw.pick(classes.split("|"))
        groups = {classes}
        if groups <= HUMAN and not (slot.determiner and classes in ("girl", "boy")):  # *the boys*: the noun and not a name
            return self._distinct(slot, classes)
        if groups <= {"country", "city"}:
            return self.draw.place(classes)._replace(key=slot.key)
        noun = self._noun(replace(slot, classes=classes), verb)
        kinds = set(noun.kinds)
        if "person" in kinds:
            return self._determined(self.draw.someone(slot.key, "people" if slot.plural else "one", noun), slot, denied)
        if "animal" in kinds and not slot.determiner and not slot.adjective and not slot.plural:
            return self.draw.animal(slot.key, noun)
        if verb is not None and {"music", "game"} & set(verb.flags):
            return Phrase(noun, "the" if "music" in verb.flags else "", key=slot.key)
        return self._determined(self.draw.thing(noun, slot.key, owner, denied), slot, denied)

    def _distinct(self, slot: Slot, classes: str) -> NP:
        """Somebody new: not one who was mentioned, and mostly of another gender, so that pronouns are clear."""
        for attempt in range(20):
            node = self.draw.person(slot.key, self.draw.pick(classes.split("|")))
            others = [self.scene.known[key] for key in self.scene.mentioned]
            unclear = any(alike(node, other) for other in others)
            if any(same_words(node, other) for other in others) or (unclear and isinstance(node, Pronoun)):
                continue
            if attempt > 12 or not unclear or self.draw.maybe(0.25):
                return node
        return Pronoun(1, key=slot.key)

    def _determined(self, node: Phrase, slot: Slot, denied: bool = False) -> Phrase:
        if slot.plural:
            node = node._replace(plural=not node.noun.mass)
        if slot.adjective:
            node = node._replace(adjectives=(self.draw.quality(node._replace(adjectives=()), slot.adjective),))
        if not slot.determiner:
            return node
        if not slot.adjective and (self.plain or slot.determiner == "bare"):
            node = node._replace(adjectives=())
        if slot.determiner.endswith("'s") or slot.determiner in ("my", "your", "our"):
            key = slot.determiner.removesuffix("'s")
            whose = {"my": Pronoun(1), "your": Pronoun(2), "our": Pronoun(1, True)}.get(key) or self._owner(key)
            several = "clothes" in node.noun.kinds and agreement(whose).plural  # *they put on their coats*
            plural = "pair" in node.noun.kinds or ((slot.plural or several) and not node.noun.mass)
            return node._replace(owner=whose, determiner="the", plural=plural)
        name = slot.determiner
        whole = node.noun.mass or node.noun.only_plural or "pair" in node.noun.kinds
        name = {"bare": "", "a": "some" if whole else "a"}.get(name, name)
        name = "any" if denied and name == "some" else name
        many = name in MANY or slot.plural or (name in ("some", "any") and not node.noun.mass)
        single = name in ("a", "every", "each", "one", "another")
        plural = (
            False if node.noun.mass or single else many or "pair" in node.noun.kinds or (node.plural and name not in ("the",))
        )
        if slot.determiner == "bare" and not node.noun.mass and not {"sport", "subject", "meal"} & set(node.noun.kinds):
            plural = True
        return node._replace(determiner=name, owner=None, plural=plural)

    def _owner(self, key: str) -> NP:
        """Whose: a pronoun where the owner was mentioned."""
        return self.scene.refer(key, forced=not isinstance(self.scene.known[key], Pronoun))

    def _classes(self, slot: Slot, verb: TranslatedVerb | None) -> str:
        """The classes of a slot: those of the verb's objects, or a fact about something mentioned (`sells(p)`)."""
        if slot.classes.startswith("objects"):
            if verb is None or not verb.objects:
                raise TextError(f"The frame asks for the objects of {verb.name if verb else 'no verb'}, which has none.")
            return self.draw.pick(verb.objects)
        fact, _, key = slot.classes.partition("(")
        if not key:
            return slot.classes
        known = self.scene.known[key.rstrip(")")]
        if fact == "like" and isinstance(known, Phrase):
            return known.noun.kinds[0]
        value = known.noun.fact(fact) if isinstance(known, Phrase) else ""
        if not value:
            raise TextError(f"The frame asks for the fact {fact!r} of something that has none in nouns.tsv.")
        return value if fact == "sells" else f"={value.replace('_', ' ')}"

    def _noun(self, slot: Slot, verb: TranslatedVerb | None) -> Noun:
        classes = slot.classes if slot.classes.startswith("=") else self._classes(slot, verb)
        if classes.startswith("="):
            return next(noun for noun in nouns() if noun.en == classes[1:])
        wanted = FACTS.search(self._fact_text)
        taken = {node.noun.en for node in self.scene.known.values() if isinstance(node, Phrase)}
        needs = wanted and wanted[2] == slot.key
        return self.draw.noun(
            classes,
            lambda n: (
                n.en not in taken
                and (not needs or bool(n.fact(wanted[1])) or wanted[1] == "like")  # type: ignore[index]
                and (not self._subjects or bool(self._subjects & set(n.kinds)))
            ),
        )
