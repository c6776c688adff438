"""Dirichlet calibration: every class may speak for and against every other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.calibration.linear_scaling import Scaling


@dataclass(frozen=True, kw_only=True)
class Dirichlet(Scaling):
    """softmax(W log p + b) with any W: what is right if the probabilities of each class are Dirichlet.

    With n tasks and K classes, the ODIR of the paper with its factors lambda and mu is
    `off_diagonal` = 2 n lambda / (K (K - 1)) and a `strength` of 2 n mu / K on b, 0 on the diagonal.

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    strength
        How firmly the diagonal of W is held at the best temperature and b at 0: the precision of a
        normal prior.
    off_diagonal
        How firmly the rest of W is held at 0.

    References
    ----------
    Kull et al., Beyond temperature scaling: obtaining well-calibrated multiclass probabilities
    with Dirichlet calibration, NeurIPS 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 20000)
    >>> said = np.vstack([rng.dirichlet([4, 1], 20000), rng.dirichlet([1, 2], 20000)])
    >>> map = Dirichlet(strength=0, off_diagonal=0).fit(said, truth)
    >>> (map.weights[0] - map.weights[1]).round(1).tolist()  # 4 - 1 and 1 - 2
    [3.0, -1.0]
    """

    off_diagonal: float = 300.0

    name: ClassVar[str] = "dirichlet"
    aliases: ClassVar[tuple[str, ...]] = ("dir_odir",)

    def tied(self, K: int) -> NDArray[np.intp]:
        return np.arange((K + 1) * K).reshape(K + 1, K)

    def strengths(self, tied: NDArray[np.intp]) -> Floats:
        strengths = np.full(tied.shape, self.off_diagonal)
        strengths[np.diag_indices(tied.shape[1])] = self.strength
        strengths[-1] = self.strength
        return strengths.ravel()
