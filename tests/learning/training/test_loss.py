"""The price of a vote, against the formulas of the papers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from crowdpilot.learning.training.loss import VoteLoss, log_prob_of_label

COUNTS = torch.tensor([90.0, 30.0, 12.0])
RNG = np.random.default_rng(0)
PROBS = RNG.dirichlet(np.ones(3), 200)
LABEL = RNG.choice(3, 200, p=COUNTS.numpy() / 132)
WEIGHT = RNG.uniform(0.5, 2, 200)
CHANCE = PROBS[np.arange(200), LABEL]  # of what was said


def price(cost: VoteLoss, chance: np.ndarray = CHANCE) -> float:
    return float(cost(torch.tensor(chance).log(), torch.tensor(LABEL), torch.tensor(WEIGHT)))


def test_the_log_probability_of_labels_is_that_of_the_softmax() -> None:
    logits = torch.tensor(RNG.normal(size=(200, 3)))
    softmax = np.exp(logits.numpy()) / np.exp(logits.numpy()).sum(axis=1, keepdims=True)
    found = log_prob_of_label(logits, torch.tensor(LABEL))
    np.testing.assert_allclose(found, np.log(softmax[np.arange(200), LABEL]))


def test_plain_cost_is_the_weighted_mean_of_cross_entropies() -> None:
    expected = -np.average(np.log(CHANCE), weights=WEIGHT)
    assert price(VoteLoss().for_class_counts(COUNTS)) == pytest.approx(expected)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0, 5.0])
def test_focal_cost_is_that_of_lin(gamma: float) -> None:
    """FL(p) = -(1 - p)^gamma log p, Lin et al. 2017, Eq. 4."""
    expected = np.average(-((1 - CHANCE) ** gamma) * np.log(CHANCE), weights=WEIGHT)
    assert price(VoteLoss("focal", gamma=gamma).for_class_counts(COUNTS)) == pytest.approx(expected)


def test_focal_cost_without_gamma_is_plain() -> None:
    assert price(VoteLoss("focal", gamma=0.0)) == pytest.approx(price(VoteLoss()))


def test_reweighting_counts_each_class_by_the_inverse_of_its_votes() -> None:
    expected = -np.average(np.log(CHANCE), weights=WEIGHT / COUNTS.numpy()[LABEL])
    assert price(VoteLoss("reweight").for_class_counts(COUNTS)) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [0.0, 0.9, 0.9999])
def test_class_balanced_focal_cost_is_that_of_cui(beta: float) -> None:
    """CB(p, y) = (1 - beta) / (1 - beta^n_y) FL(p), Cui et al. 2019, Eq. 12, with weights of mean one."""
    ratio = (1 - beta) / (1 - beta ** COUNTS.double().numpy())
    focal = -((1 - CHANCE) ** 2) * np.log(CHANCE)
    expected = np.average(focal, weights=WEIGHT * ratio[LABEL])
    assert price(VoteLoss("cb_focal", beta=beta).for_class_counts(COUNTS)) == pytest.approx(
        expected, rel=1e-5
    )


def test_resampling_repeats_votes_until_classes_are_equal() -> None:
    """30 votes stand for 90 three times each; 12 votes seven or eight times, 7.5 times on average."""
    cost = VoteLoss("resample").for_class_counts(COUNTS)
    chance, label = np.full(200, 0.5), np.array([0] * 100 + [1] * 50 + [2] * 50)
    chance[150:] = np.exp(-1.0)  # the rarest class costs one, the others log 2
    ones = torch.ones(200, dtype=torch.float64)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        drawn = [float(cost(torch.tensor(chance).log(), torch.tensor(label), ones)) for _ in range(300)]
    # repeats of the rarest class in a draw, from cost = (250 log 2 + n) / (250 + n)
    repeats = np.array([250 * (np.log(2) - c) / (c - 1) for c in drawn])
    np.testing.assert_allclose(repeats, repeats.round(), atol=1e-6)
    assert repeats.min() >= 50 * 7
    assert repeats.max() <= 50 * 8
    assert repeats.std() > 1
    assert repeats.mean() == pytest.approx(50 * 7.5, abs=1)


def test_a_class_without_votes_counts_like_the_rarest() -> None:
    cost = VoteLoss("reweight").for_class_counts(torch.tensor([90.0, 30.0, 0.0]))
    assert cost.class_weight is not None
    np.testing.assert_allclose(cost.class_weight, [1, 3, 3])
    empty = VoteLoss("cb_focal").for_class_counts(torch.zeros(3))
    assert empty.class_weight is not None
    np.testing.assert_allclose(empty.class_weight, 1)


@pytest.mark.parametrize("balance", ["none", "resample", "reweight", "focal", "cb_focal"])
def test_no_votes_cost_nothing_and_teach_nothing(balance: str) -> None:
    logs = torch.zeros(0, requires_grad=True)
    cost = VoteLoss(balance).for_class_counts(COUNTS)(logs, torch.zeros(0, dtype=torch.long), torch.zeros(0))  # type: ignore[arg-type]
    cost.backward()
    assert cost.item() == 0


@pytest.mark.parametrize("balance", ["none", "reweight", "focal", "cb_focal"])
def test_certain_votes_have_finite_slopes(balance: str) -> None:
    logs = torch.tensor([0.0, -1e-12, -200.0], requires_grad=True)
    label = torch.tensor([0, 1, 2])
    VoteLoss(balance, gamma=0.5).for_class_counts(COUNTS)(logs, label, torch.ones(3)).backward()  # type: ignore[arg-type]
    assert logs.grad is not None
    assert torch.isfinite(logs.grad).all()
    assert logs.grad[2] < 0


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="balance is 'smote', expected one of none, resample"):
        VoteLoss("smote")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gamma is -1"):
        VoteLoss("focal", gamma=-1)
    with pytest.raises(ValueError, match=r"beta 1\.0"):
        VoteLoss("cb_focal", beta=1.0)
