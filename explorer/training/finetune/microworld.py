"""Tasks of the microworld: their answers are the generator's own gold labels, and the splits are its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from explorer.microworld import Story, labelled
from explorer.microworld.derived.as_text import FEELINGS
from explorer.microworld.derived.inference import NAMES, inferences
from explorer.training.finetune.task import LabelledExample, Questions, Task, TokenPosition, about_whole_texts

SEED = 5  # other stories than those that models are trained on
NAMED = {"person": "PER", "place": "LOC", "organisation": "ORG"}
EVERY = 5  # of the many sentences without a feeling, one in five is asked about


@lru_cache(maxsize=8)
def labelled_stories(count: int, split: str, seed: int = SEED) -> tuple[Story, ...]:
    """So many stories of a split with their gold labels."""
    return tuple(labelled(count, seed, split))


def about_stories(ask: Callable[[int, Story], Iterator[LabelledExample]]) -> Callable[..., Questions]:
    """Questions about the same stories for every task, so that they are read only once."""

    def make(count: int, split: str, seed: int = SEED) -> Questions:
        stories = labelled_stories(count, split, seed)
        examples = tuple(example for number, story in enumerate(stories) for example in ask(number, story))
        return Questions(tuple(story.text for story in stories), examples)

    return make


def last_letters(number: int, story: Story) -> Iterator[LabelledExample]:
    """With which letter does this word end? Its form alone says so."""
    for word in story.words:
        if word.text[-1].isalpha():
            yield LabelledExample((TokenPosition(number, word.start, word.end),), word.text[-1].lower())


def parts_of_speech(number: int, story: Story) -> Iterator[LabelledExample]:
    """Which part of speech is this word?"""
    for word in story.words:
        yield LabelledExample((TokenPosition(number, word.start, word.end),), word.pos)


def entities(number: int, story: Story) -> Iterator[LabelledExample]:
    """Is this word part of a name, of whom? B- begins a name, I- continues it, O is none."""
    tags = ["O"] * len(story.words)
    for mention in story.mentions:
        if mention.form == "name" and mention.kind in NAMED:
            for place in range(mention.first, mention.last + 1):
                tags[place] = f"{'B' if place == mention.first else 'I'}-{NAMED[mention.kind]}"
    for word, tag in zip(story.words, tags, strict=True):
        yield LabelledExample((TokenPosition(number, word.start, word.end),), tag)


def roles(number: int, story: Story) -> Iterator[LabelledExample]:
    """Who does what to whom? The verb and a mention are given, the role is asked for."""
    for role in story.roles:
        verb, mention = story.words[role.verb], story.mentions[role.mention]
        there = TokenPosition(number, story.words[mention.first].start, story.words[mention.last].end)
        yield LabelledExample((TokenPosition(number, verb.start, verb.end), there), role.name)


def senses(number: int, story: Story) -> Iterator[LabelledExample]:
    """In which sense is this word used? Its form is the same in all of them."""
    for word in story.words:
        if word.sense:
            yield LabelledExample((TokenPosition(number, word.start, word.end),), word.sense)


def sentiment(number: int, story: Story) -> Iterator[LabelledExample]:
    """Is this sentence glad, sad or neither?"""
    start = 0
    for place, (sentence, feeling) in enumerate(zip(story.sentences, story.feelings, strict=True)):
        if feeling or (number + place) % EVERY == 0:
            yield LabelledExample((TokenPosition(number, start, start + len(sentence)),), FEELINGS[feeling])
        start += len(sentence) + 1


def topics(number: int, story: Story) -> Iterator[LabelledExample]:
    """What is this story about?"""
    yield LabelledExample((TokenPosition(number, 0, len(story.text)),), story.topic)


def entailment(count: int, split: str, seed: int = SEED) -> Questions:
    """Does the second text follow from the first, contradict it, or neither? Five pairs for every story of the other tasks."""
    pairs = inferences(5 * count, seed, split)
    return about_whole_texts(((pair.premise, pair.hypothesis), NAMES[pair.label]) for pair in pairs)


TASKS = {
    task.name: task
    for task in (
        Task("last letter", "token", "the last letter of a word", about_stories(last_letters)),
        Task("part of speech", "token", "noun, verb, …", about_stories(parts_of_speech)),
        Task("entities", "token", "names of people, places, organisations", about_stories(entities), metric="span F1"),
        Task("roles", "token", "who does what to whom", about_stories(roles)),
        Task("word sense", "token", "which bank is meant", about_stories(senses)),
        Task("sentiment", "sentence", "glad, sad or neither", about_stories(sentiment)),
        Task("topic", "sentence", "what a story is about", about_stories(topics)),
        Task("entailment", "pair", "whether B follows from A", entailment, join="compared"),
    )
}
