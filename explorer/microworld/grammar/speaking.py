"""From a frame to trees: its plans are filled with people, things, words and tenses that go together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from explorer.errors import TextError
from explorer.microworld.grammar.clauses import Clauses
from explorer.microworld.grammar.drawing import Draw, adverbs_called
from explorer.microworld.grammar.frames import COUNTING, LINKS, Frame, SentencePlan, plans
from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Clause,
    Exists,
    Features,
    Fronted,
    Gap,
    Joined,
    Link,
    Phrase,
    Pronoun,
    QuestionTree,
    Sentence,
    Spoken,
    agreement,
)
from explorer.microworld.grammar.words import Adverb

OPTIONAL = 0.5  # how often an optional part is written
COMMA = 0.6  # how often a comma follows a time at the head of a sentence
AFTER = {"will": "present", "would": "past", "going": "present"}  # the tense after *if* and *when* at the head of a sentence


def settle(text: str, draw: Draw) -> str:
    """The text of a frame with its optional parts and choices settled."""
    while "{" in text:
        text = re.sub(r"\{([^{}]*)\}", lambda match: draw.pick(match[1].split(" | ")).strip(), text, count=1)
    while " ( " in text:
        text = re.sub(r" \( ([^()]*) \)", lambda match: f" {match[1]}" if draw.maybe(OPTIONAL) else "", text, count=1)
    return text


class Speaker(Clauses):
    """Fills the sentences of one text."""

    def __init__(self, draw: Draw, tenses: Sequence[str], known: dict[str, NP] | None = None) -> None:
        super().__init__(draw, known)
        self.tenses, self.number = tenses, 0

    def text(self, frame: Frame, *, again: bool = False) -> list[Sentence]:
        """The sentences of a frame; `again`: about the same person as before."""
        text = frame.text
        if again:
            self.scene.known = {"A": self.scene.known["A"]}
            self.scene.mentioned = ["A"]
            text = text.replace("A:person", "A", 1)
        self.scene.verbs, self.scene.adjectives, self.number = [], [], 0
        text = settle(text, self.draw)
        self._fact_text, self.plain = frame.text, frame.name.startswith("facts") or frame.strand == "everyday"
        self.draw.familiar = ", N:name" in text
        return [self.sentence(plan) for plan in plans(text)]

    def sentence(self, plan: SentencePlan) -> Sentence:
        """One sentence."""
        self.scene.here.clear()
        if plan.spoken:
            return self._spoken(plan)
        self.asks = bool(plan.asks)
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
            comma = adverb is None or "time" not in adverb.sort.split() or self.draw.maybe(COMMA)
            whole = whole if adverb is None or isinstance(whole, Fronted) else Fronted(adverb, whole, comma)
        return whole if plan.to is None else Addressed(whole, self.noun_phrase(plan.to, None))

    def _you(self, plan: SentencePlan) -> Pronoun:
        if plan.lets:
            return Pronoun(1, True)
        return Pronoun(2, False, polite=not self.draw.familiar)

    def _spoken(self, plan: SentencePlan) -> Spoken:
        phrases = adverbs_called(plan.spoken, "")
        if not phrases:
            raise TextError(f"No row of adverbs.tsv is {plan.spoken!r}.")
        return Spoken(self.draw.pick(phrases), None if plan.to is None else self.noun_phrase(plan.to, None))

    def _tense(self) -> str:
        tense = self.tenses[min(self.number, len(self.tenses) - 1)]
        self.number += 1
        return tense

    def _joined(self, plan: SentencePlan, first: Clause | Exists, tense: str) -> Sentence:
        whole: Sentence = first
        previous = first
        for (name, comma), inner in zip(plan.links, plan.clauses[1:], strict=True):
            shared = previous.subject if isinstance(previous, Clause) else previous.thing
            clause = self.clause(inner, tense if plan.leading else self._tense(), shared)
            whole = Joined(whole, Link(name.replace("_", " "), LINKS[name], comma, bool(plan.leading)), clause)
            previous = clause
        return whole

    def _question(self, plan: SentencePlan, tense: str) -> QuestionTree:
        first = plan.clauses[0]
        counted = None
        if plan.counted is not None:
            self.scene.verb = self._choose(first)
            noun = self._noun(plan.counted, self.scene.verb)
            many = plan.asks == "how_many" or (plan.asks == "which" and self.draw.maybe(0.3))
            counted = Phrase(noun, plan.asks.replace("_", " "), many and not noun.mass, key=plan.counted.key)
            self.scene.mention(plan.counted.key, counted)
            first = replace(first, verb=replace(first.verb, names=(f"={len(self.scene.verbs) - 1}",)))
        if plan.asks == "who":
            clause = self.clause(replace(first, subject=None), tense, Gap(Features(2, False, "m")))
        else:
            clause = self.clause(first, tense)
        if isinstance(clause, Clause) and plan.asks in ("what", *COUNTING):
            features = Features(2, False, "m") if counted is None else agreement(counted)
            clause = clause._replace(object=Gap(features))
        word = "" if plan.asks in ("yes", *COUNTING) else plan.asks
        return QuestionTree(clause, word, counted)
