"""Pages about where workers come from: links, Prolific, Mechanical Turk."""
