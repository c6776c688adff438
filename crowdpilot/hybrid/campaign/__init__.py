"""The campaign loop: its items, workers, leases, ledger and saved state."""
