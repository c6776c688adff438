"""Label Studio as a source of votes: import and export of its tasks, and connections to its projects."""

from __future__ import annotations
