"""Clauses: a verb that goes with its subject, a tense that goes with the verb, and all that follows them."""

from __future__ import annotations

from dataclasses import replace

from explorer.errors import TextError
from explorer.microworld.grammar.drawing import HUMAN, adverbs_called, kinds_of, verbs_called
from explorer.microworld.grammar.frames import LINKS, POINTING, PREPOSITIONS, ClausePlan, Piece, Slot, VerbPlan
from explorer.microworld.grammar.naming import Naming
from explorer.microworld.grammar.scene import without_judgement
from explorer.microworld.grammar.tree import (
    NP,
    Belongs,
    Clause,
    Comparative,
    Complement,
    Exists,
    Gap,
    Location,
    Passive,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    Self,
    Tail,
    agreement,
    key_of,
)
from explorer.microworld.grammar.words import DONE, TranslatedVerb, nouns

SPECIAL = {"gives", "music", "game", "puts", "ask", "control", "needs"}  # verbs with frames for themselves
OWNERS = {"I": Pronoun(1), "W": Pronoun(1, True), "Y": Pronoun(2), "H": Pronoun(3), "F": Pronoun(3, False, "f")}
DENIED = 0.22  # the share of denied clauses among those that may be


class Clauses(Naming):
    """Fills the clauses of one text."""

    def clause(self, plan: ClausePlan, tense: str, shared: NP | None = None) -> Clause | Exists:
        """One clause in a tense; `shared` is the subject of the clause before, for one that has none."""
        verb = self._choose(plan)
        self.scene.verb = verb
        tense = plan.verb.tense or (self.draw.tense(verb) if tense == "auto" else tense)
        if plan.exists:
            return self._exists(plan, tense)
        denied = plan.verb.mode == "!" or (plan.verb.mode == "~" and not self.asks and self.draw.maybe(DENIED))
        subject = self._subject(plan, verb, shared, tense in ("order", "lets", "infinitive"))
        helper = self._helper(plan.verb)
        tense = self._fitting(tense, helper or verb, denied)
        negation = "" if not denied or tense in ("used",) else "not" if plan.verb.mode == "!" else self.draw.negation(tense)
        negation = "not" if helper and negation or tense in ("order", "lets", "infinitive") and negation else negation
        negation = "not" if negation == "never" and "state" in verb.flags and "clause" not in verb.flags else negation
        clause = Clause(subject, verb, tense, negation, helper)
        if plan.verb.passive:
            clause = clause._replace(verb=DONE, tail=(Passive(verb),))
        for piece in plan.pieces:
            clause = self._with(clause, piece, verb)
        return clause

    def _choose(self, plan: ClausePlan) -> TranslatedVerb:
        """The verb of a clause: one of those named that its subject may have."""
        names = plan.verb.names
        if names[0].startswith("="):
            return self.scene.verbs[int(names[0][1:])]
        choices = [verb for name in names for verb in verbs_called(name)]
        if not choices:
            raise TextError(f"No verb is called {' or '.join(names)!r}. Correct the frame, or add it to verbs.tsv.")
        if plan.verb.passive:
            choices = [verb for verb in choices if verb.objects]
        if any(piece.slot is not None and piece.slot.classes == "objects" for piece in plan.pieces):
            choices = [v for v in choices if v.objects and not (names[0] == "@act" and SPECIAL & set(v.flags))]
        subject = plan.subject
        choices = self._meant(plan, choices)
        if subject is not None and len(choices) > 1 and not plan.verb.passive:
            kinds = self._subject_kinds(subject)
            choices = [verb for verb in choices if not verb.subjects or set(verb.subjects) & kinds] or choices
        verb = self.draw.pick(choices)
        self.scene.verbs.append(verb)
        return verb

    @staticmethod
    def _meant(plan: ClausePlan, choices: list[TranslatedVerb]) -> list[TranslatedVerb]:
        """Those of several verbs of one name that fit: of the weather or not, with an object or a clause or without."""
        kinds = {piece.kind for piece in plan.pieces}
        weather = plan.subject is not None and plan.subject.key == "it"
        fitting = [verb for verb in choices if ("weather" in verb.flags) == weather] or choices
        if "clause" in kinds:
            fitting = [verb for verb in fitting if "clause" in verb.flags] or fitting
        elif "object" in kinds:
            fitting = [verb for verb in fitting if verb.objects] or fitting
        return fitting

    def _subject_kinds(self, slot: Slot) -> set[str]:
        if slot.key in self.scene.known:
            return set(kinds_of(self.scene.known[slot.key]))
        classes = slot.classes.split("|")
        if set(classes) & HUMAN:
            return {"person"}
        return {kind for noun in nouns() if set(classes) & set(noun.kinds) for kind in noun.kinds} or {"person"}

    def _fitting(self, tense: str, verb: TranslatedVerb, denied: bool) -> str:
        """The tense, or a simpler one where the verb has no progressive, no *used to*, or a helping verb."""
        simple = {"progressive": "present", "was": "past", "used": "past", "perfect": "past", "had": "past", "going": "will"}
        if "modal" in verb.flags:
            return "past" if tense in ("past", "was", "had") and "cond" not in verb.flags and verb.en[0] == "can" else "present"
        if "state" in verb.flags and tense in ("progressive", "was", "used", "perfect"):
            return simple[tense]
        return simple[tense] if tense == "used" and (denied or self.asks) else tense

    def _helper(self, plan: VerbPlan) -> TranslatedVerb | None:
        if not plan.helpers:
            return None
        name = self.draw.pick(plan.helpers)
        choices = verbs_called(name)
        if not choices:
            raise TextError(f"No helping verb is called {name!r}. Correct the frame, or add it to verbs.tsv.")
        return self.draw.pick(choices)

    def _exists(self, plan: ClausePlan, tense: str) -> Exists:
        tense = tense if tense in ("present", "past", "will") else "present"
        denied = plan.verb.mode == "!" or (plan.verb.mode == "~" and not self.asks and self.draw.maybe(DENIED))
        slot = next(piece.slot for piece in plan.pieces if piece.kind == "object")
        assert slot is not None
        if slot.both is None and slot.key not in self.scene.known:
            noun = self._noun(slot, None)
            plural = not noun.mass and (slot.plural or self.draw.maybe(0.35)) and not slot.determiner
            few = self.draw.pick(("two", "three", "many", "some", "several")) if plural else "some" if noun.mass else "a"
            determiner = "any" if self.asks and few == "some" else few
            phrase = Phrase(noun, determiner, plural, self.draw.described(noun, 0.2), key=slot.key)
            phrase = self._determined(phrase, slot) if slot.determiner else phrase
            phrase = phrase._replace(determiner="no") if denied else phrase
            self.scene.mention(slot.key, phrase)
            thing = self._surrounded(phrase, slot)
        else:
            thing, denied = self.noun_phrase(slot, None), False
        node = Exists(thing, tense, "not" if denied else "")
        tail: list[Tail] = []
        for piece in plan.pieces:
            if piece.kind in ("place", "adverb"):
                tail += self._with(Clause(thing, tense=tense), piece, None).tail
        return node._replace(tail=tuple(tail))

    def _subject(self, plan: ClausePlan, verb: TranslatedVerb, shared: NP | None, unsaid: bool) -> NP:
        if plan.subject is None:
            if shared is None:
                return Pronoun(2)
            if isinstance(shared, Gap) or unsaid:
                return shared
            return Gap(agreement(shared), key_of(shared))
        if plan.subject.key in POINTING:
            word = plan.subject.key
            return Pronoun(3, POINTING[word], thing=True, near="" if word in ("it", "they") else word)
        slot = plan.subject
        if slot.classes == "subjects":
            kind = self.draw.pick(verb.subjects)
            slot = replace(slot, classes="person" if kind == "person" else kind)
        if slot.classes == "objects":
            slot = replace(slot, classes=self.draw.pick(verb.objects))
        self._subjects = set() if plan.verb.passive else set(verb.subjects)
        node = self.noun_phrase(slot, verb)
        self._subjects = set()
        return node

    def _with(self, clause: Clause, piece: Piece, verb: TranslatedVerb | None) -> Clause:
        """The clause with one more thing that follows the verb."""
        subject = clause.subject
        if piece.kind == "object" and piece.slot is not None:
            return self._with_object(clause, piece.slot, verb)
        if piece.kind == "recipient" and piece.slot is not None:
            return clause._replace(recipient=self.scene.refer(piece.slot.key))
        if piece.kind == "adverb":
            return self._with_adverb(clause, piece.text)
        if piece.kind == "adjective":
            clause = clause._replace(subject=without_judgement(subject))
        return clause._replace(tail=(*clause.tail, self._tail(clause, piece, subject)))

    def _tail(self, clause: Clause, piece: Piece, subject: NP) -> Tail:
        kind, slot = piece.kind, piece.slot
        if kind == "adjective":
            return self._predicate(clause, piece.text)
        if kind.startswith("compare") and slot is not None:
            return Comparative(
                self.draw.quality(self.scene.meant(subject), piece.text), kind.split()[1], self.noun_phrase(slot, None)
            )
        if kind == "profession":
            return Profession(self.draw.noun(piece.text, lambda n: "royal" not in n.kinds))
        if kind == "belongs" and slot is not None:
            return Belongs(OWNERS[slot.key])
        if kind in ("infinitive", "clause") and piece.clause is not None:
            return self._complement(clause, piece, piece.clause)
        assert slot is not None
        return Location(piece.text.replace("_", " "), PREPOSITIONS[piece.text], self.noun_phrase(slot, clause.verb))

    def _complement(self, clause: Clause, piece: Piece, plan: ClausePlan) -> Complement:
        if piece.kind == "infinitive":
            controls = clause.recipient if clause.recipient is not None and "control" in clause.verb.flags else clause.subject
            inner = self.clause(plan, "infinitive", controls)
            purpose = not (
                {"control", "promise"} & set(clause.verb.flags) or clause.tail[-1:] and isinstance(clause.tail[-1], Predicate)
            )
            return Complement(inner, "", "pour" if purpose else "de")  # type: ignore[arg-type]
        tense = {"past": "past", "was": "past", "had": "past"}.get(clause.tense, "auto")
        inner = self.clause(plan, plan.verb.tense or tense)
        link = (
            ""
            if piece.text == "that" and clause.verb.en[0] in ("think", "hope", "know") and self.draw.maybe(0.2)
            else piece.text
        )
        if isinstance(inner, Clause) and isinstance(inner.subject, Phrase) and inner.subject.determiner == link == "that":
            link = ""  # not *that that*
        return Complement(inner, link, LINKS.get(piece.text, "que"))  # type: ignore[arg-type]

    def _predicate(self, clause: Clause, text: str) -> Predicate:
        degree, _, spec = text.partition("=")
        spec, _, second = spec.partition("&")
        subject = self.scene.meant(clause.subject)
        fact, _, key = spec.partition("(")
        if key:
            known = self.scene.known[key.rstrip(")")]
            spec = known.noun.fact(fact) if isinstance(known, Phrase) else spec
        adjective = self.scene.adjectives[int(spec)] if spec.isdecimal() else self.draw.quality(subject, spec)
        for _ in range(5):
            if adjective in self.scene.adjectives and spec == "of":
                adjective = self.draw.quality(subject, spec)
        self.scene.adjectives.append(adjective)
        if second:
            other = self.draw.quality(subject, second)
            while other.m == adjective.m:  # neither the same nor a synonym: *ill* and *sick*
                other = self.draw.quality(subject, second)
            return Predicate(adjective, "", other)
        plain = {"plain": "", "": self.draw.degree(adjective, bool(clause.negation))}
        return Predicate(adjective, plain.get(degree, degree))

    def _with_object(self, clause: Clause, slot: Slot, verb: TranslatedVerb | None) -> Clause:
        if slot.key == "R" and verb is not None:  # the receiver
            return clause._replace(recipient=self.noun_phrase(replace(slot, key="R"), verb))
        if slot.classes == "objects?" and (verb is None or not verb.objects):
            return clause
        if slot.key == "S" and not slot.classes:
            return clause._replace(object=Self())
        if verb is not None and "control" in verb.flags or verb is not None and "promise" in verb.flags:
            return clause._replace(recipient=self.noun_phrase(slot, verb))
        passive = clause.tail[:1] and isinstance(clause.tail[0], Passive)
        denied = bool(clause.negation)
        owner = self.scene.meant(clause.subject) if isinstance(clause.subject, Gap) else clause.subject
        thing = self.noun_phrase(slot, verb, owner, denied=denied)
        if passive and isinstance(clause.tail[0], Passive):
            return clause._replace(tail=(clause.tail[0]._replace(agent=thing), *clause.tail[1:]))
        none = isinstance(thing, Phrase) and thing.determiner == "no"  # which French denies: *n'a pas d'amis*
        return clause._replace(object=thing, negation="no" if none else clause.negation)

    def _with_adverb(self, clause: Clause, name: str) -> Clause:
        adverb = self._adverb(name, clause.tense)
        if adverb is None:
            return clause
        if adverb.sort in ("often", "already"):
            return clause._replace(adverb=None if clause.negation else adverb)
        if adverb.sort.split()[0:1] and adverb.sort.split()[0] in ("skill", "pace", "care", "quiet", "joy", "loud", "much"):
            return clause._replace(manner=adverb)
        return clause._replace(tail=(*clause.tail, adverb))

    def _adverb(self, name: str, tense: str):  # type: ignore[no-untyped-def]
        choices = adverbs_called(name, tense)
        if not choices and name not in ("time", "often", "already"):
            raise TextError(f"No adverb is called {name!r}, and none is of that sort. Correct the frame, or adverbs.tsv.")
        return self.draw.pick(choices) if choices else None
