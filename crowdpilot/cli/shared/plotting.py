"""What draws, if its packages are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crowdpilot.cli.shared.missing_packages import missing


def load_drawing(module: str, name: str, what: str) -> Any:
    """A function of `crowdpilot.reporting`; one sentence says what to install if it cannot be had.

    Parameters
    ----------
    module, name
        Where it is, and what it is called.
    what
        That needs it, in words.
    """
    try:
        return getattr(import_module(f"crowdpilot.{module}"), name)
    except ModuleNotFoundError as error:
        raise missing(what, error) from None
