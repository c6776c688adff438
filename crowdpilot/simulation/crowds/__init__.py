"""Simulated crowds: one file each."""
