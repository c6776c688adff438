"""Fair lock: threads that wait for it get it in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """A lock that goes to whoever waits for it longest.

    A plain lock may go back to the thread that has just released it, again and again. SQLite's own waits in
    naps that grow to a tenth of a second, so that a busy writer keeps all others out.

    Examples
    --------
    >>> lock = FairLock()
    >>> lock.acquire(timeout=1.0), lock.acquire(timeout=0.0)
    (True, False)
    >>> lock.release()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        """Wait for the lock, for so many seconds at most; whether it is held now."""
        turn = threading.Event()
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return True
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._lock:
            if not turn.is_set():  # it may have been passed on in this moment
                self._waiting.remove(turn)
            return turn.is_set()

    def release(self) -> None:
        """Pass the lock on: it stays held if somebody waits."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False
