"""Public crowd data sets: one file for each collection."""
