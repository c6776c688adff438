"""Queries on connections to Label Studio, their tasks, and the votes that came from there."""
