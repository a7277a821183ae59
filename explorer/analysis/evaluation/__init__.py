"""Evaluation on held-out text: metrics, samples, and what attention heads attend to."""
