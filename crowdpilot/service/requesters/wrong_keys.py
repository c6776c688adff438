"""API keys that are shown: valid ones are found, wrong ones are written down and limited in number.

Keys are too long to be guessed. The limits keep strangers from filling the log and from keeping the database
busy.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TypeVar

from crowdpilot.service.errors import AuthenticationError, RateLimitError, ServiceUnavailableError
from crowdpilot.service.signing import digest
from crowdpilot.service.store import counters
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log, keys

PERIOD_SECONDS = 600.0
MAX_PER_ADDRESS = 20  # wrong keys in each period
MAX_PER_PROCESS = 1000  # wrong keys that a process writes down in each period, of all addresses
MAX_ADDRESSES, MAX_VALID_KEYS = 10_000, 10_000  # that a process remembers
MAX_KEY_CHARACTERS = 200
TOO_MANY = "these are too many wrong keys; wait ten minutes, then use the right one"
T = TypeVar("T")


class KeyRing:
    """Finds the rows of keys that people and programs show, and limits wrong ones by network address.

    Who has shown too many is refused without a query, unless the key was valid a while ago: so nobody is
    locked out whose neighbour behind the same address guesses.

    Parameters
    ----------
    store
        The database, in which all processes count.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()  # of what follows: requests run in threads
        self._period, self._written = 0, 0
        self._wrong: OrderedDict[str, int] = OrderedDict()  # in this period, by address
        self._valid: OrderedDict[str, None] = OrderedDict()  # digests of keys, the last used at the end

    def find(self, key: str, address: str) -> Row:
        """The row of a valid key.

        Parameters
        ----------
        key
            What was shown.
        address
            The network address that counts as one.

        Raises
        ------
        AuthenticationError
            The key is not valid.
        RateLimitError
            Too many were not.
        """
        code = digest(key)
        if code not in self._valid and self._count(address) >= MAX_PER_ADDRESS:
            raise RateLimitError(TOO_MANY)
        try:
            if len(key) > MAX_KEY_CHARACTERS or not key.isprintable():
                raise AuthenticationError(keys.NOT_VALID)
            with self._store.reading() as c:
                row = keys.find(c, key)
        except AuthenticationError:
            with self._lock:
                self._valid.pop(code, None)
            self.record(address, "wrong key", key)
            raise
        with self._lock:
            _remember(self._valid, code, None, MAX_VALID_KEYS)
        return row

    def record(self, address: str, action: str, key: str = "") -> None:
        """Count something wrong from an address, and write it down unless that was done often enough."""
        n = self._count(address) + 1
        if n <= MAX_PER_ADDRESS and self._written < MAX_PER_PROCESS:
            self._written += 1
            with suppress(ServiceUnavailableError):  # then it is counted here only
                n = max(n, self._write(address, action, key))
        with self._lock:
            _remember(self._wrong, address, n, MAX_ADDRESSES)

    def _count(self, address: str) -> int:
        period = int(time.time() // PERIOD_SECONDS)
        with self._lock:
            if period != self._period:
                self._period, self._written = period, 0
                self._wrong.clear()
            return self._wrong.get(address, 0)

    def _write(self, address: str, action: str, key: str) -> int:
        """Write down that something was wrong; how often it was in this period, in all processes."""
        with self._store.writing() as c:
            n = counters.add(c, f"wrong:{address}", PERIOD_SECONDS)
            if n <= MAX_PER_ADDRESS:
                id = keys.known_id(c, key)
                detail = {} if id is None else {"key": id}  # revoked, expired, or its secret part is wrong
                action_log.write(c, action_log.NOBODY, action, category=action_log.REFUSED, **detail)
            return n


def _remember(entries: OrderedDict[str, T], name: str, value: T, size: int) -> None:
    entries[name] = value
    entries.move_to_end(name)
    if len(entries) > size:
        entries.popitem(last=False)
