"""What French does where two vowels would meet: *le ami* is *l'ami*, *que elle* is *qu'elle*."""

from __future__ import annotations

from functools import cache

from explorer.microworld.grammar.tree import Lexeme

VOWELS = "aàâeéèêëiîïoôœuùûh"
ASPIRATED = ("hibou", "haut", "huit", "héros", "onze", "hamster", "haricot", "hérisson", "hache")
ELIDED = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "ce": "c'",
}


@cache
def before_vowel(word: str) -> bool:
    """Whether the word begins with a vowel that is heard: *ami*, *homme*, *y*, but not *hibou*."""
    low = word.lower()
    return low == "y" or (low[0] in VOWELS and not low.startswith(ASPIRATED))


def elide(words: list[Lexeme]) -> list[Lexeme]:
    """The words with their last vowel dropped where the next word begins with one."""
    for n in range(len(words) - 1):
        text, after = words[n].text, words[n + 1].text
        if text in ELIDED and before_vowel(after):
            words[n] = words[n]._replace(text=ELIDED[text])
        elif text == "si" and after in ("il", "ils"):
            words[n] = words[n]._replace(text="s'")
    return words
