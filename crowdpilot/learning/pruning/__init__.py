"""Pruning: scores of ambiguous tasks (AUM, WAUM, entropy), and their removal before training."""
