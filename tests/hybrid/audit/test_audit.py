"""An audit proves what it says, however wrong the model is, and goes on after a pause."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.audit.audit import Audit
from crowdpilot.hybrid.costs import Costs

COSTS = Costs.binary(fp=1, fn=5)


def pool(seed: int, size: int = 300, *, wrong: bool = False) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Decisions, probabilities and truth; the model may be far too sure."""
    rng = np.random.default_rng(seed)
    yes = 1 / (1 + np.exp(-rng.normal(0, 3, size)))
    truth = (rng.random(size) < yes).astype(int)
    said = yes**4 / (yes**4 + (1 - yes) ** 4) if wrong else yes
    probs = np.stack([1 - said, said], axis=1)
    return COSTS.decide(probs), probs, truth


def test_the_bound_fails_no_more_often_than_allowed_at_any_time() -> None:
    failed = {"cost": 0, "error_rate": 0, "low": 0}
    for seed in range(40):
        decided, probs, truth = pool(seed, 200, wrong=True)
        audit = Audit(COSTS, decided, probs, alpha=0.2, seed=seed)
        items = audit.next(5)
        bounds = []
        while len(bounds) < 12:
            audit.tell(items, truth[items])
            bounds.append(audit.bound())
            items = audit.next(5)
        cost, error = COSTS.errors[truth, decided].mean(), (truth != decided).mean()
        failed["cost"] += min(b.cost for b in bounds) < cost - 1e-9
        failed["error_rate"] += min(b.error_rate for b in bounds) < error - 1e-9
        failed["low"] += max(b.cost_low for b in bounds) > cost + 1e-9
    assert max(failed.values()) <= 0.2 * 40


def test_a_model_that_knows_makes_the_bound_tight() -> None:
    ratios = []
    for seed in range(10):
        decided, probs, truth = pool(seed, 2000)
        audit = Audit(COSTS, decided, probs, seed=seed)
        items = audit.next(200)
        audit.tell(items, truth[items])
        ratios.append(audit.bound().cost / COSTS.errors[truth, decided].mean())
    assert np.median(ratios) < 2


def test_all_items_prove_the_cost() -> None:
    decided, probs, truth = pool(0, 40)
    audit = Audit(COSTS, decided, probs, seed=0)
    items = audit.next(100)
    assert sorted(items) == list(range(40))
    audit.tell(items, truth[items])
    found = audit.bound()
    cost = COSTS.errors[truth, decided].mean()
    np.testing.assert_allclose([found.cost, found.cost_low], cost)
    np.testing.assert_allclose([found.error_rate, found.error_rate_low], (truth != decided).mean())
    assert found.remaining_total == found.remaining_error_rate == 0
    assert audit.next() == []
    assert audit.done(cost + 1e-9)


def test_what_remains_is_the_bound_less_what_was_found() -> None:
    decided, probs, truth = pool(3)
    audit = Audit(COSTS, decided, probs, seed=0)
    items = audit.next(60)
    audit.tell(items, truth[items])
    found = audit.bound()
    lost = COSTS.errors[truth[items], decided[items]].sum()
    assert lost > 0
    np.testing.assert_allclose(found.remaining_total, found.total - lost)


def test_the_estimate_is_right_on_average() -> None:
    decided, probs, truth = pool(1, wrong=True)
    estimates = []
    for seed in range(150):
        audit = Audit(COSTS, decided, probs, seed=seed)
        items = audit.next(20)
        audit.tell(items, truth[items])
        estimates.append(audit.estimate())
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - COSTS.errors[truth, decided].mean()) < 4 * error


def test_a_pause_changes_nothing() -> None:
    decided, probs, truth = pool(2)
    audit = Audit(COSTS, decided, probs, seed=5, experts_err=True)
    paused = Audit(COSTS, decided, probs, seed=5, experts_err=True)
    for step in range(8):
        items = audit.next(7)
        assert paused.next(7) == items
        told = items[step % 2 :]  # some answers are late
        for one in (audit, paused):
            one.tell(told, truth[told])
            second = one.next_again(3)
            one.tell_again(second, truth[second])
        paused = Audit.from_dict(json.loads(json.dumps(paused.to_dict())))
        late = audit.waiting
        for one in (audit, paused):
            one.tell(late, truth[late])
        assert paused.bound() == audit.bound()
        assert paused.estimate() == audit.estimate()


