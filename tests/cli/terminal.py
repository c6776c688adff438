"""The command line at a terminal: a pseudo-terminal, what it shows, and keys that are pressed at it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import crowdpilot

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STATUS_DELAY_SECONDS = 90.0  # seconds for anything to be shown, on a machine that is busy with other things
QUIET = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "GITHUB_ACTIONS", "PY_COLORS")


class Terminal:
    """A command that runs at a terminal of 80 columns, in the folder of the test."""

    def __init__(self, *args: str, **env: str) -> None:
        self.end, theirs = pty.openpty()
        home = str(Path(crowdpilot.__file__).parents[1])
        plain = {name: value for name, value in os.environ.items() if name not in QUIET}
        given = {"TERM": "xterm-256color", "COLUMNS": "80", "PYTHONPATH": home}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crowdpilot", *args],
            stdin=theirs, stdout=theirs, stderr=theirs, env=plain | given | env,
        )  # fmt: skip
        os.close(theirs)
        self.raw = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.end)

    @property
    def text(self) -> str:
        """What was shown so far, without colours and movements of the cursor."""
        return CONTROL.sub("", self.raw)

    def wait_for(self, words: str) -> None:
        """Until these words are shown."""
        self._read(lambda: words in self.text)

    def finish(self) -> int:
        """Until the command ends; its exit code."""
        self._read(lambda: False)
        return self.process.wait(STATUS_DELAY_SECONDS)

    def _read(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + STATUS_DELAY_SECONDS
        while not enough():
            assert time.monotonic() < deadline, self.text
            if not select.select([self.end], [], [], 1.0)[0]:
                continue
            try:
                piece = os.read(self.end, 1 << 16)
            except OSError:  # the other side has gone
                piece = b""
            if not piece:
                return
            self.raw += piece.decode("utf-8", "replace")
