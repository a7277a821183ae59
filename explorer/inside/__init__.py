"""What can be asked of a model beyond its attention: a lens on its layers, gradients, and what its heads do over many texts."""
