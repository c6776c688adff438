"""Expectation-maximisation: the loop, its backends, and its acceleration."""
