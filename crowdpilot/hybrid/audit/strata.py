"""Items in strata of equal cap and like chance of a loss, and chances learnt from audited items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from crowdpilot.arrays import Codes, Floats, sum_by

BANDS = 24  # of chances, for each cap
SHIFT, SLOPE = 1.0, 10.0  # how firmly the model's own chances are held to
ROUNDS = 8
CLOSE = 1e-9


class Strata(NamedTuple):
    """Items of a pool that are drawn and bet on alike."""

    code: Codes  # (items,)
    size: Floats  # (strata,)
    first: Codes  # an item of each stratum

    def mean(self, values: Floats) -> Floats:
        """Of each stratum, (strata,)."""
        means: Floats = sum_by(self.code, values, len(self.size)) / self.size
        return means


def stratify(cap: Floats, chance: Floats) -> Strata:
    """Bands of equal size by chance, for each cap; items of equal chance stay together."""
    names = np.zeros(len(cap), np.int64)
    for number, level in enumerate(np.unique(cap)):
        members = np.flatnonzero(cap == level)
        rank = np.searchsorted(np.sort(chance[members]), chance[members])
        names[members] = number * BANDS + rank * BANDS // len(members)
    _, first, code, size = np.unique(names, return_index=True, return_inverse=True, return_counts=True)
    return Strata(code.astype(np.int32), size.astype(np.float64), first.astype(np.int32))


def learn_chances(chance: Floats, drawn: Floats, lost: Floats) -> Floats:
    """Logistic correction of the chances by what drawn items have lost, with a prior for none.

    Parameters
    ----------
    chance
        That an item loses its cap, by the model, (strata,).
    drawn
        How many items of each stratum are known.
    lost
        What these have lost, in caps.
    """
    x = logit(np.clip(chance, CLOSE, 1 - CLOSE))
    design = np.stack([np.ones_like(x), x])
    prior = np.array([0.0, 1.0])
    firm = np.diag([SHIFT, SLOPE])
    at = prior
    for _ in range(ROUNDS):  # damped Newton steps, which need not settle: any chances will do
        mean = expit(at @ design)
        slope = design @ (drawn * mean - lost) + firm @ (at - prior)
        curve = (design * (drawn * mean * (1 - mean))) @ design.T + firm
        step = np.linalg.solve(curve, slope)
        at = at - step * min(1.0, 1 / max(float(np.abs(step * [1, 3]).max()), CLOSE))
    learnt: Floats = expit(np.array([at[0], max(at[1], 0.0)]) @ design)
    return learnt
