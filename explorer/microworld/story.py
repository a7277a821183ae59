"""What is known about a story: its words, who is meant where, and who does what to whom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


class Label(NamedTuple):
    """One word of a story, with its gold labels; `start` and `end` are character offsets into the story's text."""

    text: str
    start: int
    end: int
    sentence: int
    pos: str
    sense: str = ""  # bank.money or bank.river, for words with several senses
    number: str = ""  # of a finite verb whose form its subject decides: sg or pl
    slot: bool = False  # filled at random (True), or part of the template


class Mention(NamedTuple):
    """Words `first` … `last` mean these entities; a plural pronoun may mean two."""

    first: int
    last: int
    entities: tuple[str, ...]
    kind: str  # person, animal, place, organisation, thing
    form: str  # name, pronoun or description


class Role(NamedTuple):
    """The role of a mention in the event of a verb: agent, patient, recipient, …"""

    verb: int  # index of the verb's word
    mention: int  # index of the mention
    name: str


@dataclass(frozen=True, slots=True)
class Story:
    """A story with its gold labels."""

    script: str
    topic: str
    branch: str
    tense: str
    sentences: tuple[str, ...]
    feelings: tuple[int, ...]  # per sentence: 1 glad, −1 sad, 0 neither
    words: tuple[Label, ...]
    mentions: tuple[Mention, ...]
    roles: tuple[Role, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The story as one string: what the offsets count in."""
        return " ".join(self.sentences)

    def chain(self, entity: str) -> list[Mention]:
        """Every mention of one entity, in order."""
        return [mention for mention in self.mentions if entity in mention.entities]

    def opening(self, sentences: int) -> Story:
        """The first few sentences of the story, with the labels of those."""
        words = tuple(word for word in self.words if word.sentence < sentences)
        mentions = tuple(mention for mention in self.mentions if mention.last < len(words))
        roles = tuple(role for role in self.roles if role.verb < len(words) and role.mention < len(mentions))
        return replace(
            self,
            sentences=self.sentences[:sentences],
            feelings=self.feelings[:sentences],
            words=words,
            mentions=mentions,
            roles=roles,
        )
