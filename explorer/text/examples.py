"""Stories as tokens, and which of them form a batch. A batch depends only on the seed and the step, so a run can resume anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from explorer.errors import ChoiceError, TextError
from explorer.text.letters import letters
from explorer.text.tokenizers import Tokenizer

Kind = TypeVar("Kind")
WINDOW = 32  # over so many steps are stories of like length brought together


class Translation(NamedTuple):
    """A text and what it should become."""

    source: str
    target: str


Stories = Sequence[Sequence[str] | str]  # as lists of sentences, or documents as they are
Texts = Sequence[Sequence[str] | str | Translation]  # stories, or translations


@dataclass(frozen=True)
class Example:
    """One story: its tokens with the word and the sentence that each belongs to."""

    ids: np.ndarray
    words: np.ndarray
    sentences: np.ndarray


@dataclass(frozen=True)
class CharExample(Example):
    """A story whose words are also read by their letters: number `forms[n]` of `letters` [form, letter], which all stories share."""

    forms: np.ndarray
    letters: np.ndarray


@dataclass(frozen=True)
class CorefExample(Example):
    """A story with its gold coreference: which token is a pronoun, and which earlier token is its antecedent."""

    links: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class TranslationExample:
    """A source and its target in tokens."""

    source: Example
    target: Example


def prepared_pairs(texts: Sequence[Translation], tokenizer: Tokenizer) -> list[TranslationExample]:
    """Translations in tokens."""
    if not texts:
        raise TextError("There are no translations to train on.")
    coded = tokenizer.plain([text for pair in texts for text in pair])
    stories = iter([_story([tokens]) for tokens in coded])
    examples = [TranslationExample(next(stories), next(stories)) for _ in texts]
    return _not_empty([pair for pair in examples if len(pair.source.ids) and len(pair.target.ids)])


def prepared(texts: Stories, tokenizer: Tokenizer, max_length: int | None = None) -> list[Example]:
    """Stories in tokens. Where the sentences are given they are kept; in a document they are found by their full stops.

    A document of more than `max_length` tokens becomes several stories, cut between sentences where that is possible.
    """
    if not len(texts):
        raise TextError("There are no stories to train on.")
    stories_read = [story for story in texts if not isinstance(story, str)]
    flat = [sentence if n == 0 else f" {sentence}" for story in stories_read for n, sentence in enumerate(story)]
    coded = iter(tokenizer.plain(flat))
    examples: list[Example] = []
    for story in texts:
        whole = _document(story, tokenizer) if isinstance(story, str) else _story([next(coded) for _ in story])
        examples += split_story(whole, max_length if isinstance(story, str) else None)
    return _not_empty([story for story in examples if len(story.ids)])


def prepared_letters(texts: Stories, tokenizer: Tokenizer, max_length: int | None = None) -> list[CharExample]:
    """Stories as words, each with its letters: a word outside the vocabulary is still read from its letters."""
    plain = [text if isinstance(text, str) else " ".join(text) for text in texts]
    numbers: dict[str, int] = {}
    known: list[int] = []
    examples: list[Example] = []
    for text, coded in zip(plain, tokenizer.plain(plain), strict=True):
        written = [text[start:end] for start, end in coded.offsets]
        for word, number in zip(written, coded.ids, strict=True):
            if word not in numbers:
                numbers[word] = len(numbers)
                known.append(number)
        forms = np.array([numbers[word] for word in written], np.int64)
        examples += split_story(Example(forms, np.arange(len(forms)), np.zeros_like(forms)), max_length)
    table, ids = letters(list(numbers)), np.array(known, np.int64)
    return _not_empty(
        [
            CharExample(ids[example.ids], example.words, example.sentences, example.ids, table)
            for example in examples
            if len(example.ids)
        ]
    )


def _not_empty(examples: list[Kind]) -> list[Kind]:
    if not examples:
        raise TextError("Every text of this corpus is empty, so there is nothing to train on. Give texts with words in them.")
    return examples


def split_story(story: Example, max_length: int | None) -> list[Example]:
    """A long story as several that fit: cut before a sentence that would not fit as a whole, and inside one that is too long."""
    cuts, begin = [0], 0
    while max_length and len(story.ids) - begin > max_length:
        fits = story.sentences[begin + max_length] == story.sentences[begin : begin + max_length]
        begin += int(np.argmax(fits)) if fits.any() and not fits[0] else max_length
        cuts.append(begin)
    ends = [*cuts[1:], len(story.ids)]
    return [_between(story, begin, end) for begin, end in zip(cuts, ends, strict=True)] if len(cuts) > 1 else [story]


def _between(story: Example, begin: int, end: int) -> Example:
    """Some tokens of a story as a separate one: words and sentences are counted from 0 again."""
    ids, words, sentences = (part[begin:end] for part in (story.ids, story.words, story.sentences))
    return Example(ids, np.where(words < 0, -1, words - words[words >= 0].min(initial=words.max())), sentences - sentences[0])


def packed(stories: Sequence[Example], separator: int, max_length: int) -> list[Example]:
    """Full sentences, as in RoBERTa: stories one after the other, a separator between two, in rows of whole sentences of at most
    `max_length` tokens. Only a sentence that is longer than a row is cut.
    """
    ids, words, sentences = [], [], []
    word = sentence = 0
    for story in stories:  # the separator goes with the sentence before it, until the rows are cut
        ids.append(np.append(story.ids, separator))
        words.append(np.append(np.where(story.words < 0, -1, story.words + word), -1))
        sentences.append(np.append(story.sentences, story.sentences[-1]) + sentence)
        word, sentence = word + int(story.words.max()) + 1, sentence + int(story.sentences[-1]) + 1
    rows = split_story(Example(*(np.concatenate(part) for part in (ids, words, sentences))), max_length)
    return [example for row in rows if len((example := _trimmed(row, separator)).ids)]


def _trimmed(row: Example, separator: int) -> Example:
    """A row without the separator at its end; those inside it are part of no sentence."""
    end = len(row.ids) - int(row.ids[-1] == separator)
    sentences = np.where(row.ids == separator, -1, row.sentences)
    return Example(row.ids[:end], row.words[:end], sentences[:end])


def _document(text: str, tokenizer: Tokenizer) -> Example:
    tokens = tokenizer.encode(text, special=False)
    return Example(tokens.ids.astype(np.int64), np.array(tokens.words, np.int64), np.array(tokens.sentences, np.int64))


def _story(sentences: list[object]) -> Example:
    ids, words, numbers, count = [], [], [], 0
    for number, coded in enumerate(sentences):
        ids += coded.ids  # type: ignore[attr-defined]
        own = [-1 if word is None else word for word in coded.word_ids]  # type: ignore[attr-defined]
        words += [word + count for word in own]
        numbers += [number] * len(own)
        count += max(own, default=-1) + 1
    return Example(np.array(ids, np.int64), np.array(words, np.int64), np.array(numbers, np.int64))


def examples_of_step(step: int, count: int, size: int, seed: int) -> np.ndarray:
    """The numbers of the stories in the batch of a step (counted from 1): all of them once, then again in another order."""
    if count < size:
        raise ChoiceError(f"A batch takes {size} stories, but there are {count}. Give more stories, or a smaller batch=….")
    each = count // size
    epoch, place = divmod(step - 1, each)
    return order(count, seed, epoch)[place * size : (place + 1) * size]


@lru_cache(maxsize=4)
def order(count: int, seed: int, epoch: int) -> np.ndarray:
    """The order of the stories in one epoch."""
    return np.random.default_rng((seed, 1, epoch)).permutation(count)


def batches_by_length(window: int, stories: Sequence[Example | TranslationExample], size: int, seed: int) -> np.ndarray:
    """The batches of a window of steps where stories of like length come together: [step in the window, story in the batch].

    They hold the stories that `examples_of_step` gives these steps, sorted by length, in an order that the seed decides.
    """
    steps = range(window * WINDOW + 1, (window + 1) * WINDOW + 1)
    numbers = np.concatenate([examples_of_step(step, len(stories), size, seed) for step in steps])
    lengths = np.array([tokens_in(stories[number]) for number in numbers.tolist()])
    batches = numbers[np.argsort(lengths, kind="stable")].reshape(WINDOW, size)
    return batches[np.random.default_rng((seed, 6, window)).permutation(WINDOW)]


def tokens_in(example: Example | TranslationExample) -> int:
    """How many tokens an example has; of a translation both texts count."""
    parts = (example.source, example.target) if isinstance(example, TranslationExample) else (example,)
    return sum(len(part.ids) for part in parts)


def step_rng(seed: int, step: int) -> np.random.Generator:
    """The random number generator for one step."""
    return np.random.default_rng((seed, 2, step))
