"""Store of requesters: members and their roles, API keys, sessions, and the log of actions."""
