"""What can be counted in the microworld: words, sentence skeletons, agreement, pronouns, names, senses."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence

from explorer.microworld.derived.blanks import attracted
from explorer.microworld.giveaway import WORD
from explorer.microworld.lexicon import lexicon
from explorer.microworld.mixture import stories
from explorer.microworld.story import Mention, Story
from explorer.microworld.versions import VERSION

PRONOUN = {"he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "herself": "f"}
Figures = dict[str, float]


def fingerprint(count: int = 1000, seed: int = 0, *, version: str = VERSION) -> str:
    """The SHA-256 of the first stories: the same on every machine as long as the world is the same."""
    text = "\n".join(" ".join(story) for story in stories(count, seed, version=version))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def size(stories: Sequence[Sequence[str]]) -> Figures:
    """Tokens, types, lengths and how many n-grams are distinct."""
    texts = [WORD.findall(" ".join(story)) for story in stories]
    tokens = sum(map(len, texts))
    figures: Figures = {
        "stories": len(stories), "sentences": sum(map(len, stories)), "tokens": tokens,
        "word types": len({word.lower() for text in texts for word in text if word[0].isalpha()}),
        "sentences per story": sum(map(len, stories)) / len(stories), "tokens per story": tokens / len(stories),
        "share of distinct sentences": len({s for story in stories for s in story}) / sum(map(len, stories)),
    }  # fmt: skip
    for n in range(1, 5):
        grams = [tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)]
        figures[f"distinct-{n}"] = len(set(grams)) / len(grams)
    return figures


def skeletons(labelled: Sequence[Story]) -> Figures:
    """How often sentences are the same but for their slots."""
    stories_with: Counter[str] = Counter()
    grams: dict[tuple[str, ...], set[str]] = defaultdict(set)
    free: list[tuple[str, ...]] = []
    slotted = 0
    for story in labelled:
        shapes = _shapes(story)
        stories_with.update(set(shapes))
        words = [word.text.lower() for word in story.words]
        slots = [word.slot for word in story.words]
        for n in range(len(words) - 4):
            if any(slots[n : n + 5]):
                slotted += 1
            else:
                free.append(tuple(words[n : n + 5]))
                grams[free[-1]].add(story.script)
    top = {shape for shape, _ in stories_with.most_common(10)}
    shared = sum(len(grams[gram]) >= 3 for gram in free)
    return {
        "sentence skeletons": len(stories_with),
        "stories that hold one of the ten most frequent skeletons": sum(bool(top & set(_shapes(s))) for s in labelled)
        / len(labelled),
        "5-grams with a slot or in three story types": (slotted + shared) / (slotted + len(free)),
    }


def _shapes(story: Story) -> list[str]:
    shapes: list[list[str]] = [[] for _ in story.sentences]
    for word in story.words:
        shapes[word.sentence].append("_" if word.slot else word.text)
    return [" ".join(shape) for shape in shapes]


def grammar(labelled: Sequence[Story]) -> Figures:
    """Verbs whose form the subject decides, attractors, and pronouns that a simple rule misses."""
    sentences = sum(len(story.sentences) for story in labelled)
    deciding, attractors = set(), set()
    tried = missed = 0
    for number, story in enumerate(labelled):
        for n, word in enumerate(story.words):
            if word.number and word.text not in ("was", "were", "wasn't", "weren't"):
                deciding.add((number, word.sentence))
            if word.number and attracted(story, n):
                attractors.add((number, word.sentence))
        recent, two = _recency(story)
        tried, missed = tried + recent, missed + two
    return {
        "sentences with a present-tense verb that agrees": len(deciding) / sentences,
        "sentences with an agreeing verb past an attractor": len(attractors) / sentences,
        "pronouns": tried,
        "pronouns that the latest fitting mention does not resolve": missed / max(1, tried),
    }


def _recency(story: Story) -> tuple[int, int]:
    """How many single pronouns there are, and for how many the latest mention that fits gender and number is another."""
    gender = {}
    for mention in story.mentions:
        if len(mention.entities) == 1 and (text := story.words[mention.first].text.lower()) in PRONOUN:
            gender[mention.entities[0]] = PRONOUN[text]
    before: list[Mention] = []
    tried = missed = 0
    for mention in story.mentions:
        if len(mention.entities) == 1 and mention.form == "pronoun":
            kind = PRONOUN.get(story.words[mention.first].text.lower(), "n")
            fits = [m for m in before if _fits(m, kind, gender)]
            tried, missed = tried + 1, missed + (not fits or fits[-1].entities != mention.entities)
        before.append(mention)
    return tried, missed


def _fits(mention: Mention, kind: str, gender: dict[str, str]) -> bool:
    if len(mention.entities) != 1:
        return False
    return (
        mention.kind in ("thing", "animal")
        if kind == "n"
        else gender.get(mention.entities[0], "m" if kind == "m" else "f") == kind and mention.kind == "person"
    )


def labels(labelled: Sequence[Story]) -> dict[str, Counter[str]]:
    """How often each label occurs."""
    mentions = [m for story in labelled for m in story.mentions]
    return {
        "parts of speech": Counter(word.pos for story in labelled for word in story.words),
        "entities": Counter(m.kind for m in mentions),
        "named entities": Counter(m.kind for m in mentions if m.form == "name"),
        "mentions": Counter(m.form for m in mentions),
        "senses": Counter(word.sense for story in labelled for word in story.words if word.sense),
        "roles": Counter(role.name for story in labelled for role in story.roles),
        "feeling of sentences": Counter({1: "glad", -1: "sad", 0: "neither"}[f] for story in labelled for f in story.feelings),
        "topics": Counter(story.topic for story in labelled),
    }


def names(labelled: Sequence[Story]) -> Figures:
    """How the mentions of people by name are spread over names."""
    counts = Counter(
        story.words[m.first].text for story in labelled for m in story.mentions if m.kind == "person" and m.form == "name"
    )
    common = {str(word.name) for group in ("girl", "boy") for word in lexicon().classes[group]}
    return {
        "names": len(counts),
        "share of the 25 common names": sum(counts[name] for name in common) / counts.total(),
        "entropy of names, bits": -sum(c / counts.total() * math.log2(c / counts.total()) for c in counts.values()),
    }


def sample(count: int, seed: int) -> list[str]:
    """Some stories, picked at random from many, as text."""
    picked = random.Random(seed).sample(range(10_000), count)
    wanted = set(picked)
    return [" ".join(story) for n, story in enumerate(stories(max(picked) + 1, seed)) if n in wanted]
