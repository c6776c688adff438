"""The same models where votes outgrow one process: on a GPU, or on a cluster."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdpilot.scale.aggregating import Summary, aggregate
    from crowdpilot.scale.dask import Cluster
    from crowdpilot.scale.engines import Disk
    from crowdpilot.scale.identifying import record_workers, score_tasks
    from crowdpilot.scale.sharding import write_shards
    from crowdpilot.scale.shards import Shards
    from crowdpilot.scale.simulating import simulate
    from crowdpilot.scale.torch import Torch

_HOME = {
    "Cluster": "dask",
    "Disk": "engines",
    "Shards": "shards",
    "Summary": "aggregating",
    "Torch": "torch",
    "aggregate": "aggregating",
    "record_workers": "identifying",
    "score_tasks": "identifying",
    "simulate": "simulating",
    "write_shards": "sharding",
}  # each needs a package of its own, loaded when it is first used

__all__ = [
    "Cluster",
    "Disk",
    "Shards",
    "Summary",
    "Torch",
    "aggregate",
    "record_workers",
    "score_tasks",
    "simulate",
    "write_shards",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"crowdpilot.scale.{_HOME[name]}"), name)
    raise AttributeError(f"module 'crowdpilot.scale' has no attribute {name!r}")
