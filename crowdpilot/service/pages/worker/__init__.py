"""Pages for workers."""
