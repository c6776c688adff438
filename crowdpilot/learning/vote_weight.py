"""How much to believe votes and networks beside each other, without knowing the truth."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats, softmax
from crowdpilot.calibration import fit_fusion_on_votes
from crowdpilot.calibration.cross_entropy import slope
from crowdpilot.votes import Votes

MOST = 3.0  # a network that has hardly begun to learn is made no surer than this
RATIOS = (0.05, 3.0)  # least and most of the weight of votes to that of a network


def weigh_votes(votes: Votes, logs: Floats, probs: Floats, counts: Floats) -> float:
    """How much votes should count beside a network, as held-out votes show.

    Parameters
    ----------
    votes, logs
        The votes, and what a network that has not seen them says of their tasks.
    probs
        What is believed of the tasks, (tasks, classes).
    counts
        How often each worker gave each label to each class, imaginary votes included.
    """
    fusion = fit_fusion_on_votes(softmax(logs), votes, probs, counts=counts, most=MOST)
    return float(np.clip(fusion.crowd / max(fusion.machine, 1e-9), *RATIOS))


def find_heat(votes: Votes, logs: Floats) -> float:
    """The factor of logits that makes a network's probabilities honest, as unanimous tasks show.

    Where two or more workers voted and all agree, they are nearly always right: a network that has
    not seen the votes should be about as sure of their label as it is often right.
    """
    tally = votes.tally()
    agreed = tally.max(axis=1) == tally.sum(axis=1)
    agreed &= np.bincount(votes.task, minlength=len(tally)) > 1
    if not agreed.any():
        return 1.0
    label = np.eye(tally.shape[1])[tally[agreed].argmax(axis=1)]
    return slope(logs[agreed], label, np.ones(len(label)))
