"""A model that runs in the page: its engine is in js/."""
