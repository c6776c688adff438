"""Saved state: the versioned format of a campaign and of a model update, as plain data that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CAMPAIGN_FORMAT = "crowdpilot-campaign"
CAMPAIGN_VERSION = 3  # 1 has neither overrides nor requests for votes, 2 no money reserved at other prices
MODEL_UPDATE_FORMAT = "crowdpilot-model-update"
MODEL_UPDATE_VERSION = 2  # version 1 has matrices of workers without votes too


def header(format: str, version: int) -> dict[str, Any]:
    """The first two fields of every file."""
    return {"format": format, "version": version}


def check_header(data: Mapping[str, Any], format: str, version: int, *older: int) -> None:
    """Raise ValueError unless the data are of this format, and of this version or one of the older ones."""
    if data.get("format") != format:
        raise ValueError(f"the data are of the format {data.get('format')!r}, expected {format!r}")
    if data.get("version") not in (version, *older):
        raise ValueError(
            f"the data are of version {data.get('version')!r} of {format!r}, but this program reads {version}"
        )
