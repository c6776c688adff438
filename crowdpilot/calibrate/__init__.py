"""Maps that make probabilities honest."""
