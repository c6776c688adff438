from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.arrays import softmax, to_probs
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.learning.training.vote_weight import fit_inverse_temperature, fit_vote_weight
from crowdpilot.votes import Votes


def test_votes_count_more_beside_a_blind_network_than_beside_one_that_sees(known):
    seeing = np.log(to_probs(np.eye(3)[known.truth] + 0.05))
    blind = np.zeros_like(seeing)
    probs = to_probs(known.votes.tally())
    counts = count_labels(known.votes, probs) + 0.5
    assert fit_vote_weight(known.votes, seeing, probs, counts) < fit_vote_weight(
        known.votes, blind, probs, counts
    )


@pytest.mark.parametrize("inverse_temperature", [0.4, 1.0, 2.5])
def test_the_temperature_of_a_network_is_fitted_without_the_truth(inverse_temperature):
    rng = np.random.default_rng(0)
    honest = rng.normal(0, 1.5, (4000, 2))
    truth = (rng.random(4000) < softmax(honest)[:, 1]).astype(int)
    task, worker = np.divmod(np.arange(12000), 3)
    right = rng.random(12000) < 0.95
    votes = Votes.of(task, worker, np.where(right, truth[task], 1 - truth[task]))
    assert fit_inverse_temperature(votes, honest / inverse_temperature) == pytest.approx(
        inverse_temperature, rel=0.1
    )


def test_without_two_votes_on_a_task_logits_stay_as_they_are():
    votes = Votes.of(["a", "b"], ["x", "y"], [0, 1])
    assert fit_inverse_temperature(votes, np.zeros((2, 2))) == 1.0
