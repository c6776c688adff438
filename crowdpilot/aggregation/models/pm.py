"""PM (conflict resolution on heterogeneous data): weight of a worker by the log of their error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.truth_discovery import TruthDiscovery, expect_positive
from crowdpilot.arrays import Floats


@dataclass(frozen=True)
class PM(TruthDiscovery):
    """The label with most weight wins; the weight of a worker is minus the log of their error rate.

    weight[j] = -log((errors[j] + smoothing) / (votes[j] + 2 smoothing)),

    where an error is a vote against the winning label, and both are computed in turns. The papers
    divide by the errors of the worst worker; here it is by those of one who is always wrong, so
    that the vote of the worst worker still decides where it is the only one. The probabilities
    are shares of the weight.

    Parameters
    ----------
    smoothing
        Pseudo-counts of errors and of right votes of each worker.

    References
    ----------
    Li, Li, Gao, Zhao, Fan and Han, Resolving conflicts in heterogeneous data by truth discovery
    and source reliability estimation, SIGMOD 2014. https://doi.org/10.1145/2588555.2610509
    Aydin, Yilmaz, Li, Li, Gao and Demirbas, Crowdsourcing for multiple-choice question answering,
    AAAI 2014.

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> votes = Votes.of([1, 1, 1, 2, 2, 2], list("xyzxyz"), list("aabbbb"))
    >>> PM().fit(votes).params["weight"].round(2).tolist()
    [1.79, 1.79, 0.69]
    """

    smoothing: float = 0.5

    name: ClassVar[str] = "pm"
    aliases: ClassVar[tuple[str, ...]] = ("crh",)

    def __post_init__(self) -> None:
        expect_positive(self, "smoothing", "max_iter")

    def worker_weights(self, errors: Floats, vote_weight: Floats) -> Floats:
        weight: Floats = np.log(vote_weight + 2 * self.smoothing) - np.log(errors + self.smoothing)
        return weight
