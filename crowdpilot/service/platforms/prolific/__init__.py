"""Prolific: arrival of workers, public keys of signed links, and a client of its API."""

from crowdpilot.service.platforms.prolific.arrival import (
    PLATFORM,
    TOKEN_PARAMETER,
    arrive,
    completion_url,
    study_url,
)

__all__ = ["PLATFORM", "TOKEN_PARAMETER", "arrive", "completion_url", "study_url"]
