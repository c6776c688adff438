"""An assignment of a worker: how much it asks for, what is left for them, and whether they are there."""
