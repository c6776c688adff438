"""Fusion: what a machine says of a task and what the crowd says, as one belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import raised
from crowdpilot.calibration.sample import all_tasks, check_probs
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.votes import Votes

FLOOR = 1e-12  # a probability of a machine counts as at least this
CELLS = 2**23  # numbers in an array of (votes, classes); of more votes a part is looked at
MOST = 10.0  # what machine and crowd may count at most

Cost = Callable[[Floats], tuple[float, Floats]]  # of log-beliefs: its value and its slope


@dataclass(frozen=True)
class Fusion:
    """P(k) ∝ machine_k^a · prior_k^(1 - a) · exp(b · sum over votes of log confusion[worker, k, said]).

    With a = b = 1 this is Bayes' rule with the machine as the prior; a = 0 is the crowd alone. Less
    than one is right for a machine that is too sure, and for votes that err together.

    Parameters
    ----------
    machine, crowd
        a and b.

    References
    ----------
    Kerrigan, Smyth and Steyvers, Combining human predictions with model probabilities via confusion
    matrices and calibration, NeurIPS 2021. https://arxiv.org/abs/2109.14591

    Examples
    --------
    >>> vote = np.log([[0.8, 0.2]])  # of someone who is right in 8 of 10 cases
    >>> Fusion()([[0.4, 0.6]], vote).round(2).tolist()
    [[0.73, 0.27]]
    """

    machine: float = 1.0
    crowd: float = 1.0

    def __call__(self, probs: ArrayLike, heard: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        """What to believe, (tasks, classes).

        Parameters
        ----------
        probs
            What the machine says, (tasks, classes).
        heard
            Log-probability of the votes on each task, were it of each class; see `hear`.
        prior
            Shares of the classes, (classes,); equal ones if not given.
        """
        logs, base = _logs(probs, prior)
        belief: Floats = softmax(
            base + self.machine * (logs - base) + self.crowd * _like(heard, logs), axis=1
        )
        return belief


def fit_fusion(
    probs: ArrayLike,
    heard: ArrayLike,
    target: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Fusion:
    """The fusion with the best log-loss on tasks of known class.

    Parameters
    ----------
    probs, heard, prior
        As for `Fusion`; the machine must not have been trained on these tasks.
    target, weight
        As for `Map.fit`: codes with -1 where unknown, or soft labels.
    """
    logs, base = _logs(probs, prior)
    sample = all_tasks(probs, target, weight)
    known = sample.target * sample.weight[:, None]
    rows = known.sum(axis=1)
    if not rows.any():
        raise ValueError("no task has a known class and a weight, expected at least one")

    def cost(joint: Floats) -> tuple[float, Floats]:
        said = log_softmax(joint, axis=1)
        return -float((known * said).sum() / rows.sum()), (rows[:, None] * np.exp(said) - known) / rows.sum()

    return _best(logs - base, _like(heard, logs), base, cost)


def fit_fusion_on_votes(
    probs: ArrayLike,
    votes: Votes,
    believed: Floats,
    *,
    counts: Floats | None = None,
    prior: ArrayLike | None = None,
    most: float = MOST,
) -> Fusion:
    """The fusion that foresees held-out votes best; nobody needs to know the truth.

    Each vote is foreseen from the machine and the other votes on its task. The confusion matrix of
    its worker is used without that vote.

    Parameters
    ----------
    probs, prior
        As for `Fusion`; the machine must not have seen these votes.
    votes
        Several for most tasks, or there is nothing to learn about votes beside each other.
    believed
        What a model of the workers believes of the tasks, (tasks, classes).
    counts
        How often each worker gave each label to each class, (workers, true, said), imaginary votes
        included; if not given, from what is believed, and half a vote in each cell.
    most
        What machine and crowd may count at most.
    """
    logs, base = _logs(probs, prior)
    if len(logs) != len(votes.tasks):
        raise ValueError(
            f"there are {len(logs)} rows of probabilities, expected a row for each of "
            f"{len(votes.tasks)} tasks"
        )
    if counts is None:
        counts = count_labels(votes, believed) + 0.5
    votes = _some(votes)
    own = believed[votes.task]
    left = np.log(np.maximum(counts[votes.worker, :, votes.label] - own, 1e-3))
    left -= np.log(counts.sum(axis=2)[votes.worker] - own)
    others = _sums(votes, left)[votes.task] - left

    def cost(joint: Floats) -> tuple[float, Floats]:
        before, after = joint, joint + left
        gain = logsumexp(after, axis=1) - logsumexp(before, axis=1)
        return -float(gain.mean()), (softmax(before, axis=1) - softmax(after, axis=1)) / len(joint)

    return _best((logs - base)[votes.task], others, base, cost, most)


def _best(machine: Floats, crowd: Floats, base: Floats, cost: Cost, most: float = MOST) -> Fusion:
    """The two weights of least cost."""

    def objective(weights: Floats) -> tuple[float, Floats]:
        value, slope = cost(base + weights[0] * machine + weights[1] * crowd)
        return value, np.array([(slope * machine).sum(), (slope * crowd).sum()])

    found = minimize(objective, np.ones(2), jac=True, method="L-BFGS-B", bounds=[(0, most)] * 2)
    return Fusion(float(found.x[0]), float(found.x[1]))


def _logs(probs: ArrayLike, prior: ArrayLike | None) -> tuple[Floats, Floats]:
    """Logs of the probabilities, (tasks, classes), and of the prior, (1, classes)."""
    logs = np.log(raised(check_probs(probs), FLOOR))
    K = logs.shape[1]
    shares = np.full((1, K), 1 / K) if prior is None else check_probs(np.asarray(prior)[None], "prior")
    if shares.shape[1] != K:
        raise ValueError(f"the prior has {shares.shape[1]} numbers, expected one for each of {K} classes")
    return logs, np.log(raised(shares, FLOOR))


def _like(heard: ArrayLike, logs: Floats) -> Floats:
    h = np.asarray(heard, np.float64)
    if h.shape != logs.shape:
        raise ValueError(f"the votes are heard for {h.shape} tasks and classes, expected {logs.shape}")
    return h


def _sums(votes: Votes, values: Floats) -> Floats:
    """The sum of the rows of each task's votes, (tasks, classes)."""
    order = np.argsort(votes.task, kind="stable")
    total = np.zeros((len(votes.tasks), values.shape[1]))
    voted, first = np.unique(votes.task[order], return_index=True)
    if len(voted):
        total[voted] = np.add.reduceat(values[order], first)
    return total


def _some(votes: Votes) -> Votes:
    """All votes, or those on every n-th task if they are too many."""
    step = -(-len(votes) * len(votes.classes) // CELLS)
    return votes if step <= 1 else votes.take(votes.task % step == 0)
