"""The models: attention in six steps, position schemes, and one Transformer for every family."""
