"""Fair lock: threads that wait for it get it in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class FairLock:
    """A lock that goes to whoever waits for it longest.

    A plain lock may go back to the thread that has just released it, again and again. SQLite's own waits in
    naps that grow to a tenth of a second, so that a busy writer keeps all others out.

    Examples
    --------
    >>> lock = FairLock()
    >>> with lock.held(timeout=1.0):
    ...     print("alone")
    alone
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """Hold the lock during a block; TimeoutError if it is not free within so many seconds."""
        self._acquire(timeout)
        try:
            yield
        finally:
            self._release()

    def _acquire(self, timeout: float) -> None:
        turn = threading.Event()
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return
            self._waiting.append(turn)
        if turn.wait(timeout):
            return
        with self._lock:
            if not turn.is_set():
                self._waiting.remove(turn)
                raise TimeoutError("the lock was not free in time")

    def _release(self) -> None:
        """Pass the lock on: it stays held if somebody waits."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False
