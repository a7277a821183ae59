"""Questions whose answer is a span of the story, and short summaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.microworld.forms import capital
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.lexicon import lexicon
from explorer.microworld.story import Mention, Role, Story

ASKED = {"agent": "Who", "patient": "What", "place": "Where", "goal": "Where"}
BARE = ("is", "was", "are", "were", "has", "had", "have", "says", "said")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a text; the answer is `text[start:end]`."""

    text: str
    question: str
    start: int
    end: int

    @property
    def answer(self) -> str:
        """The words of the answer."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Summary:
    """A story and what it comes to."""

    text: str
    summary: str


def questions(count: int, seed: int, split: str = "train") -> Iterator[Question]:
    """`count` questions: who did it, what was it done to, and where."""
    number_made = 0
    for story in labelled_scripts(10**9, seed, split):
        for question in _of(story):
            yield question
            number_made += 1
            if number_made == count:
                return


def _of(story: Story) -> Iterator[Question]:
    events: dict[int, list[Role]] = {}
    for role in story.roles:
        events.setdefault(role.verb, []).append(role)
    for verb, taking in events.items():
        doer = next((r for r in taking if r.name in ("agent", "theme")), None)
        if doer is None or not _simple(story, verb, story.mentions[doer.mention]) or not _once(story, verb):
            continue
        yield _who(story, verb, story.mentions[doer.mention])
        for role in taking:
            if role.name in ("patient", "place", "goal") and role is not doer:
                question = _what(story, verb, story.mentions[doer.mention], story.mentions[role.mention], role.name)
                if question is not None:
                    yield question


def _simple(story: Story, verb: int, doer: Mention) -> bool:
    """Anna opened …: a name, then its verb, at the start of a sentence."""
    first = story.words[doer.first]
    starts = doer.first == 0 or story.words[doer.first - 1].sentence != first.sentence
    return (
        doer.form == "name"
        and doer.kind == "person"
        and starts
        and verb == doer.last + 1
        and story.words[verb].text not in BARE
    )


def _once(story: Story, verb: int) -> bool:
    return sum(word.text == story.words[verb].text for word in story.words) == 1


def _who(story: Story, verb: int, doer: Mention) -> Question:
    last = max(n for n, word in enumerate(story.words) if word.sentence == story.words[verb].sentence)
    stop = next((n for n in range(verb, last) if story.words[n].text in (",", ".")), last)
    rest = story.text[story.words[verb].start : story.words[stop].start].rstrip()
    return Question(story.text, f"Who {rest}?", story.words[doer.first].start, story.words[doer.last].end)


def _what(story: Story, verb: int, doer: Mention, object_: Mention, role: str) -> Question | None:
    base = _base(story.words[verb].text)
    first = object_.first
    while story.words[first - 1].pos in ("DET", "ADJ", "NUM") and first - 1 > verb:
        first -= 1
    direct = first == verb + 1
    where = role in ("place", "goal") and object_.kind == "place" and first == verb + 2
    if not base or object_.form == "pronoun" or not (where or (role == "patient" and object_.kind == "thing" and direct)):
        return None
    did = "did" if story.words[verb].text == lexicon().verbs[base].past else "does"
    name = story.words[doer.last].text
    return Question(
        story.text, f"{ASKED[role]} {did} {name} {base}?", story.words[first].start, story.words[object_.last].end
    )  # fmt: skip


def _base(form: str) -> str:
    return next((name for name, verb in lexicon().verbs.items() if form in (verb.past, verb.present)), "")


def summaries(count: int, seed: int, split: str = "train") -> Iterator[Summary]:
    """`count` stories with a summary: the sentence in which most of the cast comes together, with names for pronouns, and the end."""
    for story in labelled_scripts(count, seed, split):
        inside = range(1, max(2, len(story.sentences) - 1))
        best = max(inside, key=lambda n: (_facts(story, n), len(_people(story, n)), -n))
        yield Summary(story.text, f"{_resolved(story, best)} {_end(story)}".strip())


def _people(story: Story, sentence: int) -> set[str]:
    return {
        entity for m in story.mentions if story.words[m.first].sentence == sentence for entity in m.entities if len(entity) < 3
    }


def _facts(story: Story, sentence: int) -> int:
    here = story.sentences[sentence]
    return sum(word in here for fact in story.facts for word in fact)


def _resolved(story: Story, sentence: int) -> str:
    """The sentence with every pronoun replaced by what it means, where one word can."""
    out, at = "", next(word.start for word in story.words if word.sentence == sentence)
    end = max(word.end for word in story.words if word.sentence == sentence)
    for mention in story.mentions:
        word = story.words[mention.first]
        named = [m for m in story.chain(mention.entities[0]) if m.form == "name"] if len(mention.entities) == 1 else []
        if word.sentence == sentence and mention.form == "pronoun" and named and word.text.lower() in ("he", "she", "him"):
            before = [m for m in named if story.words[m.first].sentence == sentence and m.first < mention.first]
            if not before:
                out += story.text[at : word.start] + story.words[named[0].first].text
                at = word.end
    return capital(out + story.text[at:end])


def _end(story: Story) -> str:
    feeling = next((f for f in reversed(story.feelings) if f), 0)
    return {1: "It ends well.", -1: "It ends badly.", 0: ""}[feeling]
