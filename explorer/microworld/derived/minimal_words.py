"""Minimal pairs of agreement, negation, senses, and who did what: one word differs and decides."""

from __future__ import annotations

import itertools

from explorer.microworld.apart import OPPOSITES, is_apart
from explorer.microworld.derived.opposed import ContrastPair, opposed, shuffled, words_of
from explorer.microworld.derived.stage import Stage
from explorer.microworld.forms import article

NUMBERED = (  # the noun before the open place decides, not the noun nearest to it
    "Nobody knew why the {x} beside the {n} ␣ so {r}.",
    "Look at the photo: the {x} under the {n} ␣ {r}.",
    "In my dream the {x} above the {n} ␣ {r}.",
)
DENIED = (
    "Everyone knew that the {x} {was} {o}: it was ␣.",
    "When {a} saw that the {x} {was} {o}, {a} called it ␣.",
)
SENSES = {  # the word: a frame, the words that decide, and what belongs into the open place
    "bank": ("{a} thought of {cue} and of the bank, and then of the ␣.", ("cheque", "wallet"), ("ship", "swan"), ("coins", "water")),
    "bat": ("First {a} saw {cue}, then a bat, which was ␣.", ("owl", "spider"), ("helmet", "racket"), ("hungry", "wooden")),
    "light": ("{a} had {cue}, and it was light, so {a} could ␣ it.", ("torch", "candle"), ("purse", "basket"), ("see", "carry")),
}  # fmt: skip
DEEDS = (  # with the first verb the second person is meant, with the second the first
    ("Who was in front when {a} {did} {b} into the {p}? That was ␣.", ("followed", "led")),
    ("When {a} {did} {b} into the {p}, the first of them was ␣.", ("followed", "led")),
    ("In the {p} {a} {did} {b} the way, which only ␣ knew.", ("asked", "told")),
)


def agreement(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """*The dog beside the trees was*, *the dogs beside the trees were*: one of the two stands past a noun of the other number."""
    subjects, states = words_of("subject"), words_of("state")
    rows = [(x, n, r) for x in subjects for r in states if is_apart(x.lemma, r.lemma, split) for n in subjects if n is not x]
    pairs = []
    for x, n, r in shuffled(stage, rows)[:count]:
        frame, near = stage.pick(NUMBERED), stage.pick((n.lemma, n.s))
        texts = [frame.format(x=form, n=near, r=r.lemma) for form in (x.lemma, x.s)]
        pairs.append(opposed("agreement", "past another noun", texts, ("was", "were"), rule=int(near == n.s)))
    return pairs


def negation(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """*The door wasn't open: it was closed*, *the door was open: it was open*."""
    rows = [
        (noun.lemma, word, other)
        for group, word, other in OPPOSITES
        for noun in words_of(group)
        if is_apart(noun.lemma, word, split)
    ]
    pairs = []
    for frame, (noun, word, other) in shuffled(stage, list(itertools.product(DENIED, rows)))[:count]:
        name = stage.people(1)[0].name
        texts = [frame.format(x=noun, was=was, o=word, a=name) for was in ("wasn't", "was")]
        pairs.append(opposed("negation", word, texts, (other, word)))
    return pairs


def senses(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """One word of several senses after two words, of which each calls for another sense."""
    rows = [(word, a, b) for word, (_, first, second, _) in SENSES.items() for a in first for b in second]
    pairs = []
    for number in range(count):
        word, *cues = rows[number % len(rows)]
        frame, _, _, choices = SENSES[word]
        name = stage.people(1)[0].name
        pairs.append(opposed("senses", word, [frame.format(a=name, cue=article(cue)) for cue in cues], choices, rule=0))
    return pairs


def deeds(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """*Anna followed Ben: Ben was in front*, *Anna led Ben: Anna was*."""
    pairs = []
    for number in range(count):
        frame, verbs = DEEDS[number % len(DEEDS)]
        a, b = (person.name for person in stage.people(2))
        place = stage.words("outdoors", 1)[0].name
        texts = [frame.format(a=a, b=b, did=verb, p=place) for verb in verbs]
        pairs.append(opposed("who did what", verbs[0], texts, (b, a), rule=0))
    return pairs
