from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.value.crowd_errors import CrowdErrors
from crowdpilot.hybrid.value.vote_value import expected_loss_after, look_ahead

K = 3
RNG = np.random.default_rng(0)
CONFUSION = to_probs(RNG.random((K, K)) + 2 * np.eye(K))
EXPERT = to_probs(RNG.random((K, K)) + 9 * np.eye(K))
ERRORS = RNG.random((K, 4)) * (1 - np.eye(K, 4))
ITEMS = RNG.dirichlet(np.ones(K), 5)  # consensus
PRIORS = RNG.dirichlet(np.ones(K), 5)


def joint(crowd: CrowdErrors, consensus, prior, expert=None):
    """P(consensus, true class) of one item, by definition, given the likelihood of the experts' votes."""
    s = crowd.misleading
    table = consensus[:, None] * ((1 - s) * np.eye(K) + s * prior)
    table = table if expert is None else table * np.exp(expert)
    return table / table.sum()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("by_expert", [False, True])
def test_truth_and_consensus_are_the_margins_of_their_joint_distribution(share, by_expert):
    crowd = CrowdErrors(share)
    expert = np.log(EXPERT[:, [0, 1, 2, 1, 0]].T) if by_expert else None
    truth, consensus = (f(ITEMS, PRIORS, expert) for f in (crowd.truth, crowd.consensus))
    for n in range(len(ITEMS)):
        table = joint(crowd, ITEMS[n], PRIORS[n], None if expert is None else expert[n])
        np.testing.assert_allclose(truth[n], table.sum(axis=0))
        np.testing.assert_allclose(consensus[n], table.sum(axis=1))


@pytest.mark.parametrize("votes", [1, 3])
@pytest.mark.parametrize("by_expert", [False, True])
@pytest.mark.parametrize("own_prior", [False, True])
def test_the_loss_after_votes_of_the_crowd_is_that_by_brute_force(votes, by_expert, own_prior):
    crowd = CrowdErrors(0.3)
    prior = PRIORS if own_prior else PRIORS[0]
    expert = np.log(EXPERT[:, [0, 1, 2, 1, 0]].T) if by_expert else None
    consensus, errors = crowd.consensus(ITEMS, prior, expert), crowd.errors(ERRORS, prior, expert)
    assert errors.ndim == (3 if by_expert or own_prior else 2)
    found = expected_loss_after(consensus, CONFUSION, errors, votes)
    for n in range(len(ITEMS)):
        table = joint(crowd, ITEMS[n], PRIORS[n if own_prior else 0], None if expert is None else expert[n])
        loss = 0.0
        for labels in itertools.product(range(K), repeat=votes):
            of_votes = table * np.prod([CONFUSION[:, label] for label in labels], axis=0)[:, None]
            loss += float((of_votes.sum(axis=0) @ ERRORS).min())
        now = float((table.sum(axis=0) @ ERRORS).min())
        assert loss <= now + 1e-12
        assert found[n] == pytest.approx(loss)


def test_errors_that_differ_between_items_are_kept_apart():
    crowd, each = CrowdErrors(0.4), ERRORS * np.arange(1, 6)[:, None, None]
    together = crowd.errors(each, PRIORS[0])
    for n in range(5):
        np.testing.assert_allclose(together[n], crowd.errors(each[n], PRIORS[0]))


def test_what_is_unknowable_is_not_worth_a_vote_of_the_crowd_but_of_an_expert():
    """The crowd is sure; a third of the loss of a guess is left, which only an expert takes away."""
    crowd, prior, errors = CrowdErrors(0.3), np.full(2, 0.5), 1 - np.eye(2)
    worker, expert = (np.array([[p, 1 - p], [1 - p, p]]) for p in (0.8, 0.99))
    sure = np.array([[0.999, 0.001]])
    assert crowd.truth(sure, prior)[0, 1] > 0.15
    assert look_ahead(sure, worker, crowd.errors(errors, prior))[0] < 0.001
    assert look_ahead(crowd.truth(sure, prior), expert, errors)[0] > 0.13


def test_a_share_of_zero_changes_nothing():
    assert CrowdErrors().errors(ERRORS, PRIORS) is ERRORS
    np.testing.assert_array_equal(CrowdErrors().truth(ITEMS, PRIORS), ITEMS)
