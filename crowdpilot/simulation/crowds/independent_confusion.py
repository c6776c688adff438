"""Every worker errs in a way of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from crowdpilot.simulation.base import POSITIVE, Crowd, Limits, Plan
from crowdpilot.simulation.confusion_matrices import draw_matrices, favour_diagonal


@dataclass(frozen=True, kw_only=True)
class IndependentConfusion(Crowd):
    """Every worker has a confusion matrix of their own, most likely right in every class.

    Parameters
    ----------
    concentration
        Of the Dirichlet law of the rows, whose largest value is then swapped onto the diagonal;
        small values make most rows nearly certain.

    References
    ----------
    Lefort et al., Peerannot: learning from crowdsourced image datasets with Python, 2023.

    Examples
    --------
    >>> votes, truth = IndependentConfusion(n_task=200, n_worker=30, K=5, feedback=10).run()
    >>> votes
    Votes(2000 votes, 200 tasks, 30 workers, 5 classes)
    """

    concentration: float = 1.0

    name: ClassVar[str] = "independent-confusion"
    limits: ClassVar[Limits] = {**Crowd.limits, "concentration": POSITIVE}

    def plan(self, rng: Generator) -> Plan:
        given = self.matrices(self.n_worker)
        if given is not None:
            return Plan(given)
        return Plan(favour_diagonal(draw_matrices(self.n_worker, self.K, self.concentration, rng)))
