"""Several tasks as text from text: a prefix names the task, as T5 reads it, and the answer is a text, also where it is a label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count as numbers

from explorer.microworld.derived.acceptability import judged
from explorer.microworld.derived.questions import summaries
from explorer.microworld.grammar.pairing import pairs
from explorer.microworld.grammar.plain import plain_texts
from explorer.microworld.labels import labelled_scripts

PREFIXES = {
    "translation": "translate English to French: ",
    "acceptability": "cola sentence: ",
    "sentiment": "sentiment: ",
    "summary": "summarize: ",
}
FEELINGS = {1: "glad", -1: "sad", 0: "neither"}
VERSIONS = ("2.0", "2.1")
LATEST = VERSIONS[-1]
PLAIN = 4  # every so many summaries one of plain sentences, which visitors type
ENDLESS = 10**9  # more than anybody asks for: the generators below are read as far as they are needed


@dataclass(frozen=True, slots=True)
class TextTask:
    """A question of one task: the text that is read, its prefix included, and the text that is the answer."""

    task: str
    source: str
    target: str


def tasks_as_text(count: int, seed: int, split: str = "train", *, version: str = LATEST) -> Iterator[TextTask]:
    """`count` questions, of the four tasks in turn; translations and summaries are those of a version.

    >>> [one.source.split(":")[0] for one in tasks_as_text(4, seed=1)]
    ['translate English to French', 'cola sentence', 'sentiment', 'summarize']
    """
    answered = {
        "translation": ((pair.english, pair.french) for pair in pairs(ENDLESS, seed, split, version=version)),
        "acceptability": (
            (example.text, "acceptable" if example.good else "not acceptable") for example in judged(ENDLESS, seed, split)
        ),
        "sentiment": feelings(seed, split),
        "summary": shortened(seed, split, version),
    }
    names = list(answered)
    for number in range(count):
        task = names[number % len(names)]
        text, answer = next(answered[task])
        yield TextTask(task, PREFIXES[task] + text, answer)


def shortened(seed: int, split: str, version: str) -> Iterator[tuple[str, str]]:
    """Texts with their summaries: stories, and from version 2.1 on every fourth time a few plain sentences, of which the first is kept."""
    stories = ((example.text, example.summary) for example in summaries(ENDLESS, seed, split))
    plain = ((" ".join(text.sentences), text.sentences[0]) for text in plain_texts(ENDLESS, seed, split))
    for number in numbers():
        yield next(plain if version != "2.0" and number % PLAIN == PLAIN - 1 else stories)


def feelings(seed: int, split: str) -> Iterator[tuple[str, str]]:
    """Sentences of stories with how somebody feels in them: glad, sad and neither in turn."""
    number_made = 0
    for story in labelled_scripts(ENDLESS, seed, split):
        for sentence, feeling in zip(story.sentences, story.feelings, strict=True):
            if feeling == tuple(FEELINGS)[number_made % len(FEELINGS)]:
                yield sentence, FEELINGS[feeling]
                number_made += 1


def task_of(source: str) -> str:
    """The task that a text's prefix names; nothing where it has none.

    >>> task_of("sentiment: Anna was happy."), task_of("Anna was happy.")
    ('sentiment', '')
    """
    return next((task for task, prefix in PREFIXES.items() if source.startswith(prefix)), "")
