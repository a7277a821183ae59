"""The board: one instrument that steps through a forward pass, in a notebook, on a page and in a single file."""
