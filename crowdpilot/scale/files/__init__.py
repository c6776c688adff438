"""Aggregation, diagnosis and simulation of votes in many Parquet files."""
