"""Commands on files of labels: those that are scored against the truth, and those of an audit."""
