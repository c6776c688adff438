"""Class priors that are given: one probability for each class, or equal ones."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats


def fixed_prior(prior: object, K: int) -> Floats:
    """Probability of each class as given: one number for each, or equal ones for "uniform" and None."""
    if prior is None or prior == "uniform":
        return np.full(K, 1 / K)
    probs = np.asarray(prior, np.float64) if isinstance(prior, (tuple, list)) else np.zeros(0)
    if len(probs) != K or (probs <= 0).any() or abs(probs.sum() - 1) > 1e-6:
        raise ValueError(
            f"the class prior is {prior!r}, expected {K} positive numbers that sum to 1, or 'uniform'"
        )
    return probs
