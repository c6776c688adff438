"""Pools that campaigns have finished on real crowds, to be audited."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.audit_pools import Pool
from benchmarks.hybrid_sets import read_scenario
from crowdpilot.hybrid import Campaign, Costs, Plan
from crowdpilot.hybrid.replay import replay_scenario

SETS = ("amazon_isbook", "medical_cause", "dog", "labelme", "cifar10h_densenet")
SEEDS = 4
PRICE = 0.02


def campaigns(data: Path) -> Iterator[tuple[str, str, Iterator[tuple[Pool, int]]]]:
    """Names of sets, of their costs, and the decisions of the policy `value`."""
    for name in SETS:
        for label, price in (("equal", 1.0), ("5 : 1", 5.0)):
            yield name, label, ((_finished(data, name, price, seed), seed) for seed in range(SEEDS))


def _finished(data: Path, name: str, price: float, seed: int) -> Pool:
    """The decisions of one campaign; to miss the last class costs this much, any other error 1."""
    scenario = read_scenario(data, name)
    errors = 1 - np.eye(len(scenario.classes))
    errors[-1] *= price
    last: list[Campaign] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        costs = Costs(errors, {"crowd": PRICE})
        replay_scenario(scenario, costs, Plan(seed=seed, refit_growth=0.1), callback=last.append)
    now = last[-1].decide()
    return Pool(last[-1].costs, now.codes, now.probs, scenario.truth)
