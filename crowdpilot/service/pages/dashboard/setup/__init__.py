"""Setting up a project: the form of all its settings, the preview of an upload, templates and copies."""
