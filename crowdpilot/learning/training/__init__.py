"""Training: the loop, the loss of votes, checkpoints, validation, tuning, folds, progress."""
