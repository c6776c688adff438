"""Weight of votes beside a network, and the network's temperature, both fitted without true labels."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats, softmax
from crowdpilot.calibration import fit_fusion_on_votes
from crowdpilot.calibration.cross_entropy import fit_inverse_temperature as fit_to_targets
from crowdpilot.votes import Votes

MAX_FUSION_WEIGHT = 3.0  # of network and crowd: a network that has hardly begun to learn is sharpened no more
MIN_VOTE_WEIGHT, MAX_VOTE_WEIGHT = 0.05, 3.0  # of votes relative to a network


def fit_vote_weight(votes: Votes, log_probs: Floats, posterior: Floats, counts: Floats) -> float:
    """The weight of votes relative to a network's predictions that predicts held-out votes best.

    It is 1 if there is one class alone, which every vote is for.

    Parameters
    ----------
    votes, log_probs
        The votes, and a network's log-probabilities of their tasks, (tasks, classes); the network must
        not have seen these votes.
    posterior
        Of the tasks, (tasks, classes).
    counts
        How often each worker gave each label to each class, pseudo-counts included, (workers, true, said).
    """
    if len(votes.classes) == 1:
        return 1.0
    fusion = fit_fusion_on_votes(
        softmax(log_probs), votes, posterior, counts=counts, max_weight=MAX_FUSION_WEIGHT
    )
    return float(np.clip(fusion.crowd / max(fusion.classifier, 1e-9), MIN_VOTE_WEIGHT, MAX_VOTE_WEIGHT))


def fit_inverse_temperature(votes: Votes, log_probs: Floats) -> float:
    """1 / T of temperature scaling, fitted to the labels of unanimous tasks; 1 if there are none.

    Where two or more workers voted and all agree, they are nearly always right, so that their label
    serves as the true one. `log_probs`, (tasks, classes), are of a network that has not seen the votes.
    """
    tally = votes.tally()
    unanimous = tally.max(axis=1) == tally.sum(axis=1)
    unanimous &= np.bincount(votes.task, minlength=len(tally)) > 1
    if not unanimous.any():
        return 1.0
    label = np.eye(tally.shape[1])[tally[unanimous].argmax(axis=1)]
    return fit_to_targets(log_probs[unanimous], label, np.ones(len(label)))
