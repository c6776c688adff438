"""Calibration maps: one file each, listed in `selection.py`."""
