"""Stories that come with their gold coreference, for the one objective that learns from it."""

from __future__ import annotations

import numpy as np

from explorer.analysis.evaluation.probing import phrases_of
from explorer.errors import ChoiceError
from explorer.microworld.antecedents import antecedents
from explorer.microworld.derived.reasons import reasons
from explorer.microworld.labels import labelled_scripts
from explorer.records import Tokens
from explorer.text.examples import CorefExample
from explorer.text.tokenizers import Tokenizer
from explorer.training.corpora import Corpus

STORIES, REASONS = 8000, 3000  # each reason makes two texts, so that two in five are minimal pairs


def coref_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None = None) -> list[CorefExample]:
    """Stories of the microworld and *too tired / too wide* pairs of its training split, in tokens, with what each pronoun means."""
    if corpus.name != "microworld":
        raise ChoiceError(
            "Only the microworld has labels of what its pronouns mean. Leave `corpus` out, or choose another objective."
        )
    examples = []
    for story in labelled_scripts(STORIES, 1, "train"):
        tokens = tokenizer.encode(story.text, special=False)
        examples.append(_example(tokens, [(query, key) for query, keys in antecedents(story, tokens) for key in keys]))
    for reason in reasons(REASONS, 1, "train"):
        for which in (0, 1):
            tokens = tokenizer.encode(reason.text(which), special=False)
            begin = len(" ".join(reason.before)) + 1
            query, phrases = phrases_of(reason.text(which), begin, reason.nouns, tokens)
            examples.append(_example(tokens, [(query, key) for key in phrases[which]]))
    return examples


def _example(tokens: Tokens, links: list[tuple[int, int]]) -> CorefExample:
    ids, words, sentences = (np.array(part, np.int64) for part in (tokens.ids, tokens.words, tokens.sentences))
    return CorefExample(ids, words, sentences, tuple(links))
