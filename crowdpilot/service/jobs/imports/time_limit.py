"""Calls of libraries that know no deadline, in threads that are left when their time is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, what: Callable[[], T]) -> T:
    """The result of a call; a `TimeoutError` if it takes longer.

    Nothing ends a call that hangs: its thread goes on, but neither the caller nor the process waits for it.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(what())
        except BaseException as error:  # whatever it is, the caller gets it
            future.set_exception(error)

    threading.Thread(target=run, name="reader of an import", daemon=True).start()
    return future.result(seconds)
