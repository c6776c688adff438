"""CATD, confidence-aware truth discovery: weights by an upper confidence bound of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaincinv

from crowdpilot.aggregation.truth_discovery import TruthDiscovery, expect_positive
from crowdpilot.arrays import Floats


@dataclass(frozen=True)
class CATD(TruthDiscovery):
    """The label with most weight wins; a worker with few votes has a small weight.

    weight[j] = chi2(quantile, votes[j]) / (errors[j] + smoothing),

    where an error is a vote against the winning label, and both are computed in turns. With the
    quantile q of the chi-squared distribution with votes[j] degrees of freedom (at least one),
    the weight is one over the upper end of the 1 - 2q confidence interval for the variance of the
    worker. The probabilities are shares of the weight.

    Parameters
    ----------
    quantile
        The smaller, the smaller the weight of a worker with few votes; 0.025 in the paper.
    smoothing
        Pseudo-count of errors of each worker, so that no weight is infinite.

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

    def worker_weights(self, errors: Floats, vote_weight: Floats) -> Floats:
        freedom = np.maximum(vote_weight, 1)
        chi2 = 2 * gammaincinv(freedom / 2, self.quantile)  # scipy.stats takes long to import
        return np.asarray(chi2 / (errors + self.smoothing), np.float64)
