"""Label Studio: its tasks and labelling configurations, and the service as its machine learning backend."""

from __future__ import annotations

from crowdpilot.service.platforms.platform import Platform

PLATFORM = Platform("Label Studio")
