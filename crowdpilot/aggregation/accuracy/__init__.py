"""Accuracy of the labels of a crowd: what is said about it, and which tasks to check to know it better."""
