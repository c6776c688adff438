"""The forecast of a project in words and money: how many more votes, what they cost, what is wrong then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import count
from crowdpilot.service.store.engine import Row

Json = Mapping[str, Any]
OWN_WORDS = {"votes are for one class": "answers are the same", "votes": "answers", "vote": "answer"}
MIN_PERCENT = 1  # below which a share is said to be less than that


class ForecastWords(NamedTuple):
    """A forecast as the page shows it."""

    claim: str
    then: str
    note: str
    charts: list[Markup]


def describe_forecast(
    project: Row, spent: float, result: Json | None, money: Callable[[float], str]
) -> ForecastWords | None:
    """What a forecast says of the rest of a project; None if there is none, or it is over."""
    if not result or "curves" not in result or project.done:
        return None
    total, error = result["total"], result["end"]["error"]
    ends = [total[name][side] for name in ("votes", "spent") for side in ("low", "high")]
    if any(value is None for value in (*ends, error["low"], error["high"])):
        return None
    fewest, most = (max(round(value - project.votes), 0) for value in ends[:2])
    cheapest, dearest = (max(value - spent, 0.0) for value in ends[2:])
    if most == 0:
        return None  # more votes came than it expected: the next forecast knows better
    return ForecastWords(
        claim=f"{_votes(fewest, most)}, {_money(cheapest, dearest, money)}",
        then=f"Then about {_percent(error['low'], error['high'])} of the labels will be wrong.",
        note=f"Made after {count(result['votes'], 'answer')}, by trying out the rest of the project "
             "many times on the computer, with workers like yours. It changes if workers are better or "
             "worse than expected.",
        charts=[
            _against("Answers", project.votes, total["votes"], lambda v: f"{v:,.0f}"),
            _against("Money", spent, total["spent"], money),
        ],
    )  # fmt: skip


def explain_no_forecast(project: Row, result: Json | None) -> str:
    """Why the last try gave no forecast, in one sentence; empty if it gave one, or the project is over."""
    why = str((result or {}).get("why") or "")
    if not why or project.done:
        return ""
    for old, new in OWN_WORDS.items():
        why = why.replace(old, new)
    tried = count(int((result or {}).get("votes") or 0), "answer")
    return f"There is no forecast yet. When we tried after {tried}: {why}."


def _votes(low: int, high: int) -> str:
    if low == high:
        return f"About {count(high, 'more answer')}"
    return (
        f"Up to {count(high, 'more answer')}"
        if low == 0
        else f"About {low:,} to {count(high, 'more answer')}"
    )


def _money(low: float, high: float, money: Callable[[float], str]) -> str:
    a, b = money(low), money(high)
    return f"for {b}" if a == b else f"for up to {b}" if low == 0 else f"for {a} to {b}"


def _percent(low: float, high: float) -> str:
    """A range of shares.

    Examples
    --------
    >>> _percent(0.031, 0.06), _percent(0.0, 0.004), _percent(0.002, 0.1), _percent(0.05, 0.05)
    ('3 to 6%', 'less than 1%', '0 to 10%', '5%')
    """
    a, b = (round(100 * share) for share in (low, high))
    if b < MIN_PERCENT:
        return f"less than {MIN_PERCENT}%"
    return f"{b}%" if a == b else f"{a} to {b}%"


def _against(name: str, value: float, end: Json, write: Callable[[float], str]) -> Markup:
    """A bar of what is, before the interval of what is expected in the end."""
    words = f"{write(value)} so far, {write(end['low'])} to {write(end['high'])} in the end"
    return svg_charts.against(name, value, end["low"], end["median"], end["high"], words)
