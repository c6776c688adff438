"""Routes of the JSON API: one file for each noun."""
