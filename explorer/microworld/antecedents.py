"""The antecedents of the pronouns of a story, as tokens: from the gold labels of the story."""

from __future__ import annotations

from explorer.microworld.story import Story
from explorer.records import Tokens


def antecedents(story: Story, text: Tokens) -> list[tuple[int, list[int]]]:
    """For every pronoun for one person or thing: its token, and the tokens of the earlier nouns and names of the same entity."""
    places = places_of(story, text)
    pairs = []
    for mention in story.mentions:
        if mention.form != "pronoun" or len(mention.entities) != 1 or not places[mention.first]:
            continue
        earlier = [m for m in story.chain(mention.entities[0]) if m.form != "pronoun" and m.last < mention.first]
        keys = sorted({place for m in earlier for word in range(m.first, m.last + 1) for place in places[word]})
        if keys:
            pairs.append((places[mention.first][0], keys))
    return pairs


def places_of(story: Story, text: Tokens) -> list[list[int]]:
    """The tokens of every word of a story."""
    return [
        [n for n, (_, last) in enumerate(text.offsets) if word.start < last <= word.end and not text.special[n]]
        for word in story.words
    ]
