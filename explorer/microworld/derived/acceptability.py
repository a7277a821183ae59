"""Sentences as they should be and sentences with one fault: a verb of the wrong number, words in the wrong order, a wrong doer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.microworld.derived.blanks import other_number
from explorer.microworld.forms import capital
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.lexicon import SPLITS
from explorer.microworld.story import Label, Story

KINDS = ("agreement", "order", "selection")
BOUND = {("DET", "NOUN"), ("ADP", "DET"), ("DET", "ADJ"), ("ADP", "PROPN"), ("AUX", "ADJ"), ("ADP", "PRON")}


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A sentence and the same sentence with one fault."""

    good: str
    bad: str
    kind: str
    form: str  # the words whose choice matters: a verb form that must not give the answer away


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence and whether it is acceptable."""

    text: str
    good: bool
    kind: str


def minimal_pairs(count: int, seed: int, split: str = "train") -> Iterator[MinimalPair]:
    """`count` pairs from the sentences of stories, a third of each kind."""
    rng, number_made = random.Random((seed * 3 + SPLITS.index(split)) * 7 + 1), 0
    for story in labelled_scripts(10**9, seed, split):
        for number in range(len(story.sentences)):
            pair = FAULTS[KINDS[number_made % 3]](story, number, rng)
            if pair is not None:
                yield pair
                number_made += 1
                if number_made == count:
                    return


def judged(count: int, seed: int, split: str = "train") -> Iterator[Judged]:
    """`count` sentences, half of them good; no verb form is good more often than bad."""
    seen: Counter[tuple[str, str]] = Counter()
    number_made = 0
    for pair in minimal_pairs(10**9, seed, split):
        good, bad = (pair.form.split(" ") * 2)[:2] if pair.kind == "agreement" else (pair.kind, pair.kind)
        right = seen[good, "good"] - seen[good, "bad"]
        wrong = seen[bad, "bad"] - seen[bad, "good"]
        take = right <= wrong
        name, label = (good, "good") if take else (bad, "bad")
        if (right if take else wrong) > 0:
            continue
        seen[name, label] += 1
        yield Judged(pair.good if take else pair.bad, take, pair.kind)
        number_made += 1
        if number_made == count:
            return


def _sentence(story: Story, number: int) -> list[int]:
    return [n for n, word in enumerate(story.words) if word.sentence == number]


def _spell(story: Story, number: int, words: dict[int, str], order: list[int]) -> str:
    """A sentence of the story with some of its words replaced or moved, spaced as it was."""
    places = _sentence(story, number)
    start = story.words[places[0]].start
    out, at = [], start
    for place, source in zip(places, order, strict=True):
        out += [story.text[at : story.words[place].start], words.get(source, story.words[source].text)]
        at = story.words[place].end
    return capital("".join(out))


def _plain(word: Label, first: bool) -> str:
    return word.text[0].lower() + word.text[1:] if first and word.pos != "PROPN" and word.text != "I" else word.text


def _agreement(story: Story, number: int, rng: random.Random) -> MinimalPair | None:
    places = _sentence(story, number)
    verbs = [n for n in places if story.words[n].number and story.words[n].text in other_number()]
    if not verbs:
        return None
    at = verbs[int(rng.random() * len(verbs))]
    good, bad = story.words[at].text, other_number()[story.words[at].text]
    return MinimalPair(story.sentences[number], _spell(story, number, {at: bad}, places), "agreement", f"{good} {bad}")


def _order(story: Story, number: int, rng: random.Random) -> MinimalPair | None:
    places = _sentence(story, number)
    pairs = [n for n in places[:-1] if (story.words[n].pos, story.words[n + 1].pos) in BOUND]
    if not pairs:
        return None
    at = pairs[int(rng.random() * len(pairs))]
    order = [at + 1 if n == at else at if n == at + 1 else n for n in places]
    lower = {places[0]: _plain(story.words[places[0]], True)}
    return MinimalPair(story.sentences[number], _spell(story, number, lower, order), "order", "")


def _selection(story: Story, number: int, rng: random.Random) -> MinimalPair | None:
    """A person and a thing change places: the vase drops Anna."""
    places = set(_sentence(story, number))
    for role in story.roles:
        agent = story.mentions[role.mention]
        if role.name != "agent" or agent.kind != "person" or agent.form != "name" or agent.last not in places:
            continue
        for other in story.roles:
            thing = story.mentions[other.mention]
            alone = thing.first == thing.last and story.words[thing.last - 1].text == "the"
            if other.verb == role.verb and other.name == "patient" and thing.kind == "thing" and alone:
                a, t = agent.last, thing.last
                words = {a: f"the {story.words[t].text}", t: story.words[a].text, t - 1: ""}
                bad = _spell(story, number, words, _sentence(story, number)).replace("  ", " ")
                return MinimalPair(story.sentences[number], bad, "selection", "")
    return None


FAULTS = {"agreement": _agreement, "order": _order, "selection": _selection}
