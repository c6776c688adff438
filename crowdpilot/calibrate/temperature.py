"""Temperature scaling: one number makes all probabilities bolder or more modest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.calibrate.scaling import Scaling


@dataclass(frozen=True, kw_only=True)
class Temperature(Scaling):
    """softmax(log p / T): the most probable class stays what it was.

    `strength` holds 1 / T at 1; T is at most 100.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> said = np.array([[0.99, 0.01]] * 10)  # right 8 times of 10
    >>> map = Temperature(strength=0).fit(said, [0] * 8 + [1] * 2)
    >>> map(said)[0].round(3).tolist()
    [0.8, 0.2]
    """

    name: ClassVar[str] = "temperature"
    aliases: ClassVar[tuple[str, ...]] = ("ts",)
    lowest: ClassVar[float] = 0.01

    def tied(self, K: int) -> NDArray[np.intp]:
        return np.eye(K + 1, K, dtype=np.intp) - 1
