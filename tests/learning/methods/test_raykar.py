from __future__ import annotations

import numpy as np
import torch
from torch import nn

from crowdpilot.aggregation import DawidSkene
from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.methods.raykar import Raykar


class Silent(nn.Module):
    """A network that says nothing of any task."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return (self.weight * 0).expand(len(x), 3)


def test_with_a_network_that_says_nothing_it_is_dawid_and_skene(known):
    """An independent implementation as the oracle."""
    method = Raykar(Silent(), known.votes, warmup=0)
    for epoch in range(200):
        method.before_epoch(epoch, 200, lambda look: torch.zeros(len(known.X), 3).log_softmax(dim=-1))
    oracle = DawidSkene(prior="uniform", diagonal=0, max_iter=1000, tol=1e-12).fit(known.votes)
    np.testing.assert_allclose(method.target, oracle.probs, atol=1e-4)
    np.testing.assert_allclose(method.confusion(), oracle.params["confusion"], atol=1e-4)


def test_the_network_helps_to_tell_the_classes(known):
    model = CrowdClassifier("linear", "raykar", epochs=30, lr=0.02).fit(known.X, known.votes)
    crowd = DawidSkene().fit(known.votes)
    assert (model.posterior_.argmax(axis=1) == known.truth).mean() > (crowd.codes == known.truth).mean()
