"""CoNAL."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.methods import CoNAL
from crowdpilot.votes import Votes

Simulated = tuple[Votes, np.ndarray]


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.sqrt((rows**2).sum(axis=-1, keepdims=True))


def test_the_loss_is_the_formula_of_the_paper(simulated: Simulated) -> None:
    """Chu, Ma and Wang 2021: weight of the common matrix by worker and task, and the norm subtracted."""
    votes, _ = simulated
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(votes.tasks), 4))
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    method = CoNAL(net, votes, scale=0.05, embedding=7).double()
    p = {name: rng.normal(size=part.shape) for name, part in method.state_dict().items()}
    method.load_state_dict({name: torch.tensor(value) for name, value in p.items()})

    hidden = np.tanh(x @ p["net.0.weight"].T + p["net.0.bias"])
    probs = softmax(hidden @ p["net.2.weight"].T + p["net.2.bias"])
    v = unit(hidden @ p["v.weight"].T + p["v.bias"])
    u = unit(p["u.weight"])
    costs = []
    for task, worker, label in zip(votes.task, votes.worker, votes.label, strict=True):
        w = 1 / (1 + np.exp(-u[worker] @ v[task]))
        mixed = w * p["common"] + (1 - w) * p["own"][worker]
        costs.append(-np.log(softmax(probs[task] @ mixed)[label]))
    apart = sum(np.linalg.norm(own - p["common"]) for own in p["own"])
    batch = Batches(Dense(torch.tensor(x), torch.device("cpu")), votes).batch(torch.arange(len(x)))
    assert method.loss(batch).item() == pytest.approx(np.mean(costs) - 0.05 * apart)


def test_a_reward_for_being_different_makes_matrices_different(simulated: Simulated) -> None:
    votes, truth = simulated
    X = np.eye(3)[truth]
    far = []
    for scale in (0, 0.1):
        method = CrowdClassifier("linear", f"conal[scale={scale}]", epochs=10, lr=0.01).fit(X, votes).method_
        assert isinstance(method, CoNAL)
        far.append((method.own - method.common).square().sum().item())
    assert far[1] > 2 * far[0]


def test_training_begins_where_own_and_common_matrices_are_equal_and_the_norm_has_no_slope(
    simulated: Simulated,
) -> None:
    votes, _ = simulated
    method = CoNAL(nn.Linear(3, 3), votes, scale=1.0)
    batch = Batches(Dense(torch.ones(len(votes.tasks), 3), torch.device("cpu")), votes).batch(
        torch.arange(50)
    )
    method.loss(batch).backward()
    assert all(torch.isfinite(part.grad).all() for part in method.parameters() if part.grad is not None)


def test_a_network_that_does_not_end_in_a_linear_layer_is_fine(simulated: Simulated) -> None:
    votes, truth = simulated
    net = nn.Sequential(nn.Unflatten(1, (3, 1, 1)), nn.Conv2d(3, 3, 1), nn.Flatten())
    X = np.eye(3)[truth]
    model = CrowdClassifier(net, "conal", epochs=20, lr=0.05, standardize=False).fit(X, votes)
    assert model.method_.v.in_features == 3
    assert (model.predict(X) == truth).mean() > 0.95


def test_settings_that_make_no_sense_are_refused(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match="scale is -1"):
        CoNAL(nn.Linear(3, 3), simulated[0], scale=-1)
    with pytest.raises(ValueError, match="embedding 0"):
        CoNAL(nn.Linear(3, 3), simulated[0], embedding=0)
