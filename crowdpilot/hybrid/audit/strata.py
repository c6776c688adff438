"""Strata of items with equal cap and similar probability of a loss, and the update of these probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from crowdpilot.arrays import Codes, Floats, sum_by

STRATA_PER_CAP = 24
SHIFT_PRECISION, SLOPE_PRECISION = 1.0, 10.0  # of the Gaussian prior at the model's own probabilities
NEWTON_ITERATIONS = 8
MIN_PROBABILITY = 1e-9


class Strata(NamedTuple):
    """Items of a pool that are drawn and bet on alike."""

    code: Codes  # of each item, (items,)
    size: Floats  # (strata,)
    first: Codes  # an item of each stratum, (strata,)

    def mean(self, values: Floats) -> Floats:
        """Mean over the items of each stratum, (strata,)."""
        means: Floats = sum_by(self.code, values, len(self.size)) / self.size
        return means


def stratify(cap: Floats, probability: Floats) -> Strata:
    """Strata of equal size by probability, for each cap; items of equal probability stay together."""
    names = np.zeros(len(cap), np.int64)
    for number, value in enumerate(np.unique(cap)):
        members = np.flatnonzero(cap == value)
        rank = np.searchsorted(np.sort(probability[members]), probability[members])
        names[members] = number * STRATA_PER_CAP + rank * STRATA_PER_CAP // len(members)
    _, first, code, size = np.unique(names, return_index=True, return_inverse=True, return_counts=True)
    return Strata(code.astype(np.int32), size.astype(np.float64), first.astype(np.int32))


def update_probabilities(probability: Floats, drawn: Floats, lost: Floats) -> Floats:
    """Platt scaling of the model's probabilities by the losses of drawn items, (strata,).

    logit p' = shift + slope logit p, with slope >= 0 and a Gaussian prior at shift 0 and slope 1, fitted by a
    fixed number of damped Newton steps. They need not converge: any probabilities keep the bound valid.

    Parameters
    ----------
    probability
        That an item loses its cap, by the model, (strata,).
    drawn
        Number of items with known loss, (strata,).
    lost
        Their losses, as a multiple of the cap, (strata,).
    """
    x = logit(np.clip(probability, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    design = np.stack([np.ones_like(x), x])
    prior = np.array([0.0, 1.0])
    precision = np.diag([SHIFT_PRECISION, SLOPE_PRECISION])
    at = prior
    for _ in range(NEWTON_ITERATIONS):
        mean = expit(at @ design)
        gradient = design @ (drawn * mean - lost) + precision @ (at - prior)
        hessian = (design * (drawn * mean * (1 - mean))) @ design.T + precision
        step = np.linalg.solve(hessian, gradient)
        at = at - step * min(1.0, 1 / max(float(np.abs(step * [1, 3]).max()), MIN_PROBABILITY))
    updated: Floats = expit(np.array([at[0], max(at[1], 0.0)]) @ design)
    return updated
