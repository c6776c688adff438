"""Workers of a result: how far they agree, their skills and their confusion matrices."""
