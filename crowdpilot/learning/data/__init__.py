"""What a classifier is trained on: content of items, and votes as tensors."""
