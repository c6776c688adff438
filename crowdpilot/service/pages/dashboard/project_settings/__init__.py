"""Pages that change the settings and the state of a project."""
