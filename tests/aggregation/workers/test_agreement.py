"""Who meets whom at tasks, and agrees there."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.workers.agreement import add_history, count_agreements, excess, to_pairs
from crowdpilot.votes import Votes


def test_the_agreement_of_two_workers_is_counted_over_their_common_tasks():
    votes = Votes.of([1, 1, 2, 2, 3, 4, 4], list("xyxyxyz"), list("aaabbbb"), weight=[1, 1, 1, 2, 1, 1, 1])
    pairs = to_pairs(count_agreements(votes.merged), 2)
    got = {(i, j): (e, n) for i, j, e, n in zip(*pairs, strict=True)}
    assert got == {
        (0, 1): (excess(1 / 3, 2), 3),
        (1, 0): (excess(1 / 3, 2), 3),
        (1, 2): (1, 1),
        (2, 1): (1, 1),
    }


def test_gold_labels_are_the_votes_of_one_more_worker():
    votes = Votes.of([1, 1, 2], list("xyx"), list("abb"), gold={1: "b", 2: "b"})
    counts = count_agreements(votes)
    np.testing.assert_allclose(counts.shared.toarray(), [[2, 1, 2], [1, 1, 1], [2, 1, 2]])
    np.testing.assert_allclose(counts.agreed.toarray(), [[2, 0, 1], [0, 1, 1], [1, 1, 2]])
    np.testing.assert_allclose(counts.vote_weight, [2, 1, 2])


def test_an_earlier_count_is_added_by_the_names_of_workers():
    old = Votes.of([1, 1, 2, 2], list("yzyz"), list("aabb"))
    new = Votes.of([7, 7], list("xy"), list("ab"))
    history = Aggregate(old, np.full((2, 2), 0.5), np.ones(2), {"counts": count_agreements(old)})
    joined = add_history(new, count_agreements(new), history)
    np.testing.assert_allclose(
        joined.vote_weight, [1, 3, 2, 0]
    )  # x, y, z and the one who knows the gold labels
    np.testing.assert_allclose(
        joined.shared.toarray(), [[1, 1, 0, 0], [1, 3, 2, 0], [0, 2, 2, 0], [0, 0, 0, 0]]
    )


def test_more_pairs_of_workers_than_memory_holds_are_refused():
    crowd = Votes.of(np.zeros(5000, int), np.arange(5000), np.arange(5000) % 2)
    with pytest.raises(ValueError, match="5001 workers share tasks in up to 25000000 pairs"):
        count_agreements(crowd)
