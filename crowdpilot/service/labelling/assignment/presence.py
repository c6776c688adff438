"""Presence: how long the leases of a labelling page last after its last sign of life."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STAY_SECONDS = 45.0  # that leases last after a sign of life of the page that shows them
BEATS_PER_STAY = 3  # signs of life that a page sends in this time, so that one may be lost
LEAVE_SECONDS = 5.0  # that they last after the page was closed; one that is loaded again asks within them
MAX_IDLE_LEASE_SECONDS = 60.0  # that they last after the last activity of a worker who is still on the page
IDLE_SECONDS = 180.0  # without any activity, after which a worker counts as away
HIDDEN_SECONDS = 60.0  # of a page behind others, after which the same
SLOW_ANSWERS = 4.0  # times the expected seconds of an answer, before which nobody counts as away
FIRST_ITEMS = 3  # that a worker without answers gets at once


def stay_seconds(spec: Mapping[str, Any]) -> float:
    """How long the leases of a page last after a sign of life; never longer than those of the project."""
    return min(STAY_SECONDS, float(spec["lease"]))


def beat_seconds(spec: Mapping[str, Any]) -> float:
    """The time between two signs of life of a page."""
    return max(1.0, stay_seconds(spec) / BEATS_PER_STAY)


def quiet_seconds(spec: Mapping[str, Any]) -> float:
    """After how long without activity a page gives no more signs of life, so that its items are free in time.

    Examples
    --------
    >>> [quiet_seconds({"lease": lease}) for lease in (900, 6)]
    [15.0, 54.0]
    """
    return MAX_IDLE_LEASE_SECONDS - stay_seconds(spec)


def idle_seconds(answer_seconds: float) -> float:
    """After how long without activity a worker counts as away, if an answer takes so long."""
    return max(IDLE_SECONDS, SLOW_ANSWERS * answer_seconds)


def items_at_once(spec: Mapping[str, Any], answers: int) -> int:
    """How many items a worker may hold who has given so many answers: few at first, up to a batch.

    Examples
    --------
    >>> [items_at_once({"batch": 20}, answers) for answers in (0, 1, 3, 8, 50)]
    [3, 3, 6, 16, 20]
    """
    return int(min(spec["batch"], max(FIRST_ITEMS, 2 * answers)))
