"""Training: a run yields one step after the other, leaves a folder behind, and goes on where it was stopped.

Its public names are in `__init__.pyi`; each is loaded when it is first used.

>>> "along" in dir(ex.training)
True
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
