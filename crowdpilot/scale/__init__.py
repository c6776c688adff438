"""The same models where votes outgrow one process: on a GPU, or on a cluster."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdpilot.scale.dask_cluster import Cluster
    from crowdpilot.scale.engines import Disk
    from crowdpilot.scale.files.aggregate import Summary, aggregate
    from crowdpilot.scale.files.identify import record_workers, score_tasks
    from crowdpilot.scale.files.shards import Shards
    from crowdpilot.scale.files.simulate import simulate
    from crowdpilot.scale.files.write_shards import write_shards
    from crowdpilot.scale.gpu.torch_device import Torch

_HOME = {
    "Cluster": "dask_cluster",
    "Disk": "engines",
    "Shards": "files.shards",
    "Summary": "files.aggregate",
    "Torch": "gpu.torch_device",
    "aggregate": "files.aggregate",
    "record_workers": "files.identify",
    "score_tasks": "files.identify",
    "simulate": "files.simulate",
    "write_shards": "files.write_shards",
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
