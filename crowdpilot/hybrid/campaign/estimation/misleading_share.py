"""Misleading share: the share of misleading items with which a campaign is as sure as experience allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.calibration.experience import CrowdMap, collect_evidence, load_experience
from crowdpilot.votes import Votes

USUAL_SHARE = 0.25  # the median of many crowds
USUAL_LEAST_SHARE = 0.05  # the same of the least share
BEST_TENTH = 1.2816  # standard deviations
LOGIT_SD = 0.5  # of the normal prior of its logit
MAX_SHARE = 0.5
MIN_SHARE = 0.005
MARGIN = 1e-9


class MisleadingShares(NamedTuple):
    """The share of misleading items that is expected, and the least one that experience makes plausible."""

    expected: float = USUAL_SHARE
    least: float = USUAL_LEAST_SHARE


def fit_misleading_share(
    votes: Votes, consensus: Floats, class_prior: Floats, experience: CrowdMap | None = None
) -> MisleadingShares:
    """The shares with which the posterior is as sure of its labels as those of many crowds deserved.

    Experience says how often labels with such votes were right in many crowds, and in this one where
    classes are known (see `crowdpilot.calibration.experience`). It needs all votes at once; with the share
    that reproduces it, by the least cross-entropy, a campaign updates its posterior vote by vote, and knows
    what further votes can change. Experience knows nothing of class shares, and these are uncertain while
    there are few votes: half of the cross-entropy is with the estimated shares, half with equal ones.

    The least share is that of the best tenth of the crowds with such votes. Votes are bought by it: a crowd
    that is thought to be worse than it is would not be asked again, and could never show that it is better.

    Parameters
    ----------
    votes
        Of the crowd, with known classes; every task has votes.
    consensus
        Posterior of the consensus from these votes alone, (tasks, classes).
    class_prior
        (classes,).
    experience
        That of the package if not given.
    """
    label: Codes = consensus.argmax(axis=1).astype(np.int32)
    evidence = collect_evidence(votes.merged, votes.clamp(consensus), label)
    crowd_map = load_experience() if experience is None else experience
    known = np.zeros(len(label), bool) if votes.gold is None else votes.gold >= 0
    if votes.gold is not None and known.any():
        right = (evidence.label == votes.gold)[known].astype(np.float64)
        crowd_map = crowd_map.update(evidence.features[known], right).map
    rows = np.flatnonzero(~known)
    features = evidence.features[rows]
    confidences = crowd_map.confidence(features), crowd_map.in_better_crowds(features, BEST_TENTH)
    equal_prior = np.full(len(class_prior), 1 / len(class_prior))
    both = [(consensus, class_prior), (to_probs(consensus / class_prior), equal_prior)]
    of_label = [(probs[rows, label[rows]], prior[label[rows]]) for probs, prior in both]
    of_consensus, of_prior = (np.concatenate(part) for part in zip(*of_label, strict=True))
    expected, least = (
        match_confidence(np.tile(confidence, 2), of_consensus, of_prior, usual)
        for confidence, usual in zip(confidences, MisleadingShares(), strict=True)
    )
    return MisleadingShares(expected, min(expected, least))


def match_confidence(
    confidence: Floats, consensus: Floats, prior: Floats, usual: float = USUAL_SHARE
) -> float:
    """The share s with the least cross-entropy between given and (1 - s) consensus + s prior confidences.

    Parameters
    ----------
    confidence
        P(label is right) by experience, (tasks,).
    consensus, prior
        Probability of the label by the consensus, and before any vote, (tasks,).
    usual
        The median of its prior.
    """

    def loss(at: float) -> float:
        s = expit(at)
        probs = np.clip((1 - s) * consensus + s * prior, MARGIN, 1 - MARGIN)
        cross_entropy = -(confidence * np.log(probs) + (1 - confidence) * np.log(1 - probs)).sum()
        return float(cross_entropy + ((at - logit(usual)) / LOGIT_SD) ** 2 / 2)

    bounds = logit(MIN_SHARE), logit(MAX_SHARE)
    return float(expit(minimize_scalar(loss, bounds=bounds, method="bounded").x))
