"""Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."""

__version__ = "0.1.0"
