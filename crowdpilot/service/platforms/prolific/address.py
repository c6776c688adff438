"""Where the API of Prolific is, and with which token the service calls it; both are set by its operator."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from crowdpilot.service.network_addresses import is_loopback

ADDRESS = "https://api.prolific.com"
OWN_ADDRESS = "PROLIFIC_URL"  # for a server that stands in for Prolific; its own command line has it, too
TOKEN = "PROLIFIC_TOKEN"
NO_TOKEN = (
    f"the server has no token of Prolific; make one on Prolific in the settings of your account and set "
    f"{TOKEN} where the server runs"
)
ODD_TOKEN = f"the token of Prolific on the server has characters that no token has; copy it to {TOKEN} again"
NOT_ENCRYPTED = f"{OWN_ADDRESS} on the server is not encrypted and would reveal the token; use https://"


def api_address() -> str:
    """The address of the API, without a slash at its end; a `ValueError` if it is not encrypted."""
    address = (os.environ.get(OWN_ADDRESS) or ADDRESS).rstrip("/")
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme != "https" and not is_loopback(host) and host != "localhost":
        raise ValueError(NOT_ENCRYPTED)
    return address


def api_token() -> str:
    """The token of the operator; empty if there is none."""
    return os.environ.get(TOKEN, "").strip()
