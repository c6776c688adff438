"""Waiting requests: coroutines that wait for a result which another thread computes for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Waiting(Generic[T]):
    """One coroutine that waits; made in its event loop, answered from any thread by `deliver`."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()


class Delivery(NamedTuple):
    """The outcome for one coroutine: a value, or an exception to be raised there."""

    waiting: Waiting[Any]
    outcome: Any


def deliver(deliveries: Sequence[Delivery]) -> None:
    """Hand outcomes to the coroutines that wait for them; each event loop is woken once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Delivery]] = {}
    for delivery in deliveries:
        by_loop.setdefault(delivery.waiting.loop, []).append(delivery)
    for loop, own in by_loop.items():
        loop.call_soon_threadsafe(_resolve, own)


def _resolve(deliveries: Sequence[Delivery]) -> None:
    for waiting, outcome in deliveries:
        if waiting.future.cancelled():
            continue
        if isinstance(outcome, Exception):
            waiting.future.set_exception(outcome)
        else:
            waiting.future.set_result(outcome)
