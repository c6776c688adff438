"""The bound of an audit holds however wrong the model is, and a saved audit continues exactly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.audit.expert_audit import Audit
from crowdpilot.hybrid.costs import Costs

COSTS = Costs.binary(fp=1, fn=5)
SAVED = Path(__file__).parent / "saved"


def pool(seed: int, size: int = 300, *, wrong: bool = False) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Decisions, probabilities and truth; the model may be far too confident."""
    rng = np.random.default_rng(seed)
    yes = 1 / (1 + np.exp(-rng.normal(0, 3, size)))
    truth = (rng.random(size) < yes).astype(int)
    confident = yes**4 / (yes**4 + (1 - yes) ** 4) if wrong else yes
    probs = np.stack([1 - confident, confident], axis=1)
    return COSTS.decide(probs), probs, truth


def test_the_bound_fails_no_more_often_than_allowed_at_any_time() -> None:
    failed = {"cost": 0, "error_rate": 0, "low": 0}
    for seed in range(40):
        decided, probs, truth = pool(seed, 200, wrong=True)
        audit = Audit(COSTS, decided, probs, level=0.8, seed=seed)
        items = audit.draw(5)
        bounds = []
        while len(bounds) < 12:
            audit.add_answers(items, truth[items])
            bounds.append(audit.bound())
            items = audit.draw(5)
        cost, error = COSTS.errors[truth, decided].mean(), (truth != decided).mean()
        failed["cost"] += min(b.cost for b in bounds) < cost - 1e-9
        failed["error_rate"] += min(b.error_rate for b in bounds) < error - 1e-9
        failed["low"] += max(b.cost_low for b in bounds) > cost + 1e-9
    assert max(failed.values()) <= 0.2 * 40


def test_a_calibrated_model_makes_the_bound_tight() -> None:
    ratios = []
    for seed in range(10):
        decided, probs, truth = pool(seed, 2000)
        audit = Audit(COSTS, decided, probs, seed=seed)
        items = audit.draw(200)
        audit.add_answers(items, truth[items])
        ratios.append(audit.bound().cost / COSTS.errors[truth, decided].mean())
    assert np.median(ratios) < 2


def test_all_items_prove_the_cost() -> None:
    decided, probs, truth = pool(0, 40)
    audit = Audit(COSTS, decided, probs, seed=0)
    items = audit.draw(100)
    assert sorted(items) == list(range(40))
    audit.add_answers(items, truth[items])
    found = audit.bound()
    cost = COSTS.errors[truth, decided].mean()
    np.testing.assert_allclose([found.cost, found.cost_low], cost)
    np.testing.assert_allclose([found.error_rate, found.error_rate_low], (truth != decided).mean())
    assert found.remaining_total == found.remaining_error_rate == 0
    assert audit.draw() == []
    assert audit.done(cost + 1e-9)


def test_what_remains_is_the_bound_less_the_known_loss() -> None:
    decided, probs, truth = pool(3)
    audit = Audit(COSTS, decided, probs, seed=0)
    items = audit.draw(60)
    audit.add_answers(items, truth[items])
    found = audit.bound()
    lost = COSTS.errors[truth[items], decided[items]].sum()
    assert lost > 0
    np.testing.assert_allclose(found.remaining_total, found.total - lost)


def test_the_estimate_is_right_on_average() -> None:
    decided, probs, truth = pool(1, wrong=True)
    estimates = []
    for seed in range(150):
        audit = Audit(COSTS, decided, probs, seed=seed)
        items = audit.draw(20)
        audit.add_answers(items, truth[items])
        estimates.append(audit.estimate())
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - COSTS.errors[truth, decided].mean()) < 4 * error


def test_a_pause_changes_nothing() -> None:
    decided, probs, truth = pool(2)
    audit = Audit(COSTS, decided, probs, seed=5, experts_err=True)
    paused = Audit(COSTS, decided, probs, seed=5, experts_err=True)
    for step in range(8):
        items = audit.draw(7)
        assert paused.draw(7) == items
        answered = items[step % 2 :]  # some answers are late
        for one in (audit, paused):
            one.add_answers(answered, truth[answered])
            second = one.draw_second(3)
            one.add_second_answers(second, truth[second])
        paused = Audit.from_dict(json.loads(json.dumps(paused.to_dict())))
        late = audit.pending
        for one in (audit, paused):
            one.add_answers(late, truth[late])
        assert paused.bound() == audit.bound()
        assert paused.estimate() == audit.estimate()


