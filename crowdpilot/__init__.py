"""Crowdpilot: labels with honest probabilities from a crowd that makes mistakes.

>>> import crowdpilot as cp
>>> votes = cp.Votes.of(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["cat", "cat", "dog", "dog"])
>>> cp.Auto().fit(votes).labels.tolist()
['cat', 'dog']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdpilot.aggregation import (
        EBCC,
        GLAD,
        IBCC,
        MACE,
        MODELS,
        Aggregate,
        Aggregator,
        Auto,
        DawidSkene,
        DawidSkeneClust,
        FastDawidSkene,
        HierarchicalDawidSkene,
        MajorityVoting,
        NaiveSoft,
        NotConverged,
        OneCoin,
        Wawa,
        parse_strategy,
    )
    from crowdpilot.datasets import load
    from crowdpilot.hybrid import Campaign, Costs
    from crowdpilot.io import read, read_labels, write
    from crowdpilot.learning import CrowdClassifier
    from crowdpilot.votes import Votes

__version__ = "0.1.0"

__all__ = [
    "EBCC",
    "GLAD",
    "IBCC",
    "MACE",
    "MODELS",
    "Aggregate",
    "Aggregator",
    "Auto",
    "Campaign",
    "Costs",
    "CrowdClassifier",
    "DawidSkene",
    "DawidSkeneClust",
    "FastDawidSkene",
    "HierarchicalDawidSkene",
    "MajorityVoting",
    "NaiveSoft",
    "NotConverged",
    "OneCoin",
    "Votes",
    "Wawa",
    "load",
    "parse_strategy",
    "read",
    "read_labels",
    "write",
]

_ROOMS = (
    "aggregation",
    "calibration",
    "datasets",
    "diagnosis",
    "hybrid",
    "io",
    "learning",
    "metrics",
    "reporting",
    "simulation",
)  # loaded when they are first used
_HOME = {
    "Campaign": "hybrid",
    "Costs": "hybrid",
    "CrowdClassifier": "learning",
    "read": "io",
    "read_labels": "io",
    "write": "io",
    "load": "datasets",
    "Votes": "votes",
}  # of the names that are not in `aggregate`


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"crowdpilot.{name}")
    if name in __all__:
        return getattr(import_module(f"crowdpilot.{_HOME.get(name, 'aggregation')}"), name)
    raise AttributeError(f"module 'crowdpilot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
