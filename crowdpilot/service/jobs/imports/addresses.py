"""Addresses of imports: which of them a project may read from.

A requester must not read what is not meant for them with the credentials of the service. So an address is
normalised, and has to be one that the operator allows or lie below one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

LOCAL = ("file", "local")
WEB = ("http", "https")
UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
NOT_ALLOWED = (
    "items cannot be imported from this address; ask the operator of the service to allow it "
    "(crowdpilot serve --import-from)"
)
NONE_ALLOWED = (
    "this service imports from no address; its operator can allow some (crowdpilot serve --import-from), "
    "or you can upload the files"
)


def normalise(address: str) -> str:
    """An address with its scheme and host in small letters; a `ValueError` if it is not a plain one.

    Examples
    --------
    >>> normalise("S3://Bucket/items//a/")
    's3://Bucket/items/a/'
    """
    if UNSAFE.search(address) or "::" in address or not SCHEME.match(address.casefold()):
        raise ValueError("the address holds a space, a backslash or '::'; write it as in s3://bucket/folder/")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise ValueError("the address cannot be read; write it as in s3://bucket/folder/") from None
    scheme, host = parts.scheme, parts.netloc
    if "://" not in address or (not host and scheme not in LOCAL and scheme != "memory"):
        raise ValueError("the address names no bucket or host; write it as in s3://bucket/folder/")
    if "@" in host or parts.fragment or (parts.query and scheme not in WEB):
        raise ValueError("the address holds a name, a password, '?' or '#'; leave it out")
    steps = parts.path.split("/")
    if any(unquote(unquote(step)) in ("..", ".") or "/" in unquote(step) for step in steps):
        raise ValueError("the address leads out of its folder; leave '..' out")
    if scheme in WEB:
        host = (parts.hostname or "").rstrip(".") + (f":{port}" if port else "")
    folder = "/" if parts.path.endswith("/") else ""
    path = "".join(f"/{step}" for step in steps if step) + folder
    return f"{scheme}://{host}{path}{'?' if parts.query else ''}{parts.query}"


def check_allowed(address: str, allowed: Sequence[str]) -> str:
    """The normalised address; a `ValueError` if the operator does not allow it."""
    if not allowed:
        raise ValueError(NONE_ALLOWED)
    wanted = normalise(address)
    if not any(_is_below(wanted, prefix) for prefix in allowed):
        raise ValueError(NOT_ALLOWED)
    return wanted


def _is_below(address: str, prefix: str) -> bool:
    start = prefix if re.fullmatch(r"https?://", prefix) else normalise(prefix).rstrip("/") + "/"
    return address.startswith(start) or address.rstrip("/") + "/" == start
