"""Recorded votes over HTTP lead to the same decisions as `crowdpilot replay`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot import io
from crowdpilot.hybrid import Costs, Plan, Scenario
from crowdpilot.hybrid.replay import replay_scenario
from crowdpilot.simulation import one_coin
from tests.service.harness.replay_over_http import replay_over_http
from tests.service.harness.service import running_service

pytestmark = pytest.mark.thorough  # sends thousands of requests


def in_the_library(scenario: Scenario, costs: Costs, plan: Plan) -> tuple[Any, int]:
    campaigns: list[Any] = []
    replay_scenario(scenario, costs, plan, callback=campaigns.append)
    decided = campaigns[-1].decide()
    return decided, int(decided.votes.sum())


def assert_same(found: dict[str, dict[str, Any]], scenario: Scenario, expected: Any) -> None:
    names = [str(name) for name in expected.items.tolist()]
    assert [found[name]["label"] for name in names] == [str(label) for label in expected.labels.tolist()]
    assert [found[name]["votes"] for name in names] == expected.votes.tolist()
    probs = [[found[name][f"p_{label}"] for label in scenario.classes.tolist()] for name in names]
    np.testing.assert_allclose(probs, expected.probs, atol=1e-9)


@pytest.mark.parametrize("policy", ["value", "fixed[votes=3]", "posterior_threshold"])
def test_a_simulated_record_gives_the_same_decisions(policy, database_url):
    votes, truth = one_coin(tasks=60, skill=[0.95, 0.9, 0.8, 0.8, 0.7, 0.6, 0.5], seed=1)
    scenario = Scenario(votes.tasks, votes.classes, np.asarray(truth), {"": votes})
    costs, plan = Costs.binary(fp=1, fn=3, crowd=0.02), Plan(policy=policy, seed=3)
    expected, _ = in_the_library(scenario, costs, plan)
    with running_service(database_url) as send:
        found = replay_over_http(send, scenario, costs, plan)
    assert_same(found, scenario, expected)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_sentiment_polarity_gives_the_same_decisions(seed, tmp_path):
    folder = Path(os.environ.get("CROWDPILOT_DATA", "no such folder")) / "sentiment_polarity"
    if not folder.is_dir():
        pytest.skip("sentiment_polarity is not in the folder that CROWDPILOT_DATA names")
    votes = io.read(folder / "answers.csv")
    scenario = Scenario(votes.tasks, votes.classes, np.full(len(votes.tasks), -1), {"": votes})
    costs, plan = Costs.equal(2, crowd=0.05), Plan(seed=seed)
    expected, count = in_the_library(scenario, costs, plan)
    assert count > 1000
    with running_service(f"sqlite:///{tmp_path / 'a.db'}") as send:
        found = replay_over_http(send, scenario, costs, plan)
    assert_same(found, scenario, expected)
