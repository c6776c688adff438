"""Audit: experts check a few decided items, and a bound covers all of them."""
