"""Aggregation of votes that arrive one by one."""
