"""Guests, who came through a link for everybody: how many may come, and whether their votes count."""
