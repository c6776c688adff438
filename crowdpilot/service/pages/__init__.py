"""Pages: what workers and requesters see in a browser."""

from __future__ import annotations
