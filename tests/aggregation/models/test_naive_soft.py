"""The share of each label among the votes."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.naive_soft import NaiveSoft
from crowdpilot.votes import Votes


def test_probabilities_are_shares_and_uniform_without_votes():
    votes = Votes.of([1, 1, 1, 1, 2], list("wxyzw"), list("abbca"), tasks=[1, 2, 3])
    expected = [[0.25, 0.5, 0.25], [1, 0, 0], [1 / 3] * 3]
    np.testing.assert_allclose(NaiveSoft().fit(votes).probs, expected)


def test_weights_count_and_gold_is_certain():
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"), weight=[3, 1, 1, 1], gold={2: "b"})
    result = NaiveSoft().fit(votes)
    np.testing.assert_allclose(result.probs, [[0.75, 0.25], [0, 1]])
    np.testing.assert_allclose(result.skill, [3 * 0.75 / 4, 1.25 / 2])


def test_history_and_start_are_refused():
    votes = Votes.of([1, 1], list("xy"), list("ab"))
    result = NaiveSoft().fit(votes)
    with pytest.raises(ValueError, match="naive_soft cannot use the history"):
        NaiveSoft().fit(votes, history=result)
    with pytest.raises(ValueError, match="naive_soft is not iterative"):
        NaiveSoft().fit(votes, start=result)
