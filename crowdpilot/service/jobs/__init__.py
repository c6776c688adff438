"""Jobs: long work in a process of its own, one file for each kind."""

from __future__ import annotations
