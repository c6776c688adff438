"""Methods whose probabilities are measured: shares of votes, our models, `auto`, and crowd-kit's models.

A method takes votes and the group of sets that is held out, and gives a `Prediction`. Only `auto` and models
that are made honest know other crowds, so only they look at the group.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.accuracy import SKIPPED
from benchmarks.honesty_crowds import Crowd
from benchmarks.honesty_measures import Prediction
from benchmarks.process import save_columns
from crowdpilot.aggregation import MODELS, Aggregator, Auto, Honest, NotConverged, parse_strategy
from crowdpilot.calibration.experience import CrowdMap
from crowdpilot.votes import Votes

Method = Callable[[Votes, str], Prediction]
WithoutGroup = Callable[[str], CrowdMap]  # the experience with the sets of all other groups

MADE_HONEST = ["honest[majority_voting]", "honest[one_coin]", "honest[dawid_skene]", "honest[bwa]"]
OWN = [*(name for name in MODELS if name not in SKIPPED and name != Honest.name), *MADE_HONEST]
USE_GOLD = [
    "auto", "naive_soft", "majority_voting", "gold_majority", "one_coin", "common_mistakes", "dawid_skene",
    "hierarchical_dawid_skene", "tied_dawid_skene", "ibcc", "ebcc", "glad", *MADE_HONEST,
]  # fmt: skip
BEFORE = "auto before"  # measured once: `auto` as it was when it knew no other crowd
CROWD_KIT = ["MajorityVote", "Wawa", "ZeroBasedSkill", "DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE"]
PEERS = [f"crowd-kit {model}" for model in CROWD_KIT]
PEER_RUNNER = Path(__file__).parent / "honesty_peer_runner.py"


def make_methods(names: Sequence[str], without_group: WithoutGroup) -> dict[str, Method]:
    """Our models as methods; those that know other crowds never know the group that is held out."""
    return {name: partial(_fit_held_out, parse_strategy(name), without_group) for name in names}


def _fit_held_out(model: Aggregator, without_group: WithoutGroup, votes: Votes, group: str) -> Prediction:
    """The probabilities of a model, and the interval of its expected accuracy if it knows other crowds."""
    if isinstance(model, Auto | Honest):
        model = replace(model, experience=without_group(group))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        result = model.fit(votes)
    if not isinstance(model, Auto | Honest):
        return Prediction(result.probs)  # `expected_accuracy` would be that of all crowds
    return Prediction(result.probs, (result.expected_accuracy.low, result.expected_accuracy.high))


def fit_peers(
    crowds: Sequence[tuple[Crowd, Sequence[str]]], limit: float
) -> Iterator[tuple[Crowd, str, Prediction | str]]:
    """Crowd-kit's models on some crowds, in one process; a reason where there is no prediction."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs = []
        for n, (crowd, models) in enumerate(crowds):
            votes = save_columns(folder / f"votes{n}.npz", _numbered(crowd.votes))
            sizes = {"tasks": len(crowd.votes.tasks), "classes": len(crowd.votes.classes)}
            jobs.append(
                {"votes": str(votes), **sizes, "models": {m: f"{folder}/{n}_{m}.npz" for m in models}}
            )
        command = [str(peers.python()), str(PEER_RUNNER)]
        try:
            done = subprocess.run(
                command, input=json.dumps(jobs), text=True, capture_output=True, timeout=limit
            )
            reason = done.stderr.strip().splitlines()[-1] if done.returncode else ""
        except subprocess.TimeoutExpired:
            reason = f"more than {limit:g} s for all models of the set"
        for n, (crowd, models) in enumerate(crowds):
            for model in models:
                yield crowd, model, _read(folder / f"{n}_{model}.npz", reason)


def _numbered(votes: Votes) -> Votes:
    """The same votes with codes for names."""
    return Votes(
        votes.task, votes.worker, votes.label,
        *(np.arange(len(names)) for names in (votes.tasks, votes.workers, votes.classes)),
    )  # fmt: skip


def _read(path: Path, reason: str) -> Prediction | str:
    """What the process wrote of one model."""
    if not path.exists():
        return reason or "nothing was written"
    with np.load(path) as file:
        return Prediction(file["probs"]) if "probs" in file else str(file["reason"])
