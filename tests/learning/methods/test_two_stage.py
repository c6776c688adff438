"""An aggregator, then a classifier."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot.aggregation import DawidSkene
from crowdpilot.io import from_shares
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.data.targets import TARGETS
from crowdpilot.learning.methods import TwoStage
from crowdpilot.votes import Votes

Simulated = tuple[Votes, np.ndarray]


@pytest.mark.parametrize("targets", TARGETS)
def test_the_loss_is_the_cross_entropy_to_the_targets(targets: str, simulated: Simulated) -> None:
    votes, _ = simulated
    x = np.random.default_rng(1).normal(size=(len(votes.tasks), 4))
    net = nn.Linear(4, 3).double()
    method = TwoStage(net, votes, labels="dawid_skene", targets=targets).double()
    probs = DawidSkene().fit(votes).probs
    best = np.eye(3)[probs.argmax(axis=1)]
    expected = {"hard": best, "soft": probs, "smoothed": 0.9 * best + 0.1 / 3, "shard": best * probs}[targets]
    logits = x @ net.weight.detach().numpy().T + net.bias.detach().numpy()
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    cost = -(expected * logs).sum() / expected.sum()
    batch = Batches(Dense(torch.tensor(x), torch.device("cpu")), votes).batch(torch.arange(len(x)))
    assert method.loss(batch).item() == pytest.approx(cost, rel=1e-6)


def test_confusion_matrices_are_those_of_the_aggregator(simulated: Simulated) -> None:
    votes, _ = simulated
    found = TwoStage(nn.Linear(4, 3), votes, labels="dawid_skene").confusion()
    np.testing.assert_allclose(found, DawidSkene().fit(votes).params["confusion"], rtol=1e-6)


def test_an_aggregator_without_confusion_matrices_says_so(simulated: Simulated) -> None:
    method = TwoStage(nn.Linear(4, 3), simulated[0], labels="majority_voting")
    with pytest.raises(ValueError, match="has no confusion matrices; choose labels='dawid_skene'"):
        method.predict_votes(torch.zeros(1, 4))


def test_unknown_targets_are_refused(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match="targets is 'firm', expected one of hard, soft"):
        TwoStage(nn.Linear(4, 3), simulated[0], targets="firm")


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3, 1.0])
def test_any_share_of_a_label_can_be_spread(alpha: float, simulated: Simulated) -> None:
    votes, _ = simulated
    method = TwoStage(nn.Linear(4, 3), votes, labels="dawid_skene", targets="smoothed", alpha=alpha)
    codes = DawidSkene().fit(votes).codes
    expected = np.full((len(codes), 3), alpha / 3)
    expected[np.arange(len(codes)), codes] = 1 - alpha + alpha / 3
    np.testing.assert_allclose(method.target, expected, rtol=1e-6)


def test_a_share_to_spread_is_checked(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match=r"alpha is 1\.2, expected a share from 0 to 1"):
        TwoStage(nn.Linear(4, 3), simulated[0], targets="smoothed", alpha=1.2)
    with pytest.raises(ValueError, match="alpha is for targets='smoothed', but targets is 'shard'"):
        TwoStage(nn.Linear(4, 3), simulated[0], targets="shard", alpha=0.1)


SHARES = np.array([[0.2, 0.7, 0.1], [1, 0, 0], [0.1, 0.3, 0.6]])


@pytest.mark.parametrize("labels", ["naive_soft", "majority_voting"])
def test_targets_are_made_of_label_shares(labels: str) -> None:
    votes = from_shares(SHARES)
    best = np.eye(3)[SHARES.argmax(axis=1)]
    expected = {"hard": best, "soft": SHARES, "smoothed": 0.9 * best + 0.1 / 3, "shard": best * SHARES}
    for targets, values in expected.items():
        method = TwoStage(nn.Linear(4, 3), votes, labels=labels, targets=targets)
        np.testing.assert_allclose(method.target, values, rtol=1e-6)


def test_a_model_of_workers_is_not_learned_from_label_shares() -> None:
    with pytest.raises(ValueError, match="dawid_skene cannot learn what workers are like from the shares"):
        TwoStage(nn.Linear(4, 3), from_shares(SHARES), labels="ds")
