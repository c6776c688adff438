"""Vector scaling (Guo et al. 2017): a slope and an intercept of log p for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.calibration.linear_scaling import LinearScaling


@dataclass(frozen=True, kw_only=True)
class Vector(LinearScaling):
    """softmax(w * log p + b), with w and b (classes,).

    `strength` is the precision of the normal prior of w around the best inverse temperature, and of b
    around 0.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> said = np.array([[0.5, 0.25, 0.25]] * 100)  # the second class is twice as frequent
    >>> map = Vector(strength=0).fit(said, [0] * 40 + [1] * 40 + [2] * 20)
    >>> map(said)[0].round(3).tolist()
    [0.4, 0.4, 0.2]
    """

    name: ClassVar[str] = "vector"
    aliases: ClassVar[tuple[str, ...]] = ("vector_scaling", "vs")

    def parameter_index(self, K: int) -> NDArray[np.intp]:
        own = np.where(np.eye(K, dtype=bool), np.arange(K), -1)
        return np.vstack([own, np.arange(K, 2 * K)])
