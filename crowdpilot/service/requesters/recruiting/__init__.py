"""Recruiting: submissions on Prolific, places and pay, and HITs on Mechanical Turk."""
