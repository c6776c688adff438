"""Deletion of items and projects, erasure of personal data, and what is stored about one worker."""
