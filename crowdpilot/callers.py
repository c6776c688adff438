"""Where a warning points: at the line that called the package, not at one inside of it."""

from __future__ import annotations

import os
import sys
from types import FrameType

PACKAGE = os.path.dirname(__file__) + os.sep


def caller_level() -> int:
    """The `stacklevel` for `warnings.warn` that is the nearest caller outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
