"""CATD: workers weigh as much as their errors are sure to be few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaincinv

from crowdpilot.aggregation.truth_discovery import TruthDiscovery, expect_positive
from crowdpilot.arrays import Floats


@dataclass(frozen=True)
class CATD(TruthDiscovery):
    """The label with most weight wins; a worker who voted little is not trusted with much.

    weight[j] = chi2(quantile, votes[j]) / (errors[j] + smoothing),

    where an error is a vote against the winning label, and both are found in turns. With the
    quantile q of the chi-squared distribution with votes[j] degrees of freedom (at least one),
    the weight is one over the upper end of the 1 - 2q confidence interval for the variance of the
    worker. The probabilities are shares of the weight.

    Parameters
    ----------
    quantile
        The smaller, the less a worker with few votes weighs; the paper takes 0.025.
    smoothing
        Imaginary errors of each worker, so that nobody weighs infinitely much.

    References
    ----------
    Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han, A confidence-aware approach for truth discovery
    on long-tail data, PVLDB 8(4), 2014. https://doi.org/10.14778/2735496.2735505

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> votes = Votes.of([1, 1, 1, 2, 2, 2], list("xyzxyz"), list("aabbbb"))
    >>> result = CATD().fit(votes)
    >>> result.labels.tolist()
    ['a', 'b']
    >>> result.params["weight"].round(2).tolist()
    [0.51, 0.51, 0.05]
    """

    quantile: float = 0.025
    smoothing: float = 0.1

    name: ClassVar[str] = "catd"

    def __post_init__(self) -> None:
        expect_positive(self, "smoothing", "max_iter")
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile of catd is {self.quantile}, expected a number between 0 and 1")

    def weigh(self, errors: Floats, voted: Floats) -> Floats:
        freedom = np.maximum(voted, 1)
        chi2 = 2 * gammaincinv(freedom / 2, self.quantile)  # scipy.stats takes long to import
        return np.asarray(chi2 / (errors + self.smoothing), np.float64)
