"""Aggregation models: one file each."""
