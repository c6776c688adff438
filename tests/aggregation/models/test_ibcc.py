"""IBCC: the objective is the evidence lower bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

from crowdpilot.aggregation import IBCC
from crowdpilot.votes import Votes


def test_the_bound_of_one_known_task_is_its_exact_evidence():
    """Votes on tasks of known class leave nothing but Dirichlets: the bound is exact there."""
    votes = Votes.of([1, 2], ["x", "x"], ["a", "a"], classes=["a", "b"], gold={1: "a", 2: "a"})
    result = IBCC(prior="uniform", tol=0).fit(votes)
    evidence = 2 * np.log(0.5) + betaln(2 + 2, 1) - betaln(2, 1)
    assert result.trace[-1] == pytest.approx(evidence)
