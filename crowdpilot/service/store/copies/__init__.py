"""Copies of projects: description, items, files."""
