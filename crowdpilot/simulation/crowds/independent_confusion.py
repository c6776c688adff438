"""Independent confusion: a random confusion matrix for each worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from crowdpilot.simulation.base import POSITIVE, Crowd, CrowdDesign, Limits
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
    >>> votes, truth = IndependentConfusion(tasks=200, workers=30, classes=5, votes_per_task=10).run()
    >>> votes
    Votes(2000 votes, 200 tasks, 30 workers, 5 classes)
    """

    concentration: float = 1.0

    name: ClassVar[str] = "independent-confusion"
    limits: ClassVar[Limits] = {**Crowd.limits, "concentration": POSITIVE}

    def draw_design(self, rng: Generator) -> CrowdDesign:
        from_file = self.matrices(self.workers)
        if from_file is not None:
            return CrowdDesign(from_file)
        return CrowdDesign(
            favour_diagonal(draw_matrices(self.workers, self.classes, self.concentration, rng))
        )
