"""Losses after votes do not depend on how they are computed."""

import numpy as np

from crowdpilot.hybrid.value import vote_outcomes


def test_the_likelihood_of_one_vote_is_a_column_of_the_confusion_matrix():
    confusion = np.random.default_rng(0).dirichlet(np.ones(6), 5)
    counts = vote_outcomes.enumerate_outcomes(6, 1).counts
    np.testing.assert_array_equal(vote_outcomes.outcome_likelihood(confusion, counts)[:, 1:], confusion)
    np.testing.assert_array_equal(vote_outcomes.outcome_likelihood(confusion, counts)[:, 0], 1)
