"""Status of a project: its description, the progress of its items, and what its votes cannot tell."""
