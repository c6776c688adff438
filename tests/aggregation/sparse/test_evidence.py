"""Evidence by one skill for each worker: equal to a slow and plain computation."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from crowdpilot.aggregation import OneCoin
from crowdpilot.aggregation.sparse.evidence import collect_sparse_evidence
from crowdpilot.votes import Votes
from tests.crowds import next_class_votes


def some_votes(K: int, *, gold: bool = False, weights: bool = False) -> Votes:
    votes, truth = next_class_votes(tasks=20, workers=5, classes=K, votes=70, seed=K)
    votes = votes.take(votes.task != 19)
    if gold:
        votes = replace(votes, gold=np.where(np.arange(20) % 4 == 0, truth, -1))
    if weights:
        votes = replace(votes, weight=np.random.default_rng(1).uniform(0.2, 2, len(votes)))
    return votes.merged


@pytest.mark.parametrize("K", [2, 3, 12])
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_features_are_those_of_the_definition(K, gold, weights):
    votes = some_votes(K, gold=gold, weights=weights)
    result = OneCoin().fit(votes)
    P, truth = result.probs, [-1] * 20 if votes.gold is None else votes.gold.tolist()
    found = collect_sparse_evidence(votes, P, result.codes, np.full(K, 1 / K))
    rows = [(int(t), int(w), int(k), float(x)) for t, w, k, x in
            zip(votes.task, votes.worker, votes.label, votes.weights, strict=True)]  # fmt: skip
    n = [sum(x for t, _, _, x in rows if t == task) for task in range(20)]
    confirmed = [1.0 if truth[t] >= 0 else max(n[t] - 1, 0) / max(n[t], 1) for t in range(20)]
    right = [sum(x * confirmed[t] * P[t, k] for t, v, k, x in rows if v == w) for w in range(5)]
    total = [sum(x * confirmed[t] for t, v, _, x in rows if v == w) for w in range(5)]
    pooled = (sum(right) + 7) / (sum(total) + 10)
    squares = 0.0
    for r, m in zip(right, total, strict=True):
        skill = (r + 2 * pooled) / (m + 2)
        off = (skill - pooled) / (K - 1)  # of each wrong class, with the other sign
        squares += m * ((skill - pooled) ** 2 + (K - 1) * off**2) / 2
    variation = sqrt(squares / sum(total))
    assert found.evidence.variation == pytest.approx(variation)
    for task in range(19):
        summed, pool = [0.0] * K, [0.3 / K] * K
        for t, w, k, x in rows:
            if t == task:
                own = x * confirmed[t]
                skill = (right[w] - own * P[t, k] + 6 * pooled) / (total[w] - own + 6)
                for c in range(K):
                    alone = skill if c == k else (1 - skill) / (K - 1)
                    summed[c] += x * log(alone)
                    pool[c] += x * alone
        label = int(np.argmax(summed)) if truth[task] >= 0 else int(result.codes[task])
        assert found.evidence.label[task] == label
        tempered = [exp(s / (1 + max(n[task] - 1, 0) * 0.1)) for s in summed]
        second = max(P[task, c] for c in range(K) if c != label)
        margin = 1.0 if truth[task] >= 0 else max(P[task, label] - second, 0)
        expected = [
            min(margin / 0.05, 1),
            min(log(tempered[label] / (sum(tempered) - tempered[label])), 12) * variation / 0.2,
            log(pool[label] / (sum(pool) - pool[label])),
        ]
        np.testing.assert_allclose(found.evidence.features[task], expected, atol=1e-9)
        listed = found.candidates.task == task
        shares = np.array(pool) / sum(pool)
        np.testing.assert_allclose(found.pool[listed], shares[found.candidates.label[listed]])
        unlisted = np.setdiff1d(np.arange(K), found.candidates.label[listed])
        np.testing.assert_allclose(found.unlisted_pool[task], shares[unlisted])
