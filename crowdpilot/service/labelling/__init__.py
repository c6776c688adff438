"""Labelling: leases, votes, worker sessions, and the replica of a campaign."""
