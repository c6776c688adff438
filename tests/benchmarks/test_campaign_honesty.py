from __future__ import annotations

import numpy as np

from benchmarks.campaign_honesty import render, simple_rules
from crowdpilot.votes import Votes


def votes_on_two_items() -> tuple[Votes, np.ndarray]:
    """Three workers agree on the first item; on the second, two who are right are against one."""
    votes = Votes.of(list("aaabbb"), list("uvwuvw"), [0, 0, 0, 1, 1, 0])
    return votes, np.array([0, 1], np.int32)


def test_simple_rules_ask_no_more_than_they_need():
    votes, truth = votes_on_two_items()
    found = [simple_rules(votes, truth, seed) for seed in range(30)]
    assert all(rules["3 votes"] == (3.0, 0.0) == rules["9 votes"] for rules in found)
    assert all(rules["1 votes"][0] == 1 for rules in found)
    assert {rules["2 agree of 3"] for rules in found} == {
        (2.0, 0.0),
        (2.5, 0.0),
    }  # never the one who is wrong
    assert all(rules["3 agree"] == (3.0, 0.0) for rules in found)
    errors = [rules["1 votes"][1] for rules in found]
    assert 0 < np.mean(errors) < 0.5


def test_the_summary_counts_ratios_and_totals():
    common = {"votes": 1.0, "best_rule": "1 votes", "best_total": 4.0}
    rows = [
        {"set": "a", "cost": 5, "loss": 2.0, "expected": 2.0, **common},
        {"set": "b", "cost": 5, "loss": 3.0, "expected": 1.0, **common},
    ]
    before = {("a", 5): {"votes": 2.0, "loss": 2.0}}
    text = render(rows, before, seeds=1)
    assert "between 1/2 and 2 in 50% of sets and costs, its median is 2.00" in text
    assert "mean -12.5 %" in text
    assert "0.750 times the total before" in text
    assert text.count("\n| ") == 4
