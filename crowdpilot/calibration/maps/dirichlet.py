"""Dirichlet calibration (Kull et al. 2019): softmax(W log p + b) with a full matrix W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.calibration.linear_scaling import LinearScaling


@dataclass(frozen=True, kw_only=True)
class Dirichlet(LinearScaling):
    """softmax(W log p + b) with any W; exact if the probabilities are Dirichlet distributed given the class.

    With n tasks and K classes, the ODIR of the paper with its factors lambda and mu is
    `off_diagonal` = 2 n lambda / (K (K - 1)) and a `strength` of 2 n mu / K on b, 0 on the diagonal.

    Parameters
    ----------
    strength
        Precision of the normal prior of the diagonal of W around the best inverse temperature, and of b
        around 0.
    off_diagonal
        Precision of the normal prior of the other entries of W around 0.

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

    def parameter_index(self, K: int) -> NDArray[np.intp]:
        return np.arange((K + 1) * K).reshape(K + 1, K)

    def precisions(self, index: NDArray[np.intp]) -> Floats:
        precisions = np.full(index.shape, self.off_diagonal)
        precisions[np.diag_indices(index.shape[1])] = self.strength
        precisions[-1] = self.strength
        return precisions.ravel()
