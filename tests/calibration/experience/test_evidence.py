"""Evidence for labels: equal to a slow and plain computation, and independent of order and names."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from crowdpilot.aggregation import DawidSkene, MajorityVoting
from crowdpilot.calibration.experience import Evidence, collect_evidence, evidence
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes, partial_votes


def slow_evidence(votes: Votes, posterior: np.ndarray, labels: np.ndarray) -> Evidence:
    """The same numbers by loops over single votes, straight from the definition."""
    T, W, K = len(votes.tasks), len(votes.workers), len(votes.classes)
    rows = [(int(t), int(w), int(k), float(x)) for t, w, k, x in
            zip(votes.task, votes.worker, votes.label, votes.weights, strict=True)]  # fmt: skip
    gold = [-1] * T if votes.gold is None else votes.gold.tolist()
    n = [sum(x for t, _, _, x in rows if t == task) for task in range(T)]
    confirmed = [1.0 if gold[t] >= 0 else (n[t] - 1) / n[t] if n[t] > 1 else 0.0 for t in range(T)]

    def count(worker: int | None, true: int, said: int | None, without: int | None = None) -> float:
        """Expected number of votes of a worker, or of all, without the vote of one row."""
        return sum(
            x * confirmed[t] * posterior[t, true]
            for i, (t, w, k, x) in enumerate(rows)
            if worker in (None, w) and said in (None, k) and i != without
        )

    pooled = np.zeros((K, K))
    for true in range(K):
        for said in range(K):
            usual = 0.7 if true == said else 0.3 / (K - 1)
            pooled[true, said] = (count(None, true, said) + 10 * usual) / (count(None, true, None) + 10)
    squares = total = 0.0
    for w in range(W):
        for true in range(K):
            own = count(w, true, None)
            distance = sum(
                ((count(w, true, said) + 2 * pooled[true, said]) / (own + 2) - pooled[true, said]) ** 2
                for said in range(K)
            )
            squares, total = squares + own * distance / 2, total + own
    variation = sqrt(squares / total) if total else 0.0
    label, features, pools = [], [], []
    for task in range(T):
        summed, pool = [0.0] * K, [0.3 / K] * K
        for i, (t, w, k, x) in enumerate(rows):
            if t != task:
                continue
            likelihood = [
                (count(w, true, k, i) + 6 * pooled[true, k]) / (count(w, true, None, i) + 6)
                for true in range(K)
            ]
            for true in range(K):
                alone = likelihood[true] / sum(likelihood)
                summed[true] += x * log(alone)
                pool[true] += x * alone
        mine = int(labels[task])
        if gold[task] >= 0:
            prior = [log((posterior[:, true].sum() + 1) / (posterior.sum() + K)) for true in range(K)]
            mine = max(range(K), key=lambda true: summed[true] + prior[true])
        effect = 1 + max(n[task] - 1, 0) * 0.1
        tempered = [exp(s / effect) for s in summed]
        second = max(posterior[task, true] for true in range(K) if true != mine)
        margin = 1.0 if gold[task] >= 0 else max(posterior[task, mine] - second, 0)
        others = sum(tempered) - tempered[mine]
        features.append(
            [
                min(margin / 0.05, 1),
                log(tempered[mine] / others) * variation / 0.2,
                log(pool[mine] / (sum(pool) - pool[mine])),
            ]
        )
        label.append(mine)
        pools.append([p / sum(pool) for p in pool])
    return Evidence(np.array(label), np.array(features), np.array(pools), variation)


def some_votes(K: int, *, gold: bool = False, weights: bool = False) -> Votes:
    """Fourteen tasks of which the last has no votes, by five workers."""
    votes, truth = partial_votes(14, [0.9, 0.8, 0.7, 0.5, 0.4], K, 0.6, seed=K)
    votes = votes.take(votes.task != 13)
    if gold:
        votes = replace(votes, gold=np.where(np.arange(14) % 3 == 0, truth, -1))
    if weights:
        votes = replace(votes, weight=np.random.default_rng(1).uniform(0.2, 2, len(votes)))
    return votes.merged


def found(votes: Votes, model=None) -> Evidence:
    result = (model or DawidSkene()).fit(votes)
    return collect_evidence(votes.merged, result.probs, result.codes)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_features_are_those_of_the_definition(K, gold, weights):
    votes = some_votes(K, gold=gold, weights=weights)
    result = DawidSkene().fit(votes)
    mine = collect_evidence(votes, result.probs, result.codes)
    slow = slow_evidence(votes, result.probs, result.codes)
    voted = votes.task_sum() > 0
    np.testing.assert_array_equal(mine.label[voted], slow.label[voted])
    np.testing.assert_allclose(mine.features[voted], slow.features[voted], atol=1e-9)
    np.testing.assert_allclose(mine.pool, slow.pool, atol=1e-12)
    assert mine.variation == pytest.approx(slow.variation)


def test_the_order_of_votes_does_not_matter():
    votes = some_votes(3, gold=True, weights=True)
    shuffled = votes.take(np.random.default_rng(0).permutation(len(votes)))
    np.testing.assert_allclose(found(shuffled).features, found(votes).features, atol=1e-12)


def test_the_names_and_the_order_of_workers_do_not_matter():
    votes = some_votes(3, gold=True)
    new = np.array([3, 0, 4, 1, 2])
    other = replace(votes, worker=new[votes.worker], workers=np.array(list("abcde")))
    np.testing.assert_allclose(found(other).features, found(votes).features, atol=1e-12)


def test_the_order_of_classes_does_not_matter():
    votes = some_votes(3, gold=True)
    result = DawidSkene().fit(votes)
    new = np.array([2, 0, 1])
    other = replace(votes, label=new[votes.label], gold=np.where(votes.gold < 0, -1, new[votes.gold])).merged
    mine = collect_evidence(votes, result.probs, result.codes)
    renamed = collect_evidence(other, result.probs[:, np.argsort(new)], new[result.codes].astype(np.int32))
    np.testing.assert_allclose(renamed.features, mine.features, atol=1e-9)
    np.testing.assert_allclose(renamed.pool[:, new], mine.pool, atol=1e-12)
    np.testing.assert_array_equal(renamed.label, new[mine.label])


def test_two_equal_crowds_side_by_side_have_equal_evidence():
    votes = some_votes(3)
    T, W = len(votes.tasks), len(votes.workers)
    both = Votes(
        np.concatenate([votes.task, votes.task + T]),
        np.concatenate([votes.worker, votes.worker + W]),
        np.tile(votes.label, 2),
        np.arange(2 * T), np.arange(2 * W), votes.classes,
    )  # fmt: skip
    result = MajorityVoting().fit(votes)
    features = collect_evidence(both, np.tile(result.probs, (2, 1)), np.tile(result.codes, 2)).features
    np.testing.assert_allclose(features[:T], features[T:], atol=1e-12)


def test_copies_of_votes_add_a_bounded_amount():
    """Copies of all workers: the pool stays, and the sum of log-likelihoods has its design effect."""
    votes, _ = one_coin_votes(200, [0.9, 0.8, 0.7, 0.6], classes=2, votes_per_task=4, seed=0)
    result = MajorityVoting().fit(votes)
    fields = {}
    for copies in (1, 5, 25, 125):
        many = Votes(
            np.tile(votes.task, copies),
            np.concatenate([votes.worker + 4 * c for c in range(copies)]),
            np.tile(votes.label, copies),
            votes.tasks, np.arange(4 * copies), votes.classes,
        ).merged  # fmt: skip
        fields[copies] = collect_evidence(many, result.probs, result.codes)
    scale = {copies: np.abs(each.features).mean(axis=0) for copies, each in fields.items()}
    assert scale[125][2] < 1.5 * scale[1][2]
    assert scale[125][1] < 1.2 * scale[25][1]
    assert scale[125][1] < 12 * scale[1][1]


def test_chunks_give_what_one_chunk_gives(monkeypatch):
    votes = some_votes(3, gold=True, weights=True)
    whole = found(votes)
    for size in (1, 7, 40):
        monkeypatch.setattr(evidence, "MAX_CHUNK", size)
        parts = found(votes)
        np.testing.assert_allclose(parts.features, whole.features, atol=1e-12)
        np.testing.assert_allclose(parts.pool, whole.pool, atol=1e-12)


def test_a_weight_of_two_is_the_same_vote_twice():
    votes = some_votes(3)
    double = np.arange(len(votes)) % 3 == 0
    weighted = replace(votes, weight=np.where(double, 2.0, 1.0))
    twice = votes.take(np.concatenate([np.arange(len(votes)), np.flatnonzero(double)]))
    np.testing.assert_allclose(found(weighted).features, found(twice).features, atol=1e-9)


def test_a_tie_is_not_decided_and_one_vote_more_is():
    votes = Votes.of([1, 1, 2, 2, 2], list("abcde"), [0, 1, 0, 0, 1])
    decided = found(votes, MajorityVoting()).features[:, 0]
    assert decided.tolist() == [0, 1]


def test_gold_tasks_get_the_label_of_their_votes():
    votes, truth = one_coin_votes(100, [0.9] * 6, classes=3, votes_per_task=5, seed=1)
    wrong = (truth + 1) % 3
    result = DawidSkene().fit(votes)
    gold = replace(votes, gold=np.where(np.arange(100) < 10, wrong, -1))
    mine = collect_evidence(gold, gold.clamp(result.probs), DawidSkene().fit(gold).codes)
    np.testing.assert_array_equal(mine.label[:10], truth[:10])
    assert (mine.features[:10, 0] == 1).all()


def test_workers_who_are_alike_have_no_variation_and_those_who_differ_have():
    alike, _ = one_coin_votes(400, [0.8] * 8, classes=2, votes_per_task=5, seed=3)
    differ, _ = one_coin_votes(400, [0.99] * 4 + [0.55] * 4, classes=2, votes_per_task=5, seed=3)
    assert found(alike).variation < 0.5 * found(differ).variation


def test_a_worker_who_inverts_labels_counts_against_them():
    """By gold labels of half the tasks the votes of the last worker are known to be the wrong ones."""
    votes, truth = one_coin_votes(200, [0.9, 0.9, 0.02], classes=2, votes_per_task=3, seed=4)
    gold = replace(votes, gold=np.where(np.arange(200) < 100, truth, -1))
    result = DawidSkene().fit(gold)
    features = collect_evidence(gold.merged, result.probs, result.codes).features[100:]
    against = (votes.tally()[np.arange(200), truth] == 2)[100:] & (result.codes == truth)[100:]
    unanimous = (votes.tally()[np.arange(200), result.codes] == 3)[100:]
    assert features[against, 1].mean() > features[unanimous, 1].mean()


def test_no_votes_say_nothing():
    votes = Votes.of([], [], [], tasks=["t"], classes=["a", "b"])
    mine = collect_evidence(votes, np.array([[0.5, 0.5]]), np.zeros(1, np.int32))
    np.testing.assert_allclose(mine.features, [[0, 0, 0]], atol=1e-12)
    assert mine.variation == 0
