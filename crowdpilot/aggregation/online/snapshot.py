"""Snapshots of a stream: the versioned schema in which it is saved as JSON.

Version 1, an object with these fields (`packed` values as written by `crowdpilot.json_values.pack`):

- `format`: "crowdpilot-stream"; `version`: 1
- `strategy`: the model as a strategy string; `half_life`: votes of a worker, null for no forgetting
- `classes`, `tasks`, `workers`: lists of names, in the order of their codes
- `gold`: packed (tasks,), code of the known class or -1
- `posterior`: packed (tasks, states), zero for a task without votes
- `votes`: packed columns `task`, `worker`, `label`, `weight`, `clock`, in the order of arrival; `clock`
  is the number of votes that the worker had given
- `clocks`: packed (workers,) `votes`, number of votes that each worker has given, and `unit`, the clock
  at which a vote counts for one
- `statistics`: packed expected counts by name, those of the online model (`OnlineModel.saved`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crowdpilot.aggregation.online.counts import StreamCounts
from crowdpilot.json_values import pack, unpack

FORMAT = "crowdpilot-stream"
VERSION = 1
VOTE_COLUMNS = ("task", "worker", "label", "weight", "clock")


def write(strategy: str, names: Mapping[str, list[Any]], counts: StreamCounts) -> dict[str, Any]:
    """The snapshot of a stream."""
    half_life = counts.forgetting.half_life
    model = counts.model
    return {
        "format": FORMAT,
        "version": VERSION,
        "strategy": strategy,
        "half_life": half_life if np.isfinite(half_life) else None,
        **{field: pack(list(listed)) for field, listed in names.items()},
        "gold": pack(counts.gold),
        "posterior": pack(counts.posterior),
        "votes": {column: pack(counts.log.column(column)) for column in VOTE_COLUMNS},
        "clocks": {"votes": pack(counts.forgetting.clock), "unit": pack(counts.forgetting.unit)},
        "statistics": {field: pack(getattr(model, name)) for field, name in model.saved.items()},
    }


def check(data: Mapping[str, Any]) -> None:
    """Refuse data that are no snapshot of a known version."""
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise ValueError(
            f"this is no snapshot of a stream that can be read: its format is {data.get('format')!r} and its "
            f"version {data.get('version')!r}, expected {FORMAT!r} and {VERSION}"
        )


def names(data: Mapping[str, Any], field: str) -> list[Any]:
    """The names of classes, tasks or workers."""
    listed: list[Any] = unpack(data[field])
    return listed


def half_life(data: Mapping[str, Any]) -> float:
    """The half-life in votes of a worker, infinite for no forgetting."""
    return np.inf if data["half_life"] is None else float(data["half_life"])


def restore(data: Mapping[str, Any], counts: StreamCounts) -> None:
    """Fill the counts of a stream that knows its tasks and workers, and has no votes."""
    task, worker, label, weight, clock = (unpack(data["votes"][column]) for column in VOTE_COLUMNS)
    counts.log.add(task, worker, label, weight=weight, clock=clock)
    counts.gold, counts.posterior = unpack(data["gold"]), unpack(data["posterior"])
    counts.forgetting.clock, counts.forgetting.unit = (unpack(data["clocks"][f]) for f in ("votes", "unit"))
    for field, name in counts.model.saved.items():
        setattr(counts.model, name, unpack(data["statistics"][field]))
