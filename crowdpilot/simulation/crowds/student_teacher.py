"""Student-teacher: students have the confusion matrix of a teacher, so that mistakes are correlated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from crowdpilot.simulation.base import POSITIVE, SHARE, Crowd, CrowdDesign, Limits
from crowdpilot.simulation.confusion_matrices import draw_matrices, favour_diagonal


@dataclass(frozen=True, kw_only=True)
class StudentTeacher(Crowd):
    """Students have the confusion matrix of a teacher drawn at random, so that mistakes are alike.

    Parameters
    ----------
    ratio
        Share of the workers who are students; they come last.
    concentration
        Of the Dirichlet law of the rows of the teachers' matrices, whose largest value is then
        swapped onto the diagonal; small values make most rows nearly certain.

    References
    ----------
    Lefort et al., Peerannot: learning from crowdsourced image datasets with Python, 2023.

    Examples
    --------
    >>> simulation = StudentTeacher(workers=5, ratio=0.6, seed=1).run()
    >>> simulation.teacher.tolist()
    [0, 1, 0, 0, 0]
    """

    ratio: float = 0.8
    concentration: float = 1.0

    name: ClassVar[str] = "student-teacher"
    limits: ClassVar[Limits] = {
        **Crowd.limits,
        "ratio": SHARE,
        "concentration": POSITIVE,
    }

    def draw_design(self, rng: Generator) -> CrowdDesign:
        students = round(self.ratio * self.workers)
        teachers = self.workers - students
        if teachers == 0:
            raise ValueError(f"all {students} workers are students, expected a teacher: lower ratio")
        own = self.matrices(teachers)
        if own is None:
            own = favour_diagonal(draw_matrices(teachers, self.classes, self.concentration, rng))
        teacher = np.concatenate([np.arange(teachers), rng.integers(teachers, size=students)])
        return CrowdDesign(own[teacher], teacher=teacher.astype(np.int32))
