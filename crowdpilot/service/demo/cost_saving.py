"""Cost saving: votes of a campaign against fixed redundancy, the same number of votes on every item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdpilot.service.demo.crowd import SimulatedCrowd

MAX_FIXED_VOTES = 15  # on each item
DRAWS = 20  # of random workers for each item, over which errors are averaged


@dataclass(frozen=True)
class CostSaving:
    """Votes per item of a campaign, and of the fixed redundancy with as few errors.

    Parameters
    ----------
    votes, error
        Of the campaign.
    fixed, fixed_error
        The smallest number of votes on each item whose majority is wrong as rarely, and its error rate; if no
        number up to the size of the crowd reaches that, the number with the fewest errors.
    reached
        Whether the majority is wrong as rarely.
    """

    votes: float
    error: float
    fixed: int
    fixed_error: float
    reached: bool

    @property
    def share(self) -> float:
        """The share of the votes that was saved."""
        return 1 - self.votes / self.fixed


def compare(crowd: SimulatedCrowd, votes: float, error: float, seed: int = 0) -> CostSaving:
    """Compare a campaign with the same crowd when every item gets the same number of votes.

    The errors of the majority are a mean over many draws, those of the campaign one draw, so that half an
    item more is tolerated.
    """
    tolerated = error + 0.5 / len(crowd.truth)
    errors = [majority_error(crowd, n, seed) for n in range(1, min(MAX_FIXED_VOTES, len(crowd)) + 1)]
    good = [n for n, e in enumerate(errors) if e <= tolerated]
    best = good[0] if good else int(np.argmin(errors))
    return CostSaving(votes, error, best + 1, errors[best], bool(good))


def majority_error(crowd: SimulatedCrowd, n: int, seed: int) -> float:
    """The error rate of the majority of `n` random votes; a tie is shared between its classes.

    Examples
    --------
    >>> crowd = SimulatedCrowd([0, 1] * 300, classes=2, seed=0)
    >>> majority_error(crowd, 9, seed=0) < majority_error(crowd, 1, seed=0)
    True
    """
    rng = np.random.default_rng(seed)
    items = np.arange(len(crowd.truth))
    wrong = 0.0
    for _ in range(DRAWS):
        chosen = rng.random((len(items), len(crowd))).argsort(axis=1)[:, :n]
        tally = np.zeros((len(items), crowd.classes))
        np.add.at(tally, (items[:, None], crowd.answers[chosen, items[:, None]]), 1)
        best = tally == tally.max(axis=1, keepdims=True)
        wrong += float(1 - (best[items, crowd.truth] / best.sum(axis=1)).mean())
    return wrong / DRAWS
