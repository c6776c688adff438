"""Fixtures of the tests of scale."""

from __future__ import annotations

import pytest

from crowdpilot.votes import Votes
from tests.scale.shard_files import make_named_votes


@pytest.fixture(scope="session")
def named_votes() -> Votes:
    """60 tasks of 4 classes with names as text, 5 votes each by 12 workers."""
    return make_named_votes()
