"""Sparse posteriors over candidate classes, for tasks with very many classes."""
