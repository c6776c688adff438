"""Matrix scaling (Guo et al. 2017): softmax(W z + b) of centred logits z with a full matrix W."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.calibration.maps.dirichlet import Dirichlet


@dataclass(frozen=True, kw_only=True)
class Matrix(Dirichlet):
    """softmax(W z + b), where z = log p - mean(log p) are the logits.

    Probabilities determine logits up to a constant for each task; with mean zero, only the ratios of the
    probabilities matter. Dirichlet calibration also uses their product. Parameters are those of
    `Dirichlet`.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017;
    off-diagonal regularization (ODIR) as by Kull et al., NeurIPS 2019.

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
