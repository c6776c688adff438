from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs, Plan

PROBS = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.99, 0.01]])


def campaign(costs=None, **more):
    costs = Costs.binary(fp=1, fn=3, crowd=0.02, expert=0.1, budget=2) if costs is None else costs
    return Campaign(
        list("abcd"), ["no", "yes"], costs, plan=Plan(fusion="bayes", pilot=0), classifier_probs=PROBS, **more
    )


def test_a_new_campaign_has_everything_before_it():
    now = campaign().status()
    assert (now.items, now.open, now.closed, now.withdrawn, now.dropped) == (4, 4, 0, 0, 0)
    assert (now.spent, now.reserved, now.left, now.unpaid, now.workers) == (0, 0, 2, 0, 0)
    assert now.votes == {"crowd": 0, "expert": 0}
    assert now.refit_due is False


def test_the_loss_is_what_decisions_are_expected_to_cost():
    c = campaign()
    now, decided = c.status(), c.decide()
    risk = (decided.probs @ c.costs.errors).min(axis=1)
    assert now.loss == pytest.approx(risk.sum())
    assert now.loss_per_item == pytest.approx(risk.mean())
    assert now.error_rate == pytest.approx((1 - decided.probs[np.arange(4), decided.codes]).mean())


def test_a_decision_is_an_error_if_another_is_better_for_the_true_class():
    """To refer an item to somebody is never the best for a known class, but never the worst either."""
    refer = Costs(np.array([[0, 1, 0.05], [1, 0, 0.05]]), {"crowd": 0.5})
    c = campaign(refer)
    codes = c.decide().codes
    assert codes.tolist() == [2, 2, 2, 0]
    assert c.status().error_rate == pytest.approx((3 + c.decide().probs[3, 1]) / 4)
    assert c.decide().labels.tolist() == codes.tolist()  # decisions that are not classes have numbers


def test_everything_is_counted_once_as_items_and_votes_come_and_go():
    c = campaign()
    c.register_worker("eve", "expert")
    c.ask("ann", 2)
    c.tell([("a", "eve", "no"), ("b", "bob", "yes"), ("c", None, "yes")])
    c.close(["a", "b"])
    c.withdraw(["d"])
    now = c.status()
    assert (now.items, now.open, now.closed, now.withdrawn) == (4, 1, 2, 1)
    assert now.votes == {"crowd": 2, "expert": 1}
    assert now.workers == 3
    assert now.spent + now.reserved + now.left == pytest.approx(2)
    assert now.spent == pytest.approx(0.14)
    c.release("ann")
    c.drop_closed()
    later = c.status()
    assert (later.items, later.open, later.dropped) == (1, 1, 3)
    assert later.votes == now.votes
    assert later.spent == now.spent


def test_it_is_plain_data():
    assert set(map(type, asdict(campaign().status()).values())) <= {int, float, bool, dict}
