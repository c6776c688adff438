from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdpilot.confusion_matrices import count_labels
from crowdpilot.hybrid import Ask, Campaign, Costs, Plan
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.plan import Plan as Settings

K = 3
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "delete", "refit", "keep"]), st.integers(0, 10**6)), max_size=30
)


def question(items, workers, **plan):
    made = Settings(online=True, **plan)
    new = Question(made, np.stack([made.pseudo_counts("crowd", K)]))
    new.add_items(np.full(items, -1, np.int32), None)
    for _ in range(workers):
        new.add_worker(0)
    return new


@given(STEPS)
@example([("add", 1), ("keep", 0), ("add", 0), ("add", 0)])
@settings(max_examples=40, deadline=None)
def test_counts_are_the_sum_over_votes_of_the_counted_posteriors(steps):
    q = question(8, 3)
    rng = np.random.default_rng(len(steps))
    for kind, number in steps:
        votes = q.votes()
        pseudo_counts = (
            q._online.counts - q.matrices.dropped_counts - count_labels(votes, q._online.posterior)
        )
        if kind == "add":
            free = [(i, w) for i in range(len(q.gold)) for w in range(3) if q.vote_log.find(i, w) < 0]
            some = np.array([free[n] for n in rng.permutation(len(free))[: number % 4]], int).reshape(-1, 2)
            q.add_votes(*some.T, rng.integers(K, size=len(some)))
        elif kind == "delete" and len(votes):
            n = number % len(votes)
            assert q.delete_vote(int(votes.task[n]), int(votes.worker[n]))
        elif kind == "keep" and len(q.gold) > 3:
            q.keep(np.delete(np.arange(len(q.gold)), number % len(q.gold)))
        elif kind == "refit":
            q.refit(np.arange(len(q.gold)) % 5)
            pseudo_counts = (
                q._online.counts - q.matrices.dropped_counts - count_labels(q.votes(), q._online.posterior)
            )
        np.testing.assert_allclose(pseudo_counts.sum(axis=2), q.plan.worker_pseudo_counts)
        now = q._online.counts - q.matrices.dropped_counts - count_labels(q.votes(), q._online.posterior)
        np.testing.assert_allclose(now, pseudo_counts, atol=1e-9)
        np.testing.assert_allclose(q.posterior.sum(axis=1), 1)


def simulated_votes(seed, items=600, workers=20):
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=items)
    skill = rng.beta(4, 2.5, workers)
    item = np.repeat(np.arange(items), 5)
    worker = rng.random((items, workers)).argsort(axis=1)[:, :5].ravel()
    wrong = (truth[item] + rng.integers(1, K, len(item))) % K
    label = np.where(rng.random(len(item)) < skill[worker], truth[item], wrong)
    votes = np.stack([item, worker, label], axis=1)[rng.permutation(len(item))]
    return truth, votes.tolist()


def campaign(items, **plan):
    costs = Costs(errors=1 - np.eye(K), prices={"crowd": 0.01})
    return Campaign(
        range(items), range(K), costs, plan=Plan(pilot=0, refit_growth=0, policy="fixed[votes=5]", **plan)
    )


@pytest.mark.parametrize("seed", range(3))
def test_online_updates_are_more_accurate_than_no_refit(seed):
    truth, votes = simulated_votes(seed)
    right = {}
    for name, plan in [
        ("never", {"refit_every": 0}),
        ("online", {"refit_every": 0, "online": True}),
        ("refit", {"refit_every": 50}),
    ]:
        c = campaign(len(truth), **plan)
        for n in range(0, len(votes), 20):
            c.tell(votes[n : n + 20])
        right[name] = np.mean(c._parts.questions[0].posterior.argmax(axis=1) == truth)
    assert right["online"] > right["never"]
    assert right["online"] > right["refit"] - 0.04


def test_a_retracted_vote_leaves_the_counts_it_found():
    _, votes = simulated_votes(5, items=40, workers=6)
    c = campaign(40, refit_every=0, online=True)
    c.tell(votes[:100])
    c.refit()
    q = c._parts.questions[0]
    item, worker, _ = next(vote for vote in votes[100:] if vote[1] == 3)
    who = c._parts.workers.number_of[worker]
    before = q._online.counts[who].copy()
    c.tell([(item, worker, 1)])
    assert np.abs(q._online.counts[who] - before).max() > 0.1
    c.retract([Ask(item, "")], worker)
    np.testing.assert_allclose(
        q._online.counts[who], before, atol=0.05
    )  # others on the item may be seen anew


@pytest.mark.parametrize("seed", range(3))
def test_a_model_update_brings_others_to_the_same_counts(seed):
    truth, votes = simulated_votes(seed, items=60, workers=8)
    source, follower, other = (campaign(len(truth), refit_every=0, online=True) for _ in range(3))
    source.tell(votes[:200])
    source.refit()
    follower.tell(votes[:150])
    follower.tell(votes[150:])
    other.tell(votes)
    for c in (follower, other):
        c.apply_model_update(source.model_update())
    np.testing.assert_allclose(
        follower._parts.questions[0]._online.counts, other._parts.questions[0]._online.counts, atol=1e-12
    )
    np.testing.assert_allclose(follower.posterior(), other.posterior(), atol=1e-12)


def test_online_updates_need_pseudo_counts():
    with pytest.raises(ValueError, match="need worker_pseudo_counts above 0"):
        Plan(online=True, worker_pseudo_counts=0)
