"""Where the API of Prolific is, and with which token the service calls it; both are set by its operator."""

from __future__ import annotations

import os

ADDRESS = "https://api.prolific.com"
OWN_ADDRESS = "PROLIFIC_URL"  # for a server that stands in for Prolific; its own command line has it, too
TOKEN = "PROLIFIC_TOKEN"
NO_TOKEN = (
    f"the server has no token of Prolific; make one on Prolific in the settings of your account and set "
    f"{TOKEN} where the server runs"
)


def api_address() -> str:
    """The address of the API, without a slash at its end."""
    return (os.environ.get(OWN_ADDRESS) or ADDRESS).rstrip("/")


def api_token() -> str:
    """The token of the operator; empty if there is none."""
    return os.environ.get(TOKEN, "").strip()
