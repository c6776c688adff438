"""Workers of a project: their identities, quality and pay, and what blocking them would change."""
