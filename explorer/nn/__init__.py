"""The models: attention in six steps, positions in slots, and one Transformer for every family."""
