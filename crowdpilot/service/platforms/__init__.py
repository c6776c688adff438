"""Adapters to the platforms on which workers are found; pure functions, without a server or a database."""

from __future__ import annotations

from collections.abc import Mapping

from crowdpilot.service.platforms import invitation_links, label_studio, mturk_external_question, prolific
from crowdpilot.service.platforms.platform import Arrival, Platform

__all__ = ["PLATFORMS", "Arrival", "Platform"]

PLATFORMS: Mapping[str, Platform] = {
    "link": invitation_links.PLATFORM,
    "prolific": prolific.PLATFORM,
    "mturk": mturk_external_question.PLATFORM,
    "label_studio": label_studio.PLATFORM,
}
