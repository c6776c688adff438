from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot import metrics
from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.methods.mutual import Mutual
from tests.learning.conftest import make_known


def test_no_network_learns_from_the_votes_of_its_own_fold(known):
    torch.manual_seed(0)
    method = Mutual(nn.Linear(6, 3), known.votes, members=3)
    rows = Dense(torch.as_tensor(known.X, dtype=torch.float32), torch.device("cpu"))
    batch = Batches(rows, known.votes).batch((method.fold == 1).nonzero()[:, 0])
    method.loss(batch).backward()
    learned = [float(member.weight.grad.abs().sum()) > 0 for member in method.net.members]
    assert learned == [True, False, True]


def test_each_task_is_judged_by_the_network_that_has_not_seen_it(known):
    torch.manual_seed(0)
    method = Mutual(nn.Linear(6, 3), known.votes, members=4)
    for member in method.net.members:
        nn.init.normal_(member.weight)
    x = torch.as_tensor(known.X, dtype=torch.float32)
    batch = Batches(Dense(x, torch.device("cpu")), known.votes).batch(torch.arange(len(x)))
    with torch.no_grad():
        said = method.log_prior(batch)
        alone = torch.stack([m(x).log_softmax(dim=-1) for m in method.net.members])
    torch.testing.assert_close(said, alone[method.fold, torch.arange(len(x))])


def test_predictions_and_posteriors_are_calibrated_and_better_than_the_votes():
    known = make_known(tasks=900, noise=0.7, seed=2)
    model = CrowdClassifier("mlp", "mutual", epochs=40, lr=0.005).fit(known.X[:600], _first(known.votes, 600))
    probs = model.predict_proba(known.X[600:])
    majority = (known.votes.tally().argmax(axis=1) == known.truth)[:600].mean()
    assert (model.posterior_.argmax(axis=1) == known.truth[:600]).mean() > majority
    assert metrics.ece(known.truth[600:], probs) < 0.1
    assert metrics.ece(known.truth[:600], model.posterior_) < 0.1


def _first(votes, tasks):
    from dataclasses import replace

    return replace(votes.take(votes.task < tasks), tasks=votes.tasks[:tasks])


def test_one_network_alone_is_refused(known):
    with pytest.raises(ValueError, match="members is 1"):
        Mutual(nn.Linear(6, 3), known.votes, members=1)


def test_confusions_that_all_share_are_learned_from_all(known):
    """A worker without votes has the confusion matrix of the crowd."""
    votes = known.votes.take(known.votes.worker != 0)
    method = Mutual(nn.Linear(6, 3), votes)
    others = np.asarray(method.confusion()[1:].mean(dim=0))
    np.testing.assert_allclose(method.confusion()[0], others, atol=0.1)
