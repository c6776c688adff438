"""The page about metrics explains all of them."""

from __future__ import annotations

from pathlib import Path

import crowdpilot
from crowdpilot import metrics

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "metrics.md"


def test_every_metric_is_explained() -> None:
    text = PAGE.read_text()
    assert [name for name in metrics.__all__ if name.islower() and f"`{name}" not in text] == []


def test_what_score_shows_is_documented() -> None:
    start = PAGE.read_text().split("`crowdpilot score` shows ")[1].split("(`SHOWN_METRICS`)")[0]
    assert [name for name in metrics.SHOWN_METRICS if f"`{name}`" not in start] == []
