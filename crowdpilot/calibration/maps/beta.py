"""Beta calibration (Kull et al. 2017): a logistic curve of log p and log(1 - p) for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.calibration.one_vs_rest import OneVsRest


@dataclass(frozen=True, kw_only=True)
class Beta(OneVsRest):
    """logistic(a log p - b log(1 - p) + c) with a and b of 0 or more.

    It is exact if the probabilities of a class are beta distributed among tasks of the class, and among
    the rest. The identity is a = b = 1, c = 0.

    References
    ----------
    Kull, Silva Filho and Flach, Beta calibration: a well-founded and easily implemented improvement
    on logistic calibration for binary classifiers, AISTATS 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = np.append(rng.beta(2, 3, 5000), rng.beta(4, 2, 5000))  # 4 - 2 and 3 - 2
    >>> map = Beta(strength=0).fit(np.column_stack([1 - p, p]), np.repeat([0, 1], 5000))
    >>> map.coefficients[1, :2].round(1).tolist()
    [2.0, 1.0]
    """

    name: ClassVar[str] = "beta"
    parameter_index: ClassVar[tuple[int, int, int]] = (0, 1, 2)
    lower_bounds: ClassVar[tuple[float, ...]] = (0, 0, -np.inf)
