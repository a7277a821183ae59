"""English sentences with their French translation and the words that translate each other, made from one tree.

A tree says what is meant; English and French each know how to say it (`english.py`, `french.py`). Because both come from the
same tree, agreement, word order and alignment are known and never guessed. `pairs` draws trees, `translate` says a given one.

A word is what spaces, punctuation and apostrophes leave: *l'*, *du*, *'s* and *?* are words. *you* is *vous* unless the
sentence speaks to somebody by first name; where English hides whether a person is a man or a woman, French is masculine. A
past event is a passé composé, a past state (*was*, *had*, *knew*) an imparfait. Printers set a thin space that cannot break
before *?* and *!*; here it is a plain space, so that a word stays a word for every tokenizer.
"""

from explorer.microworld.translation.pairing import Pair, combinations, pairs, translate, words

__all__ = ["Pair", "combinations", "pairs", "translate", "words"]
