"""Labelling at a terminal: one person answers what a campaign asks, and every answer is saved at once."""
