"""Matrix scaling: every class may speak for and against every other, by ratios alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.calibration.maps.dirichlet import Dirichlet


@dataclass(frozen=True, kw_only=True)
class Matrix(Dirichlet):
    """softmax(W z + b), where z are the logits: the logarithms of p less their mean.

    Logits are known from probabilities up to one number for each task; with a mean of zero, only the
    ratios of the probabilities count. Dirichlet calibration also uses how small the product of all
    of them is. Parameters are those of `Dirichlet`.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017; held at
    zero off the diagonal as by Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> said = np.repeat([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]], 10, axis=0)
    >>> truth = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2] + [0, 1, 1, 1, 1, 1, 1, 1, 1, 2]
    >>> map = Matrix(strength=0, off_diagonal=0).fit(said, truth)
    >>> map(said)[[0, 10]].round(3).tolist()
    [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]
    """

    name: ClassVar[str] = "matrix"
    aliases: ClassVar[tuple[str, ...]] = ("matrix_scaling", "ms_odir")
    centred: ClassVar[bool] = True
