"""From a frame to trees: its plans are filled with people, things, words and tenses that go together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from explorer.errors import TextError
from explorer.microworld.grammar.drawing import PEOPLE, Draw, adverbs_called, kinds_of, verbs_called
from explorer.microworld.grammar.english import NUMBERS
from explorer.microworld.grammar.frames import (
    LINKS,
    PREPOSITIONS,
    ClausePlan,
    Frame,
    Piece,
    SentencePlan,
    Slot,
    VerbPlan,
    plans,
)
from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Belongs,
    Both,
    Clause,
    Comparative,
    Complement,
    Exists,
    Features,
    Fronted,
    Gap,
    Home,
    Joined,
    Lexeme,
    Link,
    Location,
    Of,
    Passive,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    ProperName,
    Question,
    Relative,
    Self,
    Sentence,
    Spoken,
    Tail,
    agreement,
    is_thing,
    key_of,
)
from explorer.microworld.grammar.tree import nodes as nodes_of
from explorer.microworld.grammar.words import DONE, Adjective, Adverb, Noun, Verb, feminines, nouns

HUMAN = {"person", "someone", "name", "girl", "boy", "pair", "people", "one", *PEOPLE}
SPECIAL = {"gives", "music", "game", "puts", "ask", "control", "needs"}  # verbs with frames for themselves
MANY = NUMBERS | {"many", "several", "a few", "a lot of", "these", "all the", "too many", "how many", "enough"}
OWNERS = {"I": Pronoun(1), "W": Pronoun(1, True), "Y": Pronoun(2), "H": Pronoun(3), "F": Pronoun(3, False, "f")}
DENIED, OPTIONAL = 0.22, 0.5
AFTER = {"will": "present", "would": "past", "going": "present"}  # the tense after *if* and *when* at the head of a sentence
FORWARD = ("would", "will", "had")


@dataclass
class Scene:
    """Who and what has been mentioned in a text, by the letters of its frame."""

    draw: Draw
    known: dict[str, NP] = field(default_factory=dict)
    mentioned: list[str] = field(default_factory=list)
    verb: Verb | None = None
    verbs: list[Verb] = field(default_factory=list)
    adjectives: list[Adjective] = field(default_factory=list)
    here: set[str] = field(default_factory=set)  # what this sentence has mentioned

    def refer(self, key: str, forced: bool = False) -> NP:
        """Somebody or something that was mentioned before: a pronoun where it is clear who is meant, else the name or noun again."""
        node = self.known[key]
        if isinstance(node, Pronoun):
            return node
        clear = forced or not any(_alike(self.known[other], node) for other in self.mentioned if other != key)
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


def _alike(first: NP, second: NP) -> bool:
    """Whether the same English pronoun may mean both."""
    if isinstance(first, Pronoun) and first.person < 3:
        return False
    one, two = agreement(first), agreement(second)
    same = one.plural == two.plural and is_thing(first) == is_thing(second)
    return same and (one.plural or is_thing(first) or one.gender == two.gender)


def settle(text: str, draw: Draw) -> str:
    """The text of a frame with its optional parts and choices settled."""
    while "{" in text:
        text = re.sub(r"\{([^{}]*)\}", lambda match: draw.pick(match[1].split(" | ")).strip(), text, count=1)
    while " ( " in text:
        text = re.sub(r" \( ([^()]*) \)", lambda match: f" {match[1]}" if draw.maybe(OPTIONAL) else "", text, count=1)
    return text


class Speaker:
    """Fills the sentences of one text."""

    def __init__(self, draw: Draw, tenses: Sequence[str], known: dict[str, NP] | None = None) -> None:
        self.draw, self.tenses, self.number = draw, tenses, 0
        self.scene = Scene(draw, dict(known or {}), list(known or {}))
        self.asked = self.plain = False
        self._fact_text = ""
        self._subjects: set[str] = set()  # what the subject that is drawn now must be

    def text(self, frame: Frame, *, again: bool = False) -> list[Sentence]:
        """The sentences of a frame; `again`: about the same person as before."""
        text = frame.text
        if again:
            self.scene.known = {"A": self.scene.known["A"]}
            self.scene.mentioned = ["A"]
            text = text.replace("A:person", "A", 1)
        self.scene.verbs, self.scene.adjectives, self.number = [], [], 0
        text = settle(text, self.draw)
        self._fact_text, self.plain = frame.text, frame.name.startswith("facts")
        self.draw.familiar = ", N:name" in text
        return [self.sentence(plan) for plan in plans(text)]

    def sentence(self, plan: SentencePlan) -> Sentence:
        """One sentence."""
        self.scene.here.clear()
        if plan.spoken:
            return self._spoken(plan)
        self.asked = bool(plan.asks)
        tense = self._tense()
        if plan.asks:
            whole: Sentence = self._question(plan, tense)
        elif plan.lets or plan.mark == "!":
            first = self.clause(replace(plan.clauses[0], subject=None), "lets" if plan.lets else "order", self._you(plan))
            whole = self._joined(plan, first, tense)
        else:
            leads = plan.leading in ("if", "when")
            inner = AFTER.get(tense, tense) if leads else tense
            inner = "arriving" if leads and plan.leading == "when" and tense in ("will", "going") else inner
            whole = self._joined(plan, self.clause(plan.clauses[0], inner), tense)
            if plan.leading and not plan.links:
                whole = Fronted(Adverb(plan.leading, LINKS[plan.leading]), whole, comma=False)
        if plan.front:
            adverb = self._adverb(plan.front, tense)
            whole = whole if adverb is None or isinstance(whole, Fronted) else Fronted(adverb, whole)
        return whole if plan.to is None else Addressed(whole, self.noun_phrase(plan.to, None))

    def _you(self, plan: SentencePlan) -> Pronoun:
        if plan.lets:
            return Pronoun(1, True)
        return Pronoun(2, False, polite=not self.draw.familiar)

    def _spoken(self, plan: SentencePlan) -> Spoken:
        found = adverbs_called(plan.spoken, "")
        if not found:
            raise TextError(f"No row of adverbs.tsv is {plan.spoken!r}.")
        return Spoken(self.draw.pick(found), None if plan.to is None else self.noun_phrase(plan.to, None))

    def _tense(self) -> str:
        tense = self.tenses[min(self.number, len(self.tenses) - 1)]
        self.number += 1
        return tense

    def _joined(self, plan: SentencePlan, first: Clause | Exists, tense: str) -> Sentence:
        whole: Sentence = first
        previous = first
        for (name, comma), inner in zip(plan.links, plan.clauses[1:], strict=True):
            clause = self.clause(inner, tense if plan.leading else self._tense(), _subject(previous))
            whole = Joined(whole, Link(name.replace("_", " "), LINKS[name], comma, bool(plan.leading)), clause)
            previous = clause
        return whole

    def _question(self, plan: SentencePlan, tense: str) -> Question:
        first = plan.clauses[0]
        counted = None
        if plan.counted is not None:
            self.scene.verb = self._choose(first)
            noun = self._noun(plan.counted, self.scene.verb)
            many = plan.asks == "how_many" or (plan.asks == "which" and self.draw.maybe(0.3))
            counted = Phrase(noun, plan.asks.replace("_", " "), many and not noun.mass, key=plan.counted.key)
            self._mention(plan.counted.key, counted)
            first = replace(first, verb=replace(first.verb, names=(f"={len(self.scene.verbs) - 1}",)))
        if plan.asks == "who":
            clause = self.clause(replace(first, subject=None), tense, Gap(Features(2, False, "m")))
        else:
            clause = self.clause(first, tense)
        if isinstance(clause, Clause) and plan.asks in ("what", "how_many", "which"):
            features = Features(2, False, "m") if counted is None else agreement(counted)
            clause = clause._replace(object=Gap(features))
        word = "" if plan.asks in ("yes", "how_many", "which") else plan.asks
        return Question(clause, word, counted)

    def _choose(self, plan: ClausePlan) -> Verb:
        """The verb of a clause: one of those named that its subject may have."""
        names = plan.verb.names
        if names[0].startswith("="):
            return self.scene.verbs[int(names[0][1:])]
        found = [verb for name in names for verb in verbs_called(name)]
        if not found:
            raise TextError(f"No verb is called {' or '.join(names)!r}. Correct the frame, or add it to verbs.tsv.")
        if plan.verb.passive:
            found = [verb for verb in found if verb.objects]
        if any(piece.slot is not None and piece.slot.classes == "objects" for piece in plan.pieces):
            found = [v for v in found if v.objects and not (names[0] == "@act" and SPECIAL & set(v.flags))]
        subject = plan.subject
        found = self._meant(plan, found)
        if subject is not None and len(found) > 1 and not plan.verb.passive:
            kinds = self._subject_kinds(subject)
            found = [verb for verb in found if not verb.subjects or set(verb.subjects) & kinds] or found
        verb = self.draw.pick(found)
        self.scene.verbs.append(verb)
        return verb

    @staticmethod
    def _meant(plan: ClausePlan, found: list[Verb]) -> list[Verb]:
        """Those of several verbs of one name that fit: of the weather or not, with an object or a clause or without."""
        kinds = {piece.kind for piece in plan.pieces}
        weather = plan.subject is not None and plan.subject.key == "it"
        fitting = [verb for verb in found if ("weather" in verb.flags) == weather] or found
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

    def clause(self, plan: ClausePlan, tense: str, shared: NP | None = None) -> Clause | Exists:
        """One clause in a tense; `shared` is the subject of the clause before, for one that has none."""
        verb = self._choose(plan)
        self.scene.verb = verb
        tense = plan.verb.tense or (self.draw.tense(verb) if tense == "auto" else tense)
        if plan.exists:
            return self._exists(plan, tense)
        denied = plan.verb.mode == "!" or (plan.verb.mode == "~" and not self.asked and self.draw.maybe(DENIED))
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

    def _fitting(self, tense: str, verb: Verb, denied: bool) -> str:
        """The tense, or a simpler one where the verb has no progressive, no *used to*, or a helping verb."""
        simple = {"progressive": "present", "was": "past", "used": "past", "perfect": "past", "had": "past", "going": "will"}
        if "modal" in verb.flags:
            return "past" if tense in ("past", "was", "had") and "cond" not in verb.flags and verb.en[0] == "can" else "present"
        if "state" in verb.flags and tense in ("progressive", "was", "used", "perfect"):
            return simple[tense]
        return simple[tense] if tense == "used" and denied else tense

    def _helper(self, plan: VerbPlan) -> Verb | None:
        if not plan.helpers:
            return None
        name = self.draw.pick(plan.helpers)
        found = verbs_called(name)
        if not found:
            raise TextError(f"No helping verb is called {name!r}. Correct the frame, or add it to verbs.tsv.")
        return self.draw.pick(found)

    def _exists(self, plan: ClausePlan, tense: str) -> Exists:
        tense = tense if tense in ("present", "past", "will") else "present"
        denied = plan.verb.mode == "!" or (plan.verb.mode == "~" and not self.asked and self.draw.maybe(DENIED))
        slot = next(piece.slot for piece in plan.pieces if piece.kind == "object")
        assert slot is not None
        if slot.both is None and slot.key not in self.scene.known:
            noun = self._noun(slot, None)
            plural = not noun.mass and (slot.plural or self.draw.maybe(0.35)) and not slot.determiner
            few = self.draw.pick(("two", "three", "many", "some", "several")) if plural else "some" if noun.mass else "a"
            determiner = "any" if self.asked and few == "some" else few
            phrase = Phrase(noun, determiner, plural, self.draw.described(noun, 0.2), key=slot.key)
            phrase = self._determined(phrase, slot, None) if slot.determiner else phrase
            phrase = phrase._replace(determiner="no") if denied else phrase
            self._mention(slot.key, phrase)
            thing = self._surrounded(phrase, slot)
        else:
            thing, denied = self.noun_phrase(slot, None), False
        node = Exists(thing, tense, "not" if denied else "")
        tail: list[Tail] = []
        for piece in plan.pieces:
            if piece.kind in ("place", "adverb"):
                tail += self._with(Clause(thing, tense=tense), piece, None).tail
        return node._replace(tail=tuple(tail))

    def _subject(self, plan: ClausePlan, verb: Verb, shared: NP | None, unsaid: bool) -> NP:
        if plan.subject is None:
            if shared is None:
                return Pronoun(2)
            if isinstance(shared, Gap) or unsaid:
                return shared
            return Gap(agreement(shared), key_of(shared))
        if plan.subject.key == "it":
            return Pronoun(3, thing=True)
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

    def noun_phrase(self, slot: Slot, verb: Verb | None, owner: NP | None = None, *, denied: bool = False) -> NP:
        """What a slot stands for: somebody or something new, or the same as before."""
        if slot.key in self.scene.known and not slot.classes:
            known = self.scene.known[slot.key]
            if slot.determiner == "the" and isinstance(known, Phrase):
                return known._replace(determiner="the", owner=None, adjectives=())
            if slot.determiner and isinstance(known, Phrase):
                return self._determined(known._replace(adjectives=(), owner=None), slot, owner)
            return self.scene.refer(slot.key, slot.forced)
        node = self._new(slot, verb, owner, denied)
        self._mention(slot.key, node)
        return self._surrounded(node, slot)

    def _mention(self, key: str, node: NP) -> None:
        self.scene.known[key] = node
        self.scene.here.add(key)
        if key not in self.scene.mentioned:
            self.scene.mentioned.append(key)

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

    def _new(self, slot: Slot, verb: Verb | None, owner: NP | None, denied: bool) -> NP:
        classes = self._classes(slot, verb)
        classes = self.draw.pick(classes.split("|"))
        groups = {classes}
        if groups <= HUMAN:
            return self._distinct(slot, classes)
        if groups <= {"country", "city"}:
            return self.draw.place(classes)._replace(key=slot.key)
        noun = self._noun(replace(slot, classes=classes), verb)
        kinds = set(noun.kinds)
        if "person" in kinds:
            return self._determined(self.draw.someone(slot.key, "people" if slot.plural else "one", noun), slot, owner)
        if "animal" in kinds and not slot.determiner and not slot.adjective and not slot.plural:
            return self.draw.animal(slot.key, noun)
        if verb is not None and {"music", "game"} & set(verb.flags):
            return Phrase(noun, "the" if "music" in verb.flags else "", key=slot.key)
        return self._determined(self.draw.thing(noun, slot.key, owner, denied), slot, owner)

    def _distinct(self, slot: Slot, classes: str) -> NP:
        """Somebody new: not one who was mentioned, and mostly of another gender, so that pronouns are clear."""
        for attempt in range(20):
            node = self.draw.person(slot.key, self.draw.pick(classes.split("|")))
            others = [self.scene.known[key] for key in self.scene.mentioned]
            alike = any(_alike(node, other) for other in others)
            if any(_same_words(node, other) for other in others) or (alike and isinstance(node, Pronoun)):
                continue
            if attempt > 12 or not alike or self.draw.maybe(0.25):
                return node
        return Pronoun(1, key=slot.key)

    def _determined(self, node: Phrase, slot: Slot, owner: NP | None) -> Phrase:
        if slot.plural:
            node = node._replace(plural=not node.noun.mass)
        if slot.adjective:
            node = node._replace(adjectives=(self.draw.quality(node._replace(adjectives=()), slot.adjective),))
        if not slot.determiner:
            return node
        if slot.determiner.endswith("'s") or slot.determiner in ("my", "your", "our"):
            key = slot.determiner.removesuffix("'s")
            whose = {"my": Pronoun(1), "your": Pronoun(2), "our": Pronoun(1, True)}.get(key) or self._owner(key)
            plural = "pair" in node.noun.kinds or (slot.plural and not node.noun.mass)
            return node._replace(owner=whose, determiner="the", plural=plural)
        name = slot.determiner
        whole = node.noun.mass or node.noun.only_plural or "pair" in node.noun.kinds
        name = {"bare": "", "a": "some" if whole else "a"}.get(name, name)
        many = name in MANY or slot.plural or (name in ("some", "any") and not node.noun.mass)
        single = name in ("a", "every", "each", "one", "another")
        plural = (
            False if node.noun.mass or single else many or "pair" in node.noun.kinds or (node.plural and name not in ("the",))
        )
        if slot.determiner == "bare" or self.plain:
            node = node._replace(adjectives=node.adjectives if slot.adjective else ())
        if slot.determiner == "bare" and not node.noun.mass and not {"sport", "subject", "meal"} & set(node.noun.kinds):
            plural = True
        return node._replace(determiner=name, owner=None, plural=plural)

    def _owner(self, key: str) -> NP:
        """Whose: a pronoun where the owner was mentioned."""
        return self.scene.refer(key, forced=not isinstance(self.scene.known[key], Pronoun))

    def _classes(self, slot: Slot, verb: Verb | None) -> str:
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

    def _noun(self, slot: Slot, verb: Verb | None) -> Noun:
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

    def _with(self, clause: Clause, piece: Piece, verb: Verb | None) -> Clause:
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
                self.draw.quality(_resolved(self, subject), piece.text), kind.split()[1], self.noun_phrase(slot, None)
            )
        if kind == "profession":
            return Profession(self.draw.noun(piece.text, lambda n: "royal" not in n.kinds))
        if kind == "belongs" and slot is not None:
            return Belongs(OWNERS[slot.key])
        if kind == "home" and slot is not None:
            return Home("to" if "goes" in clause.verb.flags else "at", self.noun_phrase(slot, None))
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
        return Complement(inner, link, LINKS.get(piece.text, "que"))  # type: ignore[arg-type]

    def _predicate(self, clause: Clause, text: str) -> Predicate:
        degree, _, spec = text.partition("=")
        spec, _, second = spec.partition("&")
        subject = _resolved(self, clause.subject)
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

    def _with_object(self, clause: Clause, slot: Slot, verb: Verb | None) -> Clause:
        if slot.key == "R" and verb is not None:  # the receiver
            return clause._replace(recipient=self.noun_phrase(replace(slot, key="R"), verb))
        if slot.classes == "objects?" and (verb is None or not verb.objects):
            return clause
        if slot.key == "S" and not slot.classes:
            return clause._replace(object=Self())
        if verb is not None and "control" in verb.flags or verb is not None and "promise" in verb.flags:
            return clause._replace(recipient=self.noun_phrase(slot, verb))
        passive = clause.tail[:1] and isinstance(clause.tail[0], Passive)
        denied = clause.negation == "not"
        thing = self.noun_phrase(slot, verb, _real(self, clause.subject), denied=denied)
        if passive and isinstance(clause.tail[0], Passive):
            return clause._replace(tail=(clause.tail[0]._replace(agent=thing), *clause.tail[1:]))
        return clause._replace(object=thing)

    def _with_adverb(self, clause: Clause, name: str) -> Clause:
        adverb = self._adverb(name, clause.tense)
        if adverb is None:
            return clause
        if adverb.sort in ("often", "already", "just"):
            return clause._replace(adverb=None if clause.negation else adverb)
        if adverb.sort.split()[0:1] and adverb.sort.split()[0] in ("skill", "pace", "care", "quiet", "joy", "loud", "much"):
            return clause._replace(manner=adverb)
        return clause._replace(tail=(*clause.tail, adverb))

    def _adverb(self, name: str, tense: str):  # type: ignore[no-untyped-def]
        found = adverbs_called(name, tense)
        if not found and name not in ("time", "often", "already", "just"):
            raise TextError(f"No adverb is called {name!r}, and none is of that sort. Correct the frame, or adverbs.tsv.")
        return self.draw.pick(found) if found else None


FACTS = re.compile(r"(\w+)\((\w+)\)")


def without_judgement(node: NP) -> NP:
    """A noun phrase with no adjective but a colour or a nation: *the boring film was interesting* contradicts itself."""
    if not isinstance(node, Phrase) or node.determiner == "most":
        return node
    kept = tuple(adjective for adjective in node.adjectives if {"colour", "nation"} & set(adjective.classes))
    return node._replace(adjectives=kept)


def _subject(node: Clause | Exists) -> NP:
    return node.subject if isinstance(node, Clause) else node.thing


def _resolved(speaker: Speaker, node: NP) -> NP:
    """Who a pronoun or a gap means: adjectives are chosen for that."""
    key = key_of(node)
    known = speaker.scene.known.get(key)
    if known is None:
        return node
    return known.head if isinstance(known, (Of, Relative)) else known


def _real(speaker: Speaker, node: NP) -> NP:
    """The subject for *his* and *her*: a gap counts as who it means."""
    return _resolved(speaker, node) if isinstance(node, Gap) else node


def _same_words(first: NP, second: NP) -> bool:
    if isinstance(first, Pronoun) and isinstance(second, Pronoun):
        return first.person == second.person and first.plural == second.plural
    if isinstance(first, ProperName) and isinstance(second, ProperName):
        return first.text == second.text
    if isinstance(first, Phrase) and isinstance(second, Phrase):
        return first.noun.en == second.noun.en
    return isinstance(first, Pronoun) and isinstance(second, Both)


def speak(frame: Frame, draw: Draw, known: dict[str, NP] | None = None, tenses: Sequence[str] = ()) -> list[Sentence]:
    """The sentences of a frame, filled at random."""
    return Speaker(draw, tenses or draw.pick(frame.tenses), known).text(frame)


def leaves_gender_open(trees: Sequence[Sentence], spoken: Sequence[Sequence[Lexeme]]) -> bool:
    """Whether the French of a text says what its English leaves open: that *the nurse* is a woman, though no *she* says so."""
    women = {noun.fr for noun in feminines().values()}
    said = {word.who for sentence in spoken for word in sentence if word.text.lower() in ("she", "her", "hers", "herself")}
    phrases = (node for tree in trees for node in nodes_of(tree) if isinstance(node, Phrase))
    return any(phrase.noun.fr in women and phrase.key not in said for phrase in phrases)
