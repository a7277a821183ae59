"""Does the second sentence follow from the first text (0), contradict it (1), or neither (2)?

Every family uses the same words for all three answers, so that only their order and relations decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.microworld.derived.stage import Stage
from explorer.microworld.lexicon import lexicon

SEEN = ("find", "draw", "see", "paint", "buy", "touch")
NAMES = ("entailment", "contradiction", "neutral")
QUALITIES = (("taller", "shorter"), ("older", "younger"), ("stronger", "weaker"), ("richer", "poorer"))
KINDS = {
    "flower": "flower",
    "tree": "tree",
    "fruit": "fruit",
    "bird": "bird",
    "pet": "pet",
    "tool": "tool",
    "instrument": "instrument",
}
DEEDS = ("praise", "thank", "help", "invite", "visit", "follow", "call", "admire", "comfort", "trust")


@dataclass(frozen=True, slots=True)
class Inference:
    """A premise, a hypothesis, and the answer: 0 entailment, 1 contradiction, 2 neutral."""

    premise: str
    hypothesis: str
    label: int
    family: str


def inferences(count: int, seed: int, split: str = "train") -> Iterator[Inference]:
    """`count` items, a third of each answer."""
    stage = Stage(seed, split, 12)
    for number in range(count):
        family = stage.pick(tuple(FAMILIES))
        premise, hypothesis = FAMILIES[family](stage, number % 3)
        yield Inference(premise, hypothesis, number % 3, family)


def _order(stage: Stage, label: int) -> tuple[str, str]:
    """Taller and shorter, through a third person."""
    a, b, c = (person.name for person in stage.people(3))
    more, less = stage.pick(QUALITIES)
    if stage.rng.random() < 0.5:
        more, less = less, more
    if label == 2:  # both against a, or a against both: b and c cannot be compared
        facts = [(a, b), (a, c)] if stage.rng.random() < 0.5 else [(b, a), (c, a)]
        first, second = (b, c) if stage.rng.random() < 0.5 else (c, b)
    else:
        facts = [(b, a), (a, c)]
        first, second = (b, c) if label == 0 else (c, b)
    if stage.rng.random() < 0.5:
        facts.reverse()
    premises = [f"{x} is {more} than {y}." if stage.rng.random() < 0.5 else f"{y} is {less} than {x}." for x, y in facts]
    hypothesis = f"{first} is {more} than {second}." if stage.rng.random() < 0.5 else f"{second} is {less} than {first}."
    return " ".join(premises), hypothesis


def _places(stage: Stage, label: int) -> tuple[str, str]:
    """What was put where, and what was not put anywhere."""
    who = stage.people(1)[0].name
    things = [word.name for word in stage.words("treasure", 3)]
    boxes = [word.name for word in stage.words("box", 2)]
    premises = [f"{who} put the {things[0]} in the {boxes[0]}", f"the {things[1]} in the {boxes[1]}"]
    if stage.rng.random() < 0.5:
        premises = [f"{who} put the {things[1]} in the {boxes[1]}", f"the {things[0]} in the {boxes[0]}"]
    lost = f"{who} was looking for the {things[2]}."
    premise = f"{premises[0]} and {premises[1]}."
    premise = f"{lost} {premise}" if stage.rng.random() < 0.5 else f"{premise} {lost}"
    which = stage.pick((0, 1))
    thing = things[2] if label == 2 else things[which]
    box = boxes[which] if label == 0 else boxes[1 - which]
    return premise, f"The {thing} is in the {box}."


def _deeds(stage: Stage, label: int) -> tuple[str, str]:
    """Who did it to whom, in the active and the passive, with and without *not*."""
    a, b = (person.name for person in stage.people(2))
    verb = lexicon().verbs[stage.pick(DEEDS)]
    done = stage.rng.random() < 0.5
    premise = _said(a, b, verb, done, stage.rng.random() < 0.5)
    if label == 2:
        return premise, _said(b, a, verb, stage.rng.random() < 0.5, stage.rng.random() < 0.5)
    return premise, _said(a, b, verb, done == (label == 0), stage.rng.random() < 0.5)


def _said(agent: str, patient: str, verb, done: bool, active: bool) -> str:  # type: ignore[no-untyped-def]
    if active:
        return f"{agent} {verb.past} {patient}." if done else f"{agent} did not {verb.base} {patient}."
    return f"{patient} was {verb.part} by {agent}." if done else f"{patient} was not {verb.part} by {agent}."


def _kinds(stage: Stage, label: int) -> tuple[str, str]:
    """A tulip is a flower; who has no flower has no tulip."""
    who = stage.people(1)[0].name
    verb = lexicon().verbs[stage.pick(SEEN)]
    kind, other = stage.pick([(k, o) for k in KINDS for o in KINDS if k != o])
    word = stage.words(kind, 1)[0]
    strange = stage.words(other, 1)[0]
    positive = stage.rng.random() < 0.5
    known, wider = (word.name, KINDS[kind]) if positive else (KINDS[kind], word.name)
    unknown = KINDS[other] if positive else strange.name
    premise = _had(who, verb, known, positive)
    if label == 2:
        return premise, _had(who, verb, unknown, stage.rng.random() < 0.5)
    return premise, _had(who, verb, wider, positive == (label == 0))


def _had(who: str, verb, what: str, really: bool) -> str:  # type: ignore[no-untyped-def]
    some = f"an {what}" if what[0] in "aeiou" else f"a {what}"
    return f"{who} {verb.past} {some if really else f'no {what}'}."


FAMILIES: dict[str, Callable[[Stage, int], tuple[str, str]]] = {
    "order": _order, "places": _places, "deeds": _deeds, "kinds": _kinds,
}  # fmt: skip
