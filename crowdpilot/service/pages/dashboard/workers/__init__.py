"""Pages about the workers of a project: the list, one worker, and blocking."""
