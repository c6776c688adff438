"""The charts on the overview of a project: progress over votes, votes over time, labels by class."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import percent
from crowdpilot.service.pages.dashboard.svg_charts import Bar
from crowdpilot.service.status.item_progress import ItemProgress
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.statistics import RefitProgress, VoteHistogram

Json = Mapping[str, Any]
MAX_CLASSES_SHOWN = 12


def make_charts(
    status: Json, project: Row, pace: VoteHistogram | None, past: Sequence[RefitProgress]
) -> dict[str, Any]:
    """All charts by name; None where there is nothing to draw yet."""
    progress: ItemProgress = status["progress"]
    return {
        "pace_chart": None if pace is None else _pace(pace),
        "progress_chart": _progress(progress, project, past) if project.votes else None,
        "balance_chart": _balance(status) if progress.items else None,
    }


def _pace(pace: VoteHistogram) -> Any:
    moments = [pace.start + pace.step * n for n in range(len(pace.counts))]
    form = "%H:%M:%S" if pace.step < 60 else "%H:%M" if pace.step < 3600 else "%d %b %H:%M"
    labels = [time.strftime(form, time.gmtime(moment)) for moment in moments]
    return svg_charts.columns("Answers over time", pace.counts, labels, x="time (UTC)", y="answers")


def _progress(progress: ItemProgress, project: Row, past: Sequence[RefitProgress]) -> Any:
    """Final items, and settled ones on top of them, after each refit and now."""
    now = RefitProgress(project.votes, progress.settled, progress.final)
    points = [RefitProgress(0, 0, 0), *(each for each in past if each.votes < project.votes), now]
    rows = [(each.votes, min(each.final, progress.items),
             min(each.final + each.settled, progress.items)) for each in points]  # fmt: skip
    return svg_charts.areas("Items decided as answers come in", rows, x="answers", y="items",
                            names=("decided for good", "decided for now"))  # fmt: skip


def _balance(status: Json) -> Any:
    total = max(sum(status["balance"]), 1)
    rows = [
        Bar(name, n / total, f"{n:,} ({percent(n / total)})")
        for name, n in zip(status["classes"], status["balance"], strict=True)
    ]
    return svg_charts.bars(
        "How many items have each label", sorted(rows, key=lambda row: -row.share)[:MAX_CLASSES_SHOWN]
    )
