"""English sentences with their French translation and the words that translate each other, made from one tree.

The frames here are those of the first version; the trees, and how English and French say them, are those of `grammar`.

A word is what spaces, punctuation and apostrophes leave: *l'*, *du*, *'s* and *?* are words. *you* is *vous* unless the
sentence speaks to somebody by first name; where English hides whether a person is a man or a woman, French is masculine. A
past event is a passé composé, a past state (*was*, *had*, *knew*) an imparfait. Printers set a thin space that cannot break
before *?* and *!*; here it is a plain space, so that a word stays a word for every tokenizer.
"""

from explorer.microworld.translation.pairing import Pair, pairs

__all__ = ["Pair", "pairs"]
