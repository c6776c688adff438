"""Frozen encoders that turn content into features."""