def test_late_answers_delay_the_bound_but_do_not_change_it() -> None:
    decided, probs, truth = pool(4)
    together, apart = (Audit(COSTS, decided, probs, seed=1) for _ in range(2))
    items = together.draw(40)
    assert apart.draw(40) == items
    together.add_answers(items, truth[items])
    apart.add_answers(items[:0:-1], truth[items[:0:-1]])
    assert apart.pending == items[:1]
    assert apart.bound().checked == 0
    apart.add_answers(items[:1], truth[items[:1]])
    assert apart.bound() == together.bound()


def test_answers_that_would_make_the_bound_invalid_are_refused_and_change_nothing() -> None:
    decided, probs, truth = pool(5)
    audit = Audit(COSTS, decided, probs, seed=1)
    items = audit.draw(10)
    other = next(i for i in range(300) if i not in items)
    for wrong, answers, message in [
        ([items[0], other], [0, 0], f"item {other} was not drawn"),
        ([items[0], items[0]], [0, 1], "twice"),
        ([items[0]], [2], "code of one of the 2 classes"),
        ([items[0]], [0, 1], "1 items and 2 answers"),
        ([items[0]], [0.5], "whole numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            audit.add_answers(wrong, answers)
    assert audit.pending == items
    audit.add_answers(items, truth[items])
    with pytest.raises(ValueError, match="twice"):
        audit.add_answers(items[:1], truth[items[:1]])
    with pytest.raises(ValueError, match="not drawn"):
        audit.add_second_answers(items[:1], truth[items[:1]])


def test_with_experts_who_err_the_bound_holds_for_the_truth() -> None:
    """One in ten answers is wrong; taken as true they hide a tenth of the errors."""
    failed = 0
    for seed in range(40):
        decided, probs, truth = pool(seed, 400)
        rng = np.random.default_rng(seed)
        first, second = (np.where(rng.random(400) < 0.1, 1 - truth, truth) for _ in range(2))
        audit = Audit(COSTS, decided, probs, level=0.8, seed=seed, experts_err=True)
        items = audit.draw(100)
        audit.add_answers(items, first[items])
        alone = audit.bound()
        checked_again = audit.draw_second(100)
        audit.add_second_answers(checked_again, second[checked_again])
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
        items = audit.draw(100)
        audit.add_answers(items, truth[items])
        assert costs.errors[truth, decided].mean() <= audit.bound().cost < costs.errors.max()


def test_items_that_cannot_cost_are_not_checked() -> None:
    decided = np.array([0, 1] * 50)
    audit = Audit(Costs.binary(fp=0, fn=1), decided, np.full((100, 2), 0.5), seed=0)
    items = audit.draw(100)
    assert sorted(items) == list(range(0, 100, 2))
    audit.add_answers(items, np.zeros(50, int))
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
    with pytest.raises(ValueError, match="level is 1"):
        Audit(COSTS, [0, 1], [0.5, 0.5], level=1, seed=0)
    with pytest.raises(ValueError, match="0 items are planned"):
        Audit(COSTS, [0, 1], [0.5, 0.5], planned=0, seed=0)


def test_a_saved_audit_of_version_1_continues_exactly() -> None:
    saved = json.loads((SAVED / "audit_v1.json").read_text(encoding="utf-8"))
    audit = Audit.from_dict(saved["state"])
    assert audit.to_dict() == saved["state"]
    assert audit.pending == saved["pending"]
    bound = audit.bound().to_dict()
    assert {name for name in bound if bound[name] is None} == {n for n in bound if saved["bound"][n] is None}
    for name, value in saved["bound"].items():
        assert value is None or bound[name] == pytest.approx(value, rel=1e-9)
    assert audit.estimate() == pytest.approx(saved["estimate"], rel=1e-12)
    assert audit.draw(5) == saved["next"]


@pytest.mark.parametrize("version", [0, 2, None])
def test_a_saved_audit_of_another_version_is_refused(version: int | None) -> None:
    with pytest.raises(ValueError, match=f"an audit of version {version} cannot be read, expected 1"):
        Audit.from_dict({"version": version})
