"""Tables that are no text with columns: in memory, in data frames, in one JSON value."""
