"""Self-training: pseudo-votes that a method predicts and then learns from."""
