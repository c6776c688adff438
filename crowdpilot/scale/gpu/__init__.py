"""EM iterations on a GPU."""
