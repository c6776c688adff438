"""The public keys with which Prolific signs links (a JWKS): fetched, kept, and refreshed.

https://docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks says that they are to be fetched
again at least daily.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt
import requests

from crowdpilot.service.errors import NotReadyError
from crowdpilot.service.platforms.prolific.address import api_address
from crowdpilot.service.platforms.prolific.client import read_body

PATH = "/.well-known/study/jwks.json"
KEEP_SECONDS = 12 * 3600.0
RETRY_SECONDS = 60.0  # between two attempts, whatever tokens come
REQUEST_SECONDS = 5.0
MAX_BYTES = 1 << 18
UNKNOWN = "the keys of Prolific cannot be fetched now; open the study again in a minute"
logger = logging.getLogger(__name__)


class PublicKeys:
    """Keys that are fetched when they are needed, again after half a day, and when an unknown one is named.

    They are fetched at most once in a minute; if that fails, those of before are kept.

    Parameters
    ----------
    now
        The present time in seconds, from any beginning.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._keys: dict[str, Any] | None = None
        self._fetched = self._tried = float("-inf")

    def keys_for(self, token: str) -> Mapping[str, Any]:
        """The keys to check a token with; `NotReadyError` if none were ever fetched."""
        if self._lacks(token):
            with self._lock:  # whoever fetches them now is waited for
                if self._lacks(token) and self._now() - self._tried >= RETRY_SECONDS:
                    self._refresh()
        if self._keys is None:
            raise NotReadyError(UNKNOWN)
        return self._keys

    def _lacks(self, token: str) -> bool:
        """Whether the keys are old, or not those that a token names."""
        id = _key_id(token)
        is_unknown = id is not None and id not in _ids(self._keys)
        return is_unknown or self._now() - self._fetched >= KEEP_SECONDS

    def _refresh(self) -> None:
        self._tried = self._now()
        try:
            self._keys = _fetch()
            self._fetched = self._tried
        except (requests.RequestException, ValueError) as error:
            logger.warning("the keys of Prolific cannot be fetched: %s", error)


def _fetch() -> dict[str, Any]:
    with requests.get(
        api_address() + PATH, timeout=REQUEST_SECONDS, allow_redirects=False, stream=True
    ) as answer:
        answer.raise_for_status()
        body = read_body(answer, MAX_BYTES)
    if answer.status_code != 200:
        raise ValueError("the answer is no list of keys")
    found = json.loads(body)
    if not isinstance(found, dict) or not _ids(found):
        raise ValueError("the answer is no list of keys")
    return found


def _ids(keys: Mapping[str, Any] | None) -> set[str]:
    listed = (keys or {}).get("keys")
    found = listed if isinstance(listed, list) else []
    return {key["kid"] for key in found if isinstance(key, dict) and isinstance(key.get("kid"), str)}


def _key_id(token: str) -> str | None:
    """The id of the key that a token names, before it is checked; None if it is no token."""
    try:
        id = jwt.get_unverified_header(token).get("kid")
    except (jwt.PyJWTError, UnicodeEncodeError):
        return None
    return id if isinstance(id, str) else None
