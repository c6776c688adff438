"""Posterior of an item, value of a vote, look-ahead, and the exact dynamic program."""
