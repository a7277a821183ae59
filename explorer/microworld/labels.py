"""The gold labels of a story, found by walking through its templates beside its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.errors.kinds import checked
from explorer.microworld.casting import meant
from explorer.microworld.items import Item
from explorer.microworld.lexicon import Verb, Word
from explorer.microworld.markup import Sentence
from explorer.microworld.story import Label, Mention, Role, Story
from explorer.microworld.telling import StoryPlan, teller
from explorer.microworld.versions import VERSION


@dataclass(slots=True)
class Page:
    """What has been labelled so far."""

    words: list[Label]
    mentions: list[Mention]
    roles: list[Role]
    cursor: int = 0


@checked
def labelled_scripts(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[Story]:
    """`count` stories with their gold labels: the same stories that `stories` tells.

    >>> story = next(ex.microworld.labelled(1, seed=3))
    >>> story.text == ex.microworld.texts(1, seed=3)[0]
    True
    """
    source = teller(split, version)
    for number in range(count):
        yield label(source.plan(seed, number))


def label(plan: StoryPlan) -> Story:
    """One planned story with its labels."""
    sentences = plan.texts()
    page = Page([], [], [])
    for number, sentence in enumerate(plan.sentences):
        _sentence(plan, page, number, sentence, sentences[number])
    fact = tuple(meant(plan.cast, key).lemma for key in plan.script.fact)
    return Story(
        plan.script.name, plan.script.topic, plan.branch, plan.tense, tuple(sentences), tuple(s.feeling for s in plan.sentences),
        tuple(page.words), tuple(page.mentions), tuple(page.roles), ((fact[0], fact[1]),) if fact else (),
    )  # fmt: skip


def _sentence(plan: StoryPlan, page: Page, number: int, sentence: Sentence, sentence_text: str) -> None:
    at, start = 0, page.cursor
    word_of: list[int] = []
    mention_of: dict[int, int] = {}
    for n, item in enumerate(sentence.items):
        first = len(page.words)
        word_of.append(first)
        for text, pos, sense in _spelled(plan, item):
            at = sentence_text.index(text, at)
            page.words.append(
                Label(text, start + at, start + at + len(text), number, pos, sense, _number(plan, item), item.slot)
            )
            at += len(text)
        if item.who and (mention := _mention(plan, page, item, first)):
            mention_of[n] = len(page.mentions)
            page.mentions.append(mention)
    for verb, item_number, name in sentence.roles:
        if item_number in mention_of:
            page.roles.append(Role(word_of[verb], mention_of[item_number], name))
    page.cursor += len(sentence_text) + 1


def _owner(plan: StoryPlan, item: Item) -> tuple[object, str]:
    """The word that fills a slot, and which of its forms."""
    owner = plan.cast[item.key]
    inner, _, attr = item.path.rpartition(".")
    return (getattr(owner, inner) if inner else owner), attr


def _spelled(plan: StoryPlan, item: Item) -> list[tuple[str, str, str]]:
    if not item.key:
        return [(item.text, item.pos, item.sense)]
    owner, attr = _owner(plan, item)
    if "[" in attr:
        tense, _, lemma = attr.rstrip("]").partition("[")
        return [(getattr(owner, tense)[lemma], item.pos, item.sense)]
    tokens = owner.tokens(attr)  # type: ignore[attr-defined]
    sense = getattr(owner, "sense", "") if attr not in ("it", "them", "its", "cap_it", "cap_its") else ""
    return [(text, pos, sense if pos != "DET" else "") for text, pos in tokens]


def _number(plan: StoryPlan, item: Item) -> str:
    """The number of a finite verb, where its subject decides the form: not in `she could`, nor in `they went`."""
    if not item.lemma or item.lemma in ("can", "will", "can't", "won't"):
        return ""
    if plan.tense == "past" and item.lemma not in ("be", "isn't") and not _now(item):
        return ""
    return item.number if item.number in ("sg", "pl") else plan.cast[item.number].number


def _now(item: Item) -> bool:
    return item.text in ("has", "is", "are", "does", "have") or item.path.startswith("present")


def _mention(plan: StoryPlan, page: Page, item: Item, first: int) -> Mention | None:
    owner = plan.cast[item.who[0]]
    if isinstance(owner, Verb) or (isinstance(owner, Word) and owner.pos not in ("NOUN", "PROPN")):
        return None
    while first < len(page.words) - 1 and page.words[first].pos == "DET":
        first += 1
    form = "name" if item.form != "pronoun" and page.words[first].pos == "PROPN" else item.form
    if not owner.kind:
        return None
    return Mention(first, len(page.words) - 1, item.who, owner.kind, form)
