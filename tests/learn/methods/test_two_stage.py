"""An aggregator, then a classifier."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot.aggregate import DawidSkene
from crowdpilot.learn.batches import Batches
from crowdpilot.learn.methods import TwoStage
from crowdpilot.learn.rows import Dense
from crowdpilot.learn.targets import TARGETS
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
        method.annotate(torch.zeros(1, 4))


def test_unknown_targets_are_refused(simulated: Simulated) -> None:
    with pytest.raises(ValueError, match="targets is 'firm', expected one of hard, soft"):
        TwoStage(nn.Linear(4, 3), simulated[0], targets="firm")
