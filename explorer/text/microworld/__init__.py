"""The microworld."""
