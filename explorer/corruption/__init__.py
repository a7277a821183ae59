"""What pre-training hides: every strategy works on whole batches of rows, and one row of it is a `Corruption`.

>>> "rates" in dir(ex.corruption)
True
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
