"""Small files, and what is in them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.io.engine import engine
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


@contextmanager
def _without_arrow() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)  # what cannot be imported is not installed
        engine.cache_clear()
        try:
            yield
        finally:
            engine.cache_clear()


@pytest.fixture(scope="session")
def without_arrow() -> Callable[[], AbstractContextManager[None]]:
    """Arrow cannot be imported within."""
    return _without_arrow


@pytest.fixture(params=["arrow", "plain"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Once with Arrow and once without."""
    with _without_arrow() if request.param == "plain" else nullcontext():
        yield


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
