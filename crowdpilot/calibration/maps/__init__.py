"""Calibration maps: one file each."""
