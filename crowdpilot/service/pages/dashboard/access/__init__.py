"""Dashboard pages of access: sign-in, sessions, keys, members, and the log of actions."""
