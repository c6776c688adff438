"""Store: all SQL of the service, one module of queries for each noun."""

from __future__ import annotations

from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.migration import migrate

__all__ = ["Store", "migrate"]
