"""The saving: how many votes each item needs if all get the same number, for as few errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdpilot.service.demo.crowd import Crowd

MOST = 15  # votes on each item
DRAWS = 20  # of who votes on what


@dataclass(frozen=True)
class Saving:
    """What a campaign needed beside fixed redundancy, in votes for each item.

    Parameters
    ----------
    votes, error
        Of the campaign.
    fixed, fixed_error
        The least number of votes on each item whose majority errs as rarely, and how often it does; if
        no number up to the crowd's size does, the number that errs least.
    reached
        Whether it errs as rarely.
    """

    votes: float
    error: float
    fixed: int
    fixed_error: float
    reached: bool

    @property
    def share(self) -> float:
        """Of the votes that were not needed."""
        return 1 - self.votes / self.fixed


def compare(crowd: Crowd, votes: float, error: float, seed: int = 0) -> Saving:
    """How the same crowd does when every item gets the same number of votes from random members.

    Its errors are a mean over many draws, those of the campaign one draw: half an item is forgiven.
    """
    error_or_half = error + 0.5 / len(crowd.truth)
    errors = [majority_error(crowd, n, seed) for n in range(1, min(MOST, len(crowd)) + 1)]
    good = [n for n, e in enumerate(errors) if e <= error_or_half]
    best = good[0] if good else int(np.argmin(errors))
    return Saving(votes, error, best + 1, errors[best], bool(good))


def majority_error(crowd: Crowd, n: int, seed: int) -> float:
    """How often the majority of `n` random votes is wrong; a tie is decided by lot.

    Examples
    --------
    >>> crowd = Crowd([0, 1] * 300, classes=2, seed=0)
    >>> majority_error(crowd, 9, seed=0) < majority_error(crowd, 1, seed=0)
    True
    """
    rng = np.random.default_rng(seed)
    items = np.arange(len(crowd.truth))
    wrong = 0.0
    for _ in range(DRAWS):
        chosen = rng.random((len(items), len(crowd))).argsort(axis=1)[:, :n]
        tally = np.zeros((len(items), crowd.classes))
        np.add.at(tally, (items[:, None], crowd.says[chosen, items[:, None]]), 1)
        best = tally == tally.max(axis=1, keepdims=True)
        wrong += float(1 - (best[items, crowd.truth] / best.sum(axis=1)).mean())
    return wrong / DRAWS
