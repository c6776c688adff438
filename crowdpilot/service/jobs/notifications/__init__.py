"""Notifications: requesters hear when a project is done, stuck or short of money, or a worker is flagged."""
