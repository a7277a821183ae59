"""The opening of the front page: one sentence with a gap, and what four models expect there, as a film and then by hand."""
