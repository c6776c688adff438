"""How much to believe votes and networks beside each other, without knowing the truth."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import logsumexp

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

CELLS = 2**23  # numbers in an array of (votes, classes); of more votes a part is looked at
RATIOS = np.geomspace(0.05, 3, 15)  # of the weight of votes to that of a network
SCALES = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)  # of both


def weigh_votes(votes: Votes, logs: Floats, probs: Floats, counts: Floats) -> float:
    """How much votes should count beside a network, as held-out votes show.

    Each vote is foreseen from the log-probabilities of the network and the other votes on its task,
    P(k) ∝ exp(s·(logs[k] + r·sum of the logs of the votes)); the ratio r with the best log-loss is
    returned, for the best s. The counts of a worker are used without the vote that is foreseen.

    Parameters
    ----------
    votes, logs
        The votes, and what a network that has not seen them says of their tasks.
    probs
        What is believed of the tasks, (tasks, classes).
    counts
        How often each worker gave each label to each class, imaginary votes included.
    """
    votes = _some(votes)
    own = probs[votes.task]
    left = np.log(np.maximum(counts[votes.worker, :, votes.label] - own, 1e-3))
    left -= np.log(counts.sum(axis=2)[votes.worker] - own)
    rows = np.arange(len(votes), dtype=np.int32)
    about = csr_array((np.ones(len(votes)), (votes.task, rows)), (len(votes.tasks), len(votes)))
    others = (about @ left)[votes.task] - left

    def gain(scale: float, ratio: float) -> float:
        joint = scale * (logs[votes.task] + ratio * others)
        return float(np.mean(logsumexp(joint + left, axis=1) - logsumexp(joint, axis=1)))

    gains = [max(gain(scale, ratio) for scale in SCALES) for ratio in RATIOS]
    return float(RATIOS[int(np.argmax(gains))])


def _some(votes: Votes) -> Votes:
    """All votes, or those on every n-th task if they are too many."""
    step = -(-len(votes) * len(votes.classes) // CELLS)
    return votes if step <= 1 else votes.take(votes.task % step == 0)


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
    said, label = logs[agreed], tally[agreed].argmax(axis=1)

    def cost(log_heat: float) -> float:
        logits = np.exp(log_heat) * said
        return float((logsumexp(logits, axis=1) - logits[np.arange(len(said)), label]).mean())

    return float(np.exp(minimize_scalar(cost, bounds=(-3, 3), method="bounded").x))
