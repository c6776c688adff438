"""Requests of the service to addresses that requesters give: which ones are allowed, and one connection."""
