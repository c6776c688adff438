"""EM iterations with PyTorch, on a GPU."""
