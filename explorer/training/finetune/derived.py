"""More tasks of the microworld: acceptability, paraphrase, similarity, questions with an answer in the text, and summaries."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.microworld.derived.acceptability import judged
from explorer.microworld.derived.paraphrase import paraphrases
from explorer.microworld.derived.questions import questions, summaries
from explorer.training.finetune.microworld import SEED, TASKS
from explorer.training.finetune.new_words import NEW_WORDS
from explorer.training.finetune.task import LabelledExample, Questions, Task, TokenPosition, about_whole_texts

SAME, GRADES = 5, 6  # the grade of one event told twice, and how many grades there are
TURNS = (4, SAME, 3, SAME)  # of every four pairs two tell one event, and two tell events that differ in one or two parts


def acceptability(count: int, split: str, seed: int = SEED) -> Questions:
    """Is this sentence as it should be, or has it one fault?"""
    return about_whole_texts(
        ((sentence.text,), "right" if sentence.good else "wrong") for sentence in judged(count, seed, split)
    )


def paraphrase(count: int, split: str, seed: int = SEED) -> Questions:
    """Do two sentences describe the same event? In half of the pairs one or two parts of it differ."""
    return about_whole_texts(_same_or_near(count, seed, split))


def similarity(count: int, split: str, seed: int = SEED) -> Questions:
    """How much of an event do two sentences share, from 0 to 5?"""
    return about_whole_texts(((pair.first, pair.second), str(pair.grade)) for pair in paraphrases(count, seed, split))


def answered_questions(count: int, split: str, seed: int = SEED) -> Questions:
    """Which stretch of the story answers the question? The places are the question and the answer."""
    texts: list[str] = []
    examples = []
    for question in questions(count, seed, split):
        asked = TokenPosition(len(texts), 0, len(question.question))
        where = TokenPosition(len(texts) + 1, question.start, question.end)
        texts += [question.question, question.text]
        examples.append(LabelledExample((asked, where), question.answer))
    return Questions(tuple(texts), tuple(examples))


def summary(count: int, split: str, seed: int = SEED) -> Questions:
    """What does a story come to? The answer is a text."""
    return about_whole_texts(((story.text,), story.summary) for story in summaries(count, seed, split))


def _same_or_near(count: int, seed: int, split: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Pairs of the highest grade and pairs of the grades just below it, in turn."""
    number = 0
    for pair in paraphrases(GRADES * count, seed, split):
        if number < count and pair.grade == TURNS[number % len(TURNS)]:
            yield (pair.first, pair.second), "same" if pair.grade == SAME else "different"
            number += 1


DERIVED = {
    task.name: task
    for task in (
        Task("acceptability", "sentence", "whether a sentence is acceptable", acceptability, metric="Matthews"),
        Task("paraphrase", "pair", "whether both describe the same event", paraphrase, join="compared"),
        Task("similarity", "graded", "how similar both are, from 0 to 5", similarity, join="compared", metric="Spearman"),
        Task("questions", "question", "which span of a text is the answer", answered_questions, metric="F1 of words"),
        Task("summary", "text", "a summary of a story", summary, metric="F1 of words"),
    )
}
EVERY_TASK = TASKS | DERIVED | NEW_WORDS
