"""Crowdpilot: labels with honest probabilities from a crowd that makes mistakes.

>>> import crowdpilot as cp
>>> votes = cp.Votes.of(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["cat", "cat", "dog", "dog"])
>>> cp.aggregate(votes).labels.tolist()
['cat', 'dog']
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdpilot.aggregation import (
        GLAD,
        Auto,
        DawidSkene,
        Fusion,
        MajorityVoting,
        Stream,
        aggregate,
        compare,
        consensus,
        suggest_gold,
    )
    from crowdpilot.datasets import load
    from crowdpilot.diagnosis import diagnose
    from crowdpilot.hybrid import Campaign, Costs, Plan
    from crowdpilot.hybrid.audit import Audit, audit
    from crowdpilot.hybrid.forecast import forecast
    from crowdpilot.hybrid.replay import replay
    from crowdpilot.hybrid.vote_requests import next_votes
    from crowdpilot.io import ReadingWarning, explain, read, write
    from crowdpilot.learning import CrowdClassifier, train
    from crowdpilot.reporting import report
    from crowdpilot.simulation import simulate
    from crowdpilot.votes import Votes

__version__ = "0.1.0"

__all__ = [
    "GLAD",
    "Audit",
    "Auto",
    "Campaign",
    "Costs",
    "CrowdClassifier",
    "DawidSkene",
    "Fusion",
    "MajorityVoting",
    "Plan",
    "ReadingWarning",
    "Stream",
    "Votes",
    "aggregate",
    "audit",
    "compare",
    "consensus",
    "diagnose",
    "explain",
    "forecast",
    "load",
    "next_votes",
    "read",
    "replay",
    "report",
    "simulate",
    "suggest_gold",
    "train",
    "write",
]

_NAMES_OF = {
    "aggregation": (
        "GLAD",
        "Auto",
        "DawidSkene",
        "Fusion",
        "MajorityVoting",
        "Stream",
        "aggregate",
        "compare",
        "consensus",
        "suggest_gold",
    ),
    "datasets": ("load",),
    "diagnosis": ("diagnose",),
    "hybrid": ("Campaign", "Costs", "Plan"),
    "hybrid.audit": ("Audit", "audit"),
    "hybrid.forecast": ("forecast",),
    "hybrid.replay": ("replay",),
    "hybrid.vote_requests": ("next_votes",),
    "io": ("ReadingWarning", "explain", "read", "write"),
    "learning": ("CrowdClassifier", "train"),
    "reporting": ("report",),
    "simulation": ("simulate",),
    "votes": ("Votes",),
}  # the public names of each room
_ROOM_OF = {name: room for room, names in _NAMES_OF.items() for name in names}
_ROOMS = (
    "aggregation", "calibration", "cli", "datasets", "diagnosis", "hybrid", "io", "learning", "metrics",
    "reporting", "scale", "service", "simulation",
)  # fmt: skip


_ELSEWHERE = {  # names that people try
    **dict.fromkeys(("plot", "plots"), "crowdpilot.reporting.plots"),
    **dict.fromkeys(("score", "accuracy", "evaluate"), "crowdpilot.metrics"),
    **dict.fromkeys(("read_csv", "from_csv", "load_csv", "from_pandas", "from_dataframe"), "cp.read"),
    **dict.fromkeys(("majority_vote", "majority"), 'cp.aggregate(votes, "majority_voting")'),
    **dict.fromkeys(("fit", "predict", "fit_predict"), "cp.aggregate(votes)"),
    "agreement": "crowdpilot.diagnosis.agreement",
}


def __getattr__(name: str) -> Any:
    """Load a name or a room when it is first used; models are found by all their names."""
    if name in _ROOMS:
        return import_module(f"crowdpilot.{name}")
    if name in _ROOM_OF:
        return getattr(import_module(f"crowdpilot.{_ROOM_OF[name]}"), name)
    if name[:1].isupper():
        return getattr(import_module("crowdpilot.aggregation"), name)
    raise AttributeError(f"module 'crowdpilot' has no attribute {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    """What may be meant by a name that is not there: a strategy, another room, or a name like it."""
    if name.startswith("_") or find_spec(f"crowdpilot.{name}") is not None:
        return ""  # `from crowdpilot import arrays` asks for an attribute first
    if name in _ELSEWHERE:
        return f"; use {_ELSEWHERE[name]}"
    if name in import_module("crowdpilot.aggregation").MODELS:
        return f'; use cp.aggregate(votes, "{name}")'
    find_like: str = import_module("crowdpilot.option_strings").did_you_mean(
        name, (*__all__, *_ROOMS), otherwise="help(crowdpilot) shows what there is"
    )
    return find_like


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
