"""Pairs of words with the same relation, known from the microworld: the gold answers of analogies."""

from __future__ import annotations

from functools import lru_cache

from explorer.microworld.lexicon import Word, lexicon

GENDER = (
    ("he", "she"), ("king", "queen"), ("prince", "princess"), ("brother", "sister"), ("uncle", "aunt"), ("father", "mother"),
    ("grandfather", "grandmother"), ("boy", "girl"), ("man", "woman"),
)  # fmt: skip


@lru_cache(maxsize=1)
def relations() -> dict[str, tuple[tuple[str, str], ...]]:
    """Each relation with its pairs: he and she, walk and walked, dog and dogs, and the facts of the world, such as who eats what."""
    words = lexicon()
    triples = {
        "gender": GENDER,
        "past": _different((verb.base, verb.past) for verb in words.verbs.values()),
        "third person": _different((verb.base, verb.present) for verb in words.verbs.values()),
        "plural": _different((word.lemma, word.s) for word in words.nouns.values() if not word.mass),
    }
    for relation, table in words.facts.items():
        triples[relation] = _different(
            (subject, word.lemma if isinstance(word, Word) else word.past) for subject, word in table.items()
        )
    return triples


def _different(pairs: object) -> tuple[tuple[str, str], ...]:
    """The pairs of single words that differ, each once."""
    return tuple(dict.fromkeys((a, b) for a, b in pairs if a != b and " " not in a + b))  # type: ignore[attr-defined]
