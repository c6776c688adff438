"""The same models for votes that do not fit one process: on a GPU, in many files, or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdpilot.optional_packages import load

if TYPE_CHECKING:
    from crowdpilot.scale.dask_engine import DaskEngine
    from crowdpilot.scale.disk_engine import DiskEngine
    from crowdpilot.scale.files.aggregation import FilesAggregate, aggregate_files
    from crowdpilot.scale.files.diagnosis import count_labels_in_files, score_tasks_in_files
    from crowdpilot.scale.files.shard_writer import write_shards
    from crowdpilot.scale.files.shards import Shards
    from crowdpilot.scale.files.simulation import simulate_files
    from crowdpilot.scale.gpu.torch_backend import Torch

_MODULES = {
    "DaskEngine": "dask_engine",
    "DiskEngine": "disk_engine",
    "FilesAggregate": "files.aggregation",
    "Shards": "files.shards",
    "Torch": "gpu.torch_backend",
    "aggregate_files": "files.aggregation",
    "count_labels_in_files": "files.diagnosis",
    "score_tasks_in_files": "files.diagnosis",
    "simulate_files": "files.simulation",
    "write_shards": "files.shard_writer",
}  # where each name is defined; imported at first use, because each needs an optional package

__all__ = [
    "DaskEngine",
    "DiskEngine",
    "FilesAggregate",
    "Shards",
    "Torch",
    "aggregate_files",
    "count_labels_in_files",
    "score_tasks_in_files",
    "simulate_files",
    "write_shards",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(load(f"crowdpilot.scale.{_MODULES[name]}", f"scale.{name}"), name)
    raise AttributeError(f"module 'crowdpilot.scale' has no attribute {name!r}")
