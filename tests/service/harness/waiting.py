"""Waiting for a condition, free ports, and programs that a test needs."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.equip import is_strict


def need(found: Path | None, package: str) -> Path:
    """What was found; else the test is skipped, or fails with CI=true."""
    if found:
        return found
    message = f"{package} is not on this machine; `make equip` installs it where that is allowed"
    return pytest.fail(message) if is_strict() else pytest.skip(message)


def eventually(true: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Wait until something holds, and return it."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, f"{true} does not hold after {seconds} seconds"
        time.sleep(0.02)
    return value


def free_port() -> int:
    """A port on which nobody listens, and that is not given to callers while the server is down."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise OSError("no free port found between 20000 and 32000")
