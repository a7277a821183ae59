"""Blanks in stories whose answer the story decides: each tries one thing that a language model should have learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from explorer.microworld.labels import labelled_scripts
from explorer.microworld.lexicon import lexicon
from explorer.microworld.story import Mention, Story
from explorer.microworld.versions import VERSION

CAUSES = {"crossing": ("a", "w"), "packing": ("t", "b")}  # whom *too tired / too wide* may be said of
GENDERS = {"he": "she", "she": "he", "He": "She", "She": "He"}


@dataclass(frozen=True, slots=True)
class Blank:
    """The words of a story, the place of the one that is hidden, and what else might stand there."""

    phenomenon: str
    words: tuple[str, ...]
    at: int
    sentence: tuple[int, int]  # first word of the blank's sentence, and the one after its last
    wrong: tuple[str, ...]
    text: str = ""  # the story as it is written
    start: int = 0  # where the hidden word begins in it

    @property
    def right(self) -> str:
        """The word that stands there."""
        return self.words[self.at]


def blanks(count: int, seed: int, split: str = "test", *, version: str = VERSION) -> Iterator[Blank]:
    """Every blank of `count` stories."""
    before: list[Story] = []
    for story in labelled_scripts(count, seed, split, version=version):
        for find in FINDERS:
            yield from find(story, before[-20:])
        before.append(story)


def _blank(story: Story, phenomenon: str, at: int, wrong: tuple[str, ...]) -> Blank:
    inside = [n for n, word in enumerate(story.words) if word.sentence == story.words[at].sentence]
    words, sentence = tuple(word.text for word in story.words), (inside[0], inside[-1] + 1)
    return Blank(phenomenon, words, at, sentence, wrong, story.text, story.words[at].start)


def _again(story: Story, kinds: tuple[str, ...], form: str) -> Iterator[Mention]:
    """One-word mentions whose very word stood in the story before."""
    seen: set[str] = set()
    for mention in story.mentions:
        text = story.words[mention.last].text
        if mention.kind in kinds and mention.form == form and mention.first == mention.last:
            if text in seen:
                yield mention
            seen.add(text)


def _nouns(story: Story, before: list[Story]) -> Iterator[Blank]:
    here = {word.text for word in story.words}
    for mention in _again(story, ("thing", "animal"), "description"):
        others = {
            other.words[m.last].text: None
            for other in before
            for m in other.mentions
            if m.kind == mention.kind and m.first == m.last and m.form == "description" and other.words[m.last].pos == "NOUN"
        }
        wrong = tuple(text for text in others if text not in here)[:3]
        if len(wrong) == 3 and story.words[mention.last].pos == "NOUN":
            yield _blank(story, "a noun said before", mention.last, wrong)


def _names(story: Story, before: list[Story]) -> Iterator[Blank]:
    women = _women(story)
    for mention in _again(story, ("person",), "name"):
        text, who = story.words[mention.last].text, mention.entities[0]
        strange = [
            other.words[m.last].text
            for other in before
            for m in other.mentions
            if m.form == "name" and m.kind == "person" and _women(other).get(m.entities[0]) == women.get(who) is not None
        ]
        wrong = next((name for name in strange if name not in {word.text for word in story.words}), None)
        if wrong is not None and len(text) > 1:
            yield _blank(story, "a name said before", mention.last, (wrong,))


def _women(story: Story) -> dict[str, bool]:
    """Which people are women, as far as a pronoun has said so."""
    women = {}
    for mention in story.mentions:
        if mention.form == "pronoun" and mention.kind == "person" and len(mention.entities) == 1:
            women[mention.entities[0]] = story.words[mention.first].text.lower() in ("she", "her", "herself")
    return women


def _genders(story: Story, before: list[Story]) -> Iterator[Blank]:
    named: list[str] = []
    for mention in story.mentions:
        text = story.words[mention.first].text
        if mention.form == "pronoun" and text in GENDERS and len(mention.entities) == 1 and len(set(named)) == 1:
            yield _blank(story, "he or she, after one name", mention.first, (GENDERS[text],))
        if mention.kind == "person":
            named += mention.entities if mention.form == "name" else ()


@lru_cache(maxsize=1)
def other_number() -> dict[str, str]:
    """Every verb form that one number has, and the form of the other."""
    pairs = {"was": "were", "were": "was", "wasn't": "weren't", "weren't": "wasn't"}
    for verb in lexicon().verbs.values():
        if verb.present != verb.plural:
            pairs[verb.present], pairs[verb.plural] = verb.plural, verb.present
    return pairs


def _agreement(story: Story, before: list[Story]) -> Iterator[Blank]:
    flip = other_number()
    for n, word in enumerate(story.words):
        if word.number and word.text in flip:
            name = "agreement past an attractor" if attracted(story, n) else "agreement"
            yield _blank(story, name, n, (flip[word.text],))


def attracted(story: Story, verb: int) -> bool:
    """Whether the nearest noun before a verb has the other number than the verb."""
    forms = {word.s for word in lexicon().nouns.values()}
    for n in range(verb - 1, max(-1, verb - 6), -1):
        word = story.words[n]
        if word.sentence != story.words[verb].sentence or word.pos in ("PRON", "PROPN", "PUNCT", "VERB", "CCONJ"):
            return False
        if word.pos == "NOUN":
            return ("pl" if word.text in forms else "sg") != story.words[verb].number
    return False


def _causes(story: Story, before: list[Story]) -> Iterator[Blank]:
    if story.script not in CAUSES:
        return
    for mention in story.mentions:
        key, at = mention.entities[0], mention.last
        pair = CAUSES[story.script]
        if key in pair and at > 1 and story.words[at - 2].text == "because" and story.words[at].pos == "NOUN":
            other = pair[1 - pair.index(key)]
            names = [story.words[m.last].text for m in story.chain(other) if m.form == "description"]
            yield _blank(story, "too tired, too wide", at, (names[0],))


def _because(story: Story, before: list[Story]) -> Iterator[Blank]:
    """Two people of one gender, and a reason that only one of them can have."""
    women = _women(story)
    for mention in story.mentions:
        at, who = mention.first, mention.entities[0]
        if mention.kind != "person" or mention.form != "name" or story.words[at - 1].text != "because":
            continue
        same = [m for m in story.mentions if m.kind == "person" and m.form == "name" and m.last < at]
        near = [m for m in same if story.words[m.last].sentence == story.words[at].sentence]
        both = {m.entities[0]: story.words[m.last].text for m in near}
        other = [text for key, text in both.items() if key != who and women.get(key, True) == women.get(who, True)]
        if who in both and other:
            yield _blank(story, "who, by the reason", at, (other[0],))


FINDERS: tuple[Callable[[Story, list[Story]], Iterator[Blank]], ...] = (
    _nouns, _names, _genders, _agreement, _causes, _because,
)  # fmt: skip
