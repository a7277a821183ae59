"""Data sets with gold labels that are read off, or told beside, the stories of the microworld."""
