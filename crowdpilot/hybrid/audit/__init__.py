"""Audit: experts check a sample of decided items, and a confidence sequence bounds the loss of all."""
