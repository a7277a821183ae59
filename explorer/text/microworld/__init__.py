"""A small world that writes its own texts, with the right answers known because it made them."""
