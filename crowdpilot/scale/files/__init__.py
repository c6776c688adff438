"""Aggregation, simulation and scoring of votes in many files."""
