"""Small files, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.votes import Votes

Save = Callable[[str, str | bytes], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a file of a name and content; give its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(scope="session")
def rows() -> Callable[[Votes], list[tuple[Any, ...]]]:
    """The votes by name, in their order."""

    def listed(votes: Votes) -> list[tuple[Any, ...]]:
        columns = (
            votes.tasks[votes.task].tolist(),
            votes.workers[votes.worker].tolist(),
            votes.classes[votes.label].tolist(),
        )
        return list(zip(*columns, strict=True))

    return listed
