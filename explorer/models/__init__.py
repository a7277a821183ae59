"""Models and their kinds, presets, the store of shipped and own models, and the way to and from Hugging Face."""
