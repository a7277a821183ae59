"""Tasks that labels alone cannot teach: the words that a test asks about stand in no labelled text, but in the stories of pre-training.

Every class of words is cut in two: one half is labelled, the other half is only asked about. The sentences around the words are
the same for every answer, so who answers must know the word from somewhere else.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial

from explorer.microworld.lexicon import SPLITS, Word, check_split, lexicon
from explorer.training.finetune.microworld import NAMED, SEED
from explorer.training.finetune.task import LabelledExample, Questions, Task, TokenPosition, about_whole_texts

Groups = tuple[tuple[str, tuple[str, ...]], ...]  # an answer, and the classes of the lexicon whose words have it
Parts = tuple[tuple[str, ...], str]  # one text or two, and the answer
KINDS: Groups = (
    ("animal", ("pet", "wild", "bird", "small", "farm")),
    ("person", ("job",)),
    ("place", ("venue", "outdoors", "room")),
    ("food", ("dish", "sweet")),
    ("clothes", ("clothes",)),
    ("instrument", ("handinstrument",)),
)
FEELINGS: Groups = (("positive", ("glad", "kind", "good")), ("negative", ("sad", "rude", "bad")))
GENDERS: Groups = (("he", ("boy", "rareboy")), ("she", ("girl", "raregirl")))
PARTS: Groups = (
    ("NOUN", ("job", "wild", "tool", "dish", "venue", "clothes")),
    ("ADJ", ("glad", "sad", "colour", "look", "kind", "rude")),
    ("VERB", ("everyday",)),
    ("PROPN", ("girl", "boy", "town")),
)
NAMES: Groups = (
    (NAMED["person"], ("girl", "boy", "raregirl", "rareboy")),
    (NAMED["place"], ("town",)),
    (NAMED["organisation"], ("store", "studio", "carrier", "press", "service")),
)
EVERYDAY = (
    "go", "come", "see", "find", "lose", "give", "take", "bring", "buy", "sell", "tell", "feel", "make", "break", "eat",
    "drink", "sleep", "run", "fly", "fall", "hold", "keep", "leave", "lend", "write", "sing", "sit", "stand", "catch", "hear",
    "win", "meet", "throw", "show", "forget", "learn", "play", "help", "thank", "ask", "cross", "need", "want", "work", "live",
    "look", "wait", "carry", "open", "close", "visit", "laugh", "smile", "cry", "shout", "try", "stop", "move", "walk", "jump",
    "pack", "paint", "repair", "invite", "admire", "clap", "dance", "lift", "drop",
)  # fmt: skip
ABOUT_THINGS = (
    "{a} remembered the {w}.", "The {w} was new.", "{a} looked at the {w}.", "Then {a} saw the {w} again.", "The {w}.",
)  # fmt: skip
ABOUT_FEELINGS = ("{a} was {w}.", "{a} and {b} were {w}.", "It was {w}.", "How {w} {a} was!", "Everyone was {w}.")
ABOUT_PEOPLE = ("{w} was there.", "Then {w} came.", "The friend of {w} was late.", "{b} saw {w}.", "{w} and {b} waited.")
ABOUT_NAMES = (
    "{w} was in the newspaper", "we liked {w}", "they talked about {w} for an hour", "she asked about {w}", "nobody knew {w}",
    "{w} and {v} were in the newspaper", "he asked about {w} or {v}",
)  # fmt: skip
ALIVE, BOUGHT = ("hungry", "thirsty", "afraid", "sleepy", "nervous"), ("expensive", "cheap")
FITTING = {"animal": ALIVE, "clothes": BOUGHT, "person": ALIVE, "instrument": BOUGHT}
FORMS = ("The {w} was {q}.", "{a} saw that the {w} was {q}.", "The {w} was so {q}.")
TOGETHER = 4  # so many words stand in one row where parts of speech are asked for


class Supply:
    """Draws words of one half by one stream of chance: for `train` and `validation` those that are labelled, for `test` the new ones."""

    def __init__(self, split: str, seed: int, salt: int) -> None:
        check_split(split)
        self.rng = random.Random((seed * len(SPLITS) + SPLITS.index(split)) * 1_000_003 + salt)
        self.new = split == "test"

    def word(self, groups: Groups, answer: str) -> str:
        """A word with this answer."""
        return self.rng.choice(halves(groups)[self.new][answer])

    def fill(self, forms: tuple[str, ...], **words: str) -> str:
        """One of these sentences with the words, about people of the same half; the first letter large."""
        people = halves(GENDERS)[self.new]
        a, b = self.rng.sample(people["he"] + people["she"], 2)
        text = self.rng.choice(forms).format(a=a, b=b, **words)
        return text[0].upper() + text[1:]


@lru_cache(maxsize=8)
def halves(groups: Groups) -> dict[bool, dict[str, tuple[str, ...]]]:
    """The words of each answer, those to label (False) and those that are new (True). A word with two answers is left out."""
    every = {answer: {word: None for name in names for word in _spelled(name)} for answer, names in groups}
    often = Counter(word for words in every.values() for word in words)
    alone = {answer: [word for word in words if often[word] == 1] for answer, words in every.items()}
    return {new: {answer: tuple(words[int(new) :: 2]) for answer, words in alone.items()} for new in (False, True)}


def _spelled(name: str) -> list[str]:
    """The words of a class as they are written: verbs in the past, no word with several senses, and only names of two words."""
    lexicon_words = lexicon()
    if name == "everyday":
        return [lexicon_words.verbs[base].past for base in EVERYDAY]
    words = [word for word in lexicon_words.classes[name] if isinstance(word, Word) and not word.sense]
    return [word.name for word in words if word.pos == "PROPN" or " " not in word.name]


def about_words(groups: Groups, forms: tuple[str, ...], salt: int, count: int, split: str, seed: int = SEED) -> Questions:
    """A sentence with one word, and the answer that the word has; every answer as often."""

    def draw(supply: Supply, number: int) -> Parts:
        answer = groups[number % len(groups)][0]
        return (supply.fill(forms, w=supply.word(groups, answer)),), answer

    return _whole(draw, salt, count, split, seed)


def kind_follows(count: int, split: str, seed: int = SEED) -> Questions:
    """Does it follow? Who saw a wolf saw an animal, and did not see a place."""

    def draw(supply: Supply, number: int) -> Parts:
        kind, other = supply.rng.sample([answer for answer, _ in KINDS[:4]], 2)
        first, name = supply.fill(("{a} saw the {w}.|{a}",), w=supply.word(KINDS, kind)).split("|")
        return (first, f"{name} saw {_some(kind if number % 2 else other)}."), "yes" if number % 2 else "no"

    return _whole(draw, 4, count, split, seed)


def sensible(count: int, split: str, seed: int = SEED) -> Questions:
    """Is this sentence right? A wolf can be hungry, a violin cannot."""

    def draw(supply: Supply, number: int) -> Parts:
        kind = list(FITTING)[number // 2 % len(FITTING)]
        fitting = FITTING[kind] if number % 2 else next(words for words in FITTING.values() if words != FITTING[kind])
        text = supply.fill(FORMS, w=supply.word(KINDS, kind), q=supply.rng.choice(fitting))
        return (text,), "right" if number % 2 else "wrong"

    return _whole(draw, 5, count, split, seed)


def _some(kind: str) -> str:
    return {"animal": "an animal", "food": "some food"}.get(kind, f"a {kind}")


def _whole(draw: Callable[[Supply, int], Parts], salt: int, count: int, split: str, seed: int) -> Questions:
    """Questions about whole texts, or pairs of them."""
    supply = Supply(split, seed, salt)
    return about_whole_texts(draw(supply, number) for number in range(count))


def rows_of_words(count: int, split: str, seed: int = SEED) -> Questions:
    """Which part of speech has each of a few words that stand side by side, in no order?"""

    def draw(supply: Supply) -> list[tuple[str, str]]:
        tags = [supply.rng.choice(PARTS)[0] for _ in range(TOGETHER)]
        return [(supply.word(PARTS, tag), tag) for tag in tags]

    return _tagged(draw, 6, count, split, seed)


def new_names(count: int, split: str, seed: int = SEED) -> Questions:
    """Is a word part of a name, and of whom? B- begins a name, I- continues it, O is none."""

    def draw(supply: Supply) -> list[tuple[str, str]]:
        tagged: list[tuple[str, str]] = []
        for part in supply.rng.choice(ABOUT_NAMES).split():
            kind = supply.rng.choice(NAMES)[0] if part.startswith("{") else ""
            words = supply.word(NAMES, kind).split() if kind else [part]
            tagged += [(word, f"{'I' if n else 'B'}-{kind}" if kind else "O") for n, word in enumerate(words)]
        return tagged

    return _tagged(draw, 7, count, split, seed)


def _tagged(draw: Callable[[Supply], list[tuple[str, str]]], salt: int, count: int, split: str, seed: int) -> Questions:
    """Questions about every word of some texts."""
    supply = Supply(split, seed, salt)
    texts, examples = [], []
    for number in range(count):
        tagged, start = draw(supply), 0
        texts.append(" ".join(word for word, _ in tagged))
        for word, tag in tagged:
            examples.append(LabelledExample((TokenPosition(number, start, start + len(word)),), tag))
            start += len(word) + 1
    return Questions(tuple(texts), tuple(examples))


NEW_WORDS = {
    task.name: task
    for task in (
        Task("new words: feeling", "sentence", "positive or negative", partial(about_words, FEELINGS, ABOUT_FEELINGS, 1)),
        Task("new words: kind", "sentence", "animal, person, place, …", partial(about_words, KINDS, ABOUT_THINGS, 2)),
        Task("new words: gender", "sentence", "he or she, by the name", partial(about_words, GENDERS, ABOUT_PEOPLE, 3)),
        Task("new words: part of speech", "token", "noun, verb, … in no order", rows_of_words),
        Task("new words: entities", "token", "names of people, places, organisations", new_names, metric="span F1"),
        Task("new words: entailment", "pair", "who saw a wolf saw an animal", kind_follows, join="compared"),
        Task("new words: acceptability", "sentence", "can it be hungry", sensible, metric="Matthews"),
    )
}
