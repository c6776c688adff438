"""The charts on the live page of a project: pace, decided items, class balance, forecast."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import count, money, percent
from crowdpilot.service.pages.dashboard.svg_charts import Bar
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.statistics import VoteHistogram

Json = Mapping[str, Any]


def make_charts(
    status: Json, project: Row, pace: VoteHistogram | None, progress: Sequence[tuple[int, int]], result: Any
) -> dict[str, Any]:
    """All charts by name; None where there is nothing to draw yet."""
    return {
        "pace_chart": None if pace is None else _pace(pace),
        "decided_chart": _decided(status, project, progress),
        "balance_chart": _balance(status) if status["all"] else None,
        "forecast": _forecast(status, project, result),
        "forecast_why": (result or {}).get("why", ""),
    }


def _pace(pace: VoteHistogram) -> Any:
    moments = [pace.start + pace.step * n for n in range(len(pace.counts))]
    form = "%H:%M:%S" if pace.step < 60 else "%H:%M" if pace.step < 3600 else "%d %b %H:%M"
    labels = [time.strftime(form, time.gmtime(moment)) for moment in moments]
    return svg_charts.columns("Votes over time", pace.counts, labels, x="time (UTC)", y="votes")


def _decided(status: Json, project: Row, progress: Sequence[tuple[int, int]]) -> Any:
    if not project.votes:
        return None
    past = [(votes, status["all"] - open) for votes, open in progress if votes < project.votes]
    points = [(0, 0), *(p for p in past if p[1] >= 0), (project.votes, status["decided"])]
    return svg_charts.line("Decided items over votes", points, x="votes", y="decided items", mark=points[-1])


def _balance(status: Json) -> Any:
    total = max(sum(status["balance"]), 1)
    rows = [
        Bar(name, n / total, f"{n:,} ({percent(n / total)})")
        for name, n in zip(status["classes"], status["balance"], strict=True)
    ]
    return svg_charts.bars("Decisions by class", sorted(rows, key=lambda row: -row.share)[:12])


def _forecast(status: Json, project: Row, result: Any) -> dict[str, Any] | None:
    """Votes and money so far against what is expected in the end, and the loss on the way."""
    if not result or "curves" not in result:
        return None
    total, curve, n = result["total"], result["curves"]["loss"], result["items"]
    spent, loss = status["standing"]["spent"], status["standing"]["loss_per_item"] or 0.0
    middle = [(cost * n, value) for cost, value in zip(curve["cost"], curve["median"], strict=True)]
    sides = zip(curve["cost"], curve["low"], curve["high"], strict=True)
    band = [(cost * n, low, high) for cost, low, high in sides]
    level = percent(result["level"])
    return {
        "votes": _against("Votes", project.votes, total["votes"], lambda v: f"{v:,.0f}"),
        "spent": _against("Money", spent, total["spent"], money),
        "loss": svg_charts.line(
            "Expected loss per item over money spent", middle, x="money spent", y="loss per item",
            whole=(False, False), band=band, mark=(spent, loss),
        ),
        "words": f"Made after {count(result['votes'], 'vote')}. Bands hold the end in {level} of the cases; "
                 "the dot is where the project is now.",
    }  # fmt: skip


def _against(name: str, value: float, end: Json, write: Callable[[float], str]) -> Any:
    """A bar before the predicted interval of the end; nothing where there is no prediction."""
    if any(end[side] is None for side in ("low", "median", "high")):
        return ""
    words = f"{write(value)} so far, {write(end['low'])} to {write(end['high'])} in the end"
    return svg_charts.against(name, value, end["low"], end["median"], end["high"], words)
