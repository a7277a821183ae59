"""Measuring: what a model can do on text that was held out, what it writes, and what its heads look at."""
