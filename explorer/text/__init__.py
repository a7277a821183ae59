"""From raw text to tokens: corpora, tokenizers and the examples that a model learns from.

Its public names are in `__init__.pyi`; each is loaded when it is first used.

>>> "side_by_side" in dir(ex.text)
True
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
