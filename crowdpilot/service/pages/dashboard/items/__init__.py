"""Pages about the items of a project: the list, one item with its reasons, and the review queue."""
