"""Crowd errors: votes show the consensus of the crowd, which on misleading items says nothing of the truth.

The errors of workers on one item are not independent. On a share of the items, the misleading ones, the
consensus y of the crowd is independent of the true class z, however many are asked:

    P(z | y) = (1 - misleading) [z = y] + misleading P(z before any vote).

So a vote cannot tell more than y, and there is a loss that no vote of the crowd can take away. Experts
are not misled: what they say depends on the true class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.hybrid.value.vote_outcomes import risk


@dataclass(frozen=True)
class CrowdErrors:
    """How far the errors of a crowd on one item are shared.

    Parameters
    ----------
    misleading
        Share of the items whose true class is independent of what the crowd sees in them.

    Examples
    --------
    >>> crowd, prior = CrowdErrors(misleading=0.1), np.array([0.5, 0.5])
    >>> crowd.truth(np.array([[1.0, 0.0]]), prior).round(2).tolist()
    [[0.95, 0.05]]
    >>> crowd.truth(np.array([[1.0, 0.0]]), prior, expert=np.log([[0.03, 0.97]])).round(2).tolist()
    [[0.37, 0.63]]
    """

    misleading: float = 0.0

    def truth(self, consensus: Floats, prior: Floats, expert: Floats | None = None) -> Floats:
        """Posterior of the true class, (items, classes).

        Parameters
        ----------
        consensus
            Posterior of the consensus from classifier and crowd, (items, classes).
        prior
            Of the true class before any vote, (classes,) or (items, classes).
        expert
            Log-likelihood of the votes of experts, (items, classes), if there are any.
        """
        probs: Floats = (1 - self.misleading) * consensus + self.misleading * prior
        return probs if expert is None else to_probs(probs * _relative(expert))

    def consensus(self, consensus: Floats, prior: Floats, expert: Floats | None = None) -> Floats:
        """Posterior of the consensus given the votes of experts too, (items, classes)."""
        if expert is None:
            return consensus
        likelihood = _relative(expert)
        misled = (prior * likelihood).sum(axis=1, keepdims=True)
        return to_probs(consensus * ((1 - self.misleading) * likelihood + self.misleading * misled))

    def errors(self, errors: Floats, prior: Floats, expert: Floats | None = None) -> Floats:
        """Expected costs by class of the consensus, (classes, decisions) or (items, classes, decisions).

        As costs are linear in the posterior, the value of a vote of the crowd under these costs, from the
        posterior of the consensus, is its value under `errors` from the posterior of the true class.

        Parameters
        ----------
        errors
            By true class, (classes, decisions) or (items, classes, decisions).
        prior, expert
            As for `truth`.
        """
        if not self.misleading:
            return errors
        weighted = self.misleading * (prior if expert is None else prior * _relative(expert))
        misled = risk(np.atleast_2d(weighted), errors)[:, None, :]
        if expert is None:
            mixed: Floats = (1 - self.misleading) * errors + misled
            return mixed[0] if errors.ndim == 2 and prior.ndim == 1 else mixed
        right = (1 - self.misleading) * _relative(expert)[:, :, None]
        by_consensus: Floats = (right * errors + misled) / (right + weighted.sum(axis=1)[:, None, None])
        return by_consensus


def _relative(log_likelihood: Floats) -> Floats:
    """Likelihoods as multiples of the largest of each item."""
    relative: Floats = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    return relative
