"""A model that is trained in the page: its backward pass, and what shows the training."""