def test_late_answers_hold_the_bound_up_but_lose_nothing() -> None:
    decided, probs, truth = pool(4)
    together, apart = (Audit(COSTS, decided, probs, seed=1) for _ in range(2))
    items = together.next(40)
    assert apart.next(40) == items
    together.tell(items, truth[items])
    apart.tell(items[:0:-1], truth[items[:0:-1]])
    assert apart.waiting == items[:1]
    assert apart.bound().checked == 0
    apart.tell(items[:1], truth[items[:1]])
    assert apart.bound() == together.bound()


def test_answers_that_would_break_the_promise_are_refused_and_change_nothing() -> None:
    decided, probs, truth = pool(5)
    audit = Audit(COSTS, decided, probs, seed=1)
    items = audit.next(10)
    other = next(i for i in range(300) if i not in items)
    for wrong, answers, message in [
        ([items[0], other], [0, 0], f"item {other} was not drawn"),
        ([items[0], items[0]], [0, 1], "twice"),
        ([items[0]], [2], "code of one of the 2 classes"),
        ([items[0]], [0, 1], "1 items and 2 answers"),
        ([items[0]], [0.5], "whole numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            audit.tell(wrong, answers)
    assert audit.waiting == items
    audit.tell(items, truth[items])
    with pytest.raises(ValueError, match="twice"):
        audit.tell(items[:1], truth[items[:1]])
    with pytest.raises(ValueError, match="not drawn"):
        audit.tell_again(items[:1], truth[items[:1]])


def test_with_experts_who_err_the_bound_holds_for_the_truth() -> None:
    """One in ten answers is wrong; taken at their word they hide a tenth of the errors."""
    failed = 0
    for seed in range(40):
        decided, probs, truth = pool(seed, 400)
        rng = np.random.default_rng(seed)
        said, again = (np.where(rng.random(400) < 0.1, 1 - truth, truth) for _ in range(2))
        audit = Audit(COSTS, decided, probs, alpha=0.2, seed=seed, experts_err=True)
        items = audit.next(100)
        audit.tell(items, said[items])
        alone = audit.bound()
        second = audit.next_again(100)
        audit.tell_again(second, again[second])
        found = audit.bound()
        assert found.expert_error is not None
        assert alone.cost >= found.cost
        failed += found.cost < COSTS.errors[truth, decided].mean()
    assert failed <= 0.2 * 40


def test_more_than_two_classes_and_expected_costs_alone_will_do() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([8, 1, 1], 500)
    costs = Costs([[0, 1, 2], [3, 0, 1], [9, 1, 0]])
    truth = (rng.random(500)[:, None] > probs.cumsum(axis=1)).sum(axis=1)
    decided = costs.decide(probs)
    for known in (probs, (probs @ costs.errors)[np.arange(500), decided]):
        audit = Audit(costs, decided, known, seed=0)
        items = audit.next(100)
        audit.tell(items, truth[items])
        assert costs.errors[truth, decided].mean() <= audit.bound().cost < costs.errors.max()


def test_items_that_cannot_cost_are_not_checked() -> None:
    decided = np.array([0, 1] * 50)
    audit = Audit(Costs.binary(fp=0, fn=1), decided, np.full((100, 2), 0.5), seed=0)
    items = audit.next(100)
    assert sorted(items) == list(range(0, 100, 2))
    audit.tell(items, np.zeros(50, int))
    found = audit.bound()
    assert found.cost == 0
    assert found.error_rate == 0.5  # nothing is known of the others


def test_a_pool_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="one item at least"):
        Audit(COSTS, np.zeros(0, int), np.zeros((0, 2)), seed=0)
    with pytest.raises(ValueError, match="of the 2 that the costs know"):
        Audit(COSTS, [0, 2], np.full((2, 2), 0.5), seed=0)
    with pytest.raises(ValueError, match="expected"):
        Audit(COSTS, [0, 1], np.full((2, 3), 0.5), seed=0)
    with pytest.raises(ValueError, match="negative or no number"):
        Audit(COSTS, [0, 1], [np.nan, 0.5], seed=0)
    with pytest.raises(ValueError, match="nothing to audit"):
        Audit(Costs.binary(fp=0, fn=1), [1, 1], np.full((2, 2), 0.5), seed=0)
    with pytest.raises(ValueError, match="alpha is 1"):
        Audit(COSTS, [0, 1], [0.5, 0.5], alpha=1, seed=0)
    with pytest.raises(ValueError, match="0 items are planned"):
        Audit(COSTS, [0, 1], [0.5, 0.5], planned=0, seed=0)
