"""The training loop and what surrounds it: checkpoints, tuning, validation."""
