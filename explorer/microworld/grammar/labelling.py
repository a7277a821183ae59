"""The gold labels of a plain text: parts of speech, mentions with who or what they mean, and roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.microworld.grammar import words
from explorer.microworld.grammar.plain import PlainText
from explorer.microworld.grammar.tree import Lexeme, Phrase, Pronoun, ProperName, nodes
from explorer.microworld.story import Label, Mention, Role, Story

KINDS = {"person": "person", "animal": "animal", "place": "place", "group": "organisation"}  # by the class of a noun
SPEAKERS = ("i", "we", "you", "my", "our", "your")  # who they mean is not in the text
SHARED = ("A", "A1", "A2")  # the keys of the person whom all frames of a text are about


def labelled_text(text: PlainText) -> Story:
    """A text with its gold labels."""
    labels: list[Label] = []
    mentions: list[Mention] = []
    roles: list[Role] = []
    cast = _cast(text)
    start = 0
    for number, (spoken, sentence) in enumerate(zip(text.english, text.sentences, strict=True)):
        first = len(labels)
        labels += _labels(spoken, sentence, number, start)
        named = list(_mentions(spoken, first, text.parts[number], cast))
        roles += _roles(spoken, first, [(mention, len(mentions) + n) for n, mention in enumerate(named)])
        mentions += named
        start += len(sentence) + 1
    return Story(
        text.frame, text.strand, "", "", tuple(text.sentences), (0,) * len(text.sentences), tuple(labels), tuple(mentions),
        tuple(roles), (),
    )  # fmt: skip


def _labels(spoken: Sequence[Lexeme], sentence: str, number: int, start: int) -> Iterator[Label]:
    at = 0
    for word in spoken:
        at = sentence.index(word.text, at) if at else 0
        end = at + len(word.text)
        yield Label(sentence[at:end], start + at, start + end, number, word.pos, word.sense, word.number, True)
        at = end


def _entity(who: str, part: int) -> str:
    """A name for somebody or something that is the same in a whole text: letters but *A* are those of one frame."""
    shared = not part or who in SHARED or who[1:2].islower()
    return who if shared else f"{who}.{part}"


@dataclass(frozen=True)
class _Cast:
    """Who and what a text names: what kind of thing each is, and who has which name."""

    kinds: dict[str, str]
    named: dict[str, str]

    def entities(self, who: str, part: int) -> tuple[str, ...]:
        """Whom a key means: two, where it is that of *Anna and Paul*."""
        entity = self.named.get(who) or _entity(who, part)
        both = tuple(_entity(f"{who}{n}", part) for n in (1, 2))
        return both if entity not in self.kinds and set(both) <= set(self.kinds) else (entity,)


def _cast(text: PlainText) -> _Cast:
    cast = _Cast({name.en: "person" if name.kind == "person" else "place" for name in words.names()}, {})
    for tree, part in zip(text.trees, text.parts, strict=True):
        for node in nodes(tree):
            if isinstance(node, Phrase):
                kinds = (KINDS[kind] for kind in node.noun.kinds if kind in KINDS)
                cast.kinds[_entity(node.key, part)] = next(kinds, "thing")
            elif isinstance(node, Pronoun) and node.person == 3:
                cast.kinds.setdefault(_entity(node.key, part), "thing" if node.thing else "person")
            elif isinstance(node, ProperName) and node.key:
                cast.named[node.text] = _entity(node.key, part)
                cast.kinds[_entity(node.key, part)] = "person" if node.kind == "person" else "place"
    return cast


def _mentions(spoken: Sequence[Lexeme], first: int, part: int, cast: _Cast) -> Iterator[Mention]:
    """Runs of words that name the same person or thing."""
    at = 0
    while at < len(spoken):
        word, end = spoken[at], at
        who = word.who or (word.text if word.text in cast.kinds and word.pos == "PROPN" else "")
        while end + 1 < len(spoken) and word.who and spoken[end + 1].who == word.who and spoken[end + 1].marks == word.marks:
            end += 1
        if who and not (word.pos in ("PRON", "AUX") and re.split("['’]", word.text.lower())[0] in SPEAKERS):
            form = {"PROPN": "name", "NOUN": "description"}.get(word.pos, "pronoun")
            entities = cast.entities(who, part)
            yield Mention(first + at, first + end, entities, cast.kinds.get(entities[0], "thing"), form)
        at = end + 1


def _roles(spoken: Sequence[Lexeme], first: int, mentions: Sequence[tuple[Mention, int]]) -> Iterator[Role]:
    """Agent, patient and recipient of each verb, by the marks that say what belongs to which clause."""
    for n, word in enumerate(spoken):
        places = [mark[:-1] for mark in word.marks if mark.endswith("v")]
        if word.pos != "VERB" or not places:
            continue
        for part, name in (("s", "agent"), ("o", "patient"), ("r", "recipient")):
            wanted = {places[0] + part, places[0] + part + "n"}
            for mention, index in mentions:
                if wanted & set(spoken[mention.first - first].marks):
                    yield Role(first + n, index, name)
