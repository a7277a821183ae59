"""Training: a run yields one step after the other, leaves a folder behind, and goes on where it was stopped."""
