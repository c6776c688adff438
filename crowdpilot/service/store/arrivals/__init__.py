"""How workers come to count: invitations, assignments of platforms, checks by gold items."""
