"""Formatting of money, shares, counts and times for the dashboard; its pages and routers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.io.numbers_and_times import utc_datetime
from crowdpilot.service.pages.dashboard.access.requester import DashboardRoute, Requester
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.store.engine import Row

Route = tuple[str, str, Callable[..., Any]]  # method, path, function
AGE_UNITS = ((60.0, "second"), (3600.0, "minute"), (86400.0, "hour"), (float("inf"), "day"))


def money(value: float | None, currency: str = "") -> str:
    r"""An amount, with the code of its currency if there is one.

    Examples
    --------
    >>> money(1234.5), money(0.004), money(None), money(3, "EUR")
    ('1,234.50', '0.004', '–', 'EUR\xa03.00')
    """
    if value is None:
        return "–"
    amount = f"{value:,.2f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return f"{currency}\u00a0{amount}".strip("\u00a0")  # the space does not break


def percent(value: float) -> str:
    """A share.

    Examples
    --------
    >>> percent(0.876), percent(0.9996)
    ('88%', '>99%')
    """
    if 0.995 <= value < 1:
        return ">99%"
    return f"{100 * value:.0f}%"


def count(n: int, one: str, many: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "vote"), count(1200, "vote")
    ('1 vote', '1,200 votes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def ago(moment: float | None) -> str:
    """How long ago something was."""
    if moment is None:
        return "–"
    past, size = max(time.time() - moment, 0.0), 1.0
    for end, name in AGE_UNITS:
        if past < end:
            return "just now" if name == "second" else f"{count(int(past / size), name)} ago"
        size = end
    return ""


def clock(moment: float | None) -> str:
    """A moment as date and time, in UTC."""
    shown = utc_datetime(moment)
    return "–" if shown is None else f"{shown:%Y-%m-%d %H:%M UTC}"


FORMATTERS: dict[str, Any] = {"percent": percent, "count": count, "ago": ago, "clock": clock}


def show(
    template: str, requester: Requester, project: Row | None = None, /, status: int = 200, **data: Any
) -> Response:
    """A page of the dashboard."""
    currency = "" if project is None else project.spec["currency"]
    known: dict[str, Any] = {"requester": requester, "project": project, "csrf": requester.csrf,
                             "money": partial(money, currency=currency)}  # fmt: skip
    return page(f"dashboard/{template}", status, **known, **FORMATTERS, **data)


def router(routes: Sequence[Route]) -> APIRouter:
    """Routes of some pages."""
    found = APIRouter(include_in_schema=False, route_class=DashboardRoute)
    for method, path, function in routes:
        found.add_api_route(path, function, methods=[method], response_model=None)
    return found
