"""The store: the only place that speaks SQL."""

from __future__ import annotations

from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.migrate import migrate

__all__ = ["Store", "migrate"]
