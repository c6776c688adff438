"""Estimation: the votes on a question, confusion matrices by EM and incremental EM, and the classifier."""
