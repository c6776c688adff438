"""Posteriors over candidate classes alone, for tasks with very many classes."""
