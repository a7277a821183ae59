"""What can be asked of a trained model: lens, gradients, statistics, comparisons, what lies near a word, what it is built of.

Its public names are in `__init__.pyi`; each is loaded when it is first used.

>>> "neighbours" in dir(ex.analysis)
True
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
