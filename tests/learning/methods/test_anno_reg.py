"""Anno-Reg."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.methods import AnnoReg
from crowdpilot.votes import Votes

Simulated = tuple[Votes, np.ndarray]


def softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=axis, keepdims=True)


def test_the_loss_is_the_formula_of_the_paper(simulated: Simulated) -> None:
    """Tanno et al. 2019, Eq. 4: cross-entropy of A p, and the trace of A."""
    votes, _ = simulated
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(votes.tasks), 4))
    method = AnnoReg(nn.Linear(4, 3), votes, strength=0.2).double()
    p = {name: rng.normal(size=part.shape) for name, part in method.state_dict().items()}
    method.load_state_dict({name: torch.tensor(value) for name, value in p.items()})
    probs = softmax(x @ p["net.weight"].T + p["net.bias"])
    costs = []
    for task, worker, label in zip(votes.task, votes.worker, votes.label, strict=True):
        A = softmax(p["matrix"][worker], axis=0)  # [said, true]: each column sums to one
        costs.append(-np.log((A @ probs[task])[label]) + 0.2 * np.trace(A))
    batch = Batches(Dense(torch.tensor(x), torch.device("cpu")), votes).batch(torch.arange(len(x)))
    assert method.loss(batch).item() == pytest.approx(np.mean(costs))


def test_the_penalty_makes_workers_less_reliable(simulated: Simulated) -> None:
    votes, truth = simulated
    X = np.eye(3)[truth]
    traces = []
    for strength in (0, 0.1, 0.3):
        model = CrowdClassifier("linear", f"anno_reg[strength={strength}]", epochs=20, lr=0.01).fit(X, votes)
        traces.append(model.method_.confusion().diagonal(dim1=1, dim2=2).mean().item())
    assert traces[0] > traces[1] > traces[2]


def test_known_confusions_are_found() -> None:
    """Where the features tell the class, the matrices are those of which the votes were drawn."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 600)
    known = np.array([np.eye(3) * 0.7 + 0.1, [[0.9, 0.1, 0.0], [0.0, 0.5, 0.5], [0.2, 0.0, 0.8]]])
    label = np.array([[rng.choice(3, p=known[j, k]) for k in truth] for j in range(2)]).ravel()
    names = np.arange(600), np.arange(2), np.arange(3)
    votes = Votes(np.tile(np.arange(600), 2), np.repeat([0, 1], 600), label, *names)
    X = 5 * np.eye(3)[truth]
    settings = {"epochs": 60, "lr": 0.01, "weight_decay": 0}
    model = CrowdClassifier("linear", "anno_reg[strength=0.01]", **settings).fit(X, votes)
    np.testing.assert_allclose(model.method_.confusion().detach(), known, atol=0.08)


def test_a_worker_without_votes_stays_as_at_the_start(simulated: Simulated) -> None:
    votes, truth = simulated
    some = votes.take(votes.worker != 3)
    model = CrowdClassifier("linear", "anno_reg", epochs=10, lr=0.01, weight_decay=0).fit(
        np.eye(3)[truth], some
    )
    found = model.method_.confusion().detach().numpy()
    np.testing.assert_allclose(found[3], softmax(np.eye(3)), rtol=1e-5)
    assert abs(found[2] - softmax(np.eye(3))).max() > 0.1


def test_probabilities_that_vanish_are_no_trouble(simulated: Simulated) -> None:
    votes, _ = simulated
    method = AnnoReg(nn.Linear(3, 3), votes)
    method.matrix.data *= 1000
    x = torch.eye(3).repeat(50, 1) * 1e4
    loss = method.loss(Batches(Dense(x, torch.device("cpu")), votes).batch(torch.arange(150)))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(part.grad).all() for part in method.parameters() if part.grad is not None)


def test_a_penalty_below_zero_is_refused(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match="strength is -1"):
        AnnoReg(nn.Linear(3, 3), simulated[0], strength=-1)
