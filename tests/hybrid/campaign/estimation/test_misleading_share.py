from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.arrays import softmax
from crowdpilot.calibration.experience import FEATURES, CrowdMap
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.hybrid.campaign.estimation.misleading_share import (
    MAX_SHARE,
    MIN_SHARE,
    fit_misleading_share,
    match_confidence,
)
from crowdpilot.votes import Votes

EQUAL = np.full(2, 0.5)


def crowd(misleading, items=600, votes_a_task=5):
    """Votes by workers of accuracy 0.8 on the consensus, which is wrong on half of the misleading items."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=items)
    consensus = np.where(rng.random(items) < misleading, rng.integers(2, size=items), truth)
    task = np.repeat(np.arange(items, dtype=np.int32), votes_a_task)
    worker = rng.random((items, 20)).argsort(axis=1)[:, :votes_a_task].ravel().astype(np.int32)
    label = np.where(rng.random(len(task)) < 0.8, consensus[task], 1 - consensus[task]).astype(np.int32)
    return Votes(task, worker, label, np.arange(items), np.arange(20), np.arange(2)), truth


def consensus_of(votes):
    confusion = np.tile([[0.8, 0.2], [0.2, 0.8]], (20, 1, 1))
    return softmax(votes_log_likelihood(votes, np.log(confusion)))


def experience(shift: float = 0.0) -> CrowdMap:
    """Of crowds whose labels are right more often by `shift` on the scale of log-odds."""
    return CrowdMap(np.array([0.6 + shift, *np.full(len(FEATURES) - 1, 0.4)]), 0.2 * np.eye(len(FEATURES)))


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_the_share_of_given_confidences_is_found(share):
    consensus = np.random.default_rng(0).uniform(0.5, 1, 3000)
    confidence = (1 - share) * consensus + share * 0.5
    assert match_confidence(confidence, consensus, np.full(3000, 0.5)) == pytest.approx(share, abs=0.02)


def test_the_share_stays_within_bounds():
    sure = np.full(500, 0.999)
    assert match_confidence(np.full(500, 0.5), sure, np.full(500, 0.5)) == pytest.approx(MAX_SHARE, abs=0.01)
    assert MIN_SHARE <= match_confidence(sure, sure, np.full(500, 0.5)) < 0.05


def test_crowds_that_erred_more_make_the_share_larger():
    votes, _ = crowd(0.2)
    consensus = consensus_of(votes)
    shares = [fit_misleading_share(votes, consensus, EQUAL, experience(x)) for x in (-1.0, 0.0, 1.0)]
    assert shares[0].expected > shares[1].expected > shares[2].expected
    assert shares[0].least > shares[1].least > shares[2].least
    assert all(share.least < share.expected for share in shares)


def test_known_classes_move_the_share_to_that_of_this_crowd():
    without, found = [], []
    for misleading in (0.0, 0.45):
        votes, truth = crowd(misleading)
        gold = np.where(np.arange(len(truth)) < 200, truth, -1).astype(np.int32)
        consensus = consensus_of(votes)
        without.append(fit_misleading_share(votes, consensus, EQUAL, experience()).expected)
        known = fit_misleading_share(replace(votes, gold=gold), consensus, EQUAL, experience())
        found.append(known.expected)
        assert known.expected - known.least < 0.12  # there is little doubt left
    assert without[0] == pytest.approx(without[1], abs=0.05)  # votes alone cannot tell
    assert found == pytest.approx([0.0, 0.45], abs=0.1)


def test_the_order_of_the_votes_does_not_matter():
    votes, _ = crowd(0.2)
    shuffled = votes.take(np.random.default_rng(1).permutation(len(votes)))
    shares = [fit_misleading_share(v, consensus_of(votes), EQUAL) for v in (votes, shuffled)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-9)
