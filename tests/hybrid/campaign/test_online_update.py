from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdpilot.confusion_matrices import count_labels
from crowdpilot.hybrid import Ask, Campaign, Costs, Plan
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.plan import Plan as Settings

K = 3
STEPS = st.lists(
    st.tuples(st.sampled_from(["hear", "unhear", "refit", "keep"]), st.integers(0, 10**6)), max_size=30
)


def question(items, workers, **plan):
    made = Settings(follow=True, **plan)
    new = Question(made, np.stack([made.usual("crowd", K)]))
    new.add(np.full(items, -1, np.int32), None)
    for _ in range(workers):
        new.enlist(0)
    return new


@given(STEPS)
@example([("hear", 1), ("keep", 0), ("hear", 0), ("hear", 0)])
@settings(max_examples=40, deadline=None)
def test_counts_are_the_sum_over_votes_of_what_items_were_taken_to_be(steps):
    q = question(8, 3)
    rng = np.random.default_rng(len(steps))
    for kind, number in steps:
        votes = q.votes()
        imagined = q.counts - q.history - count_labels(votes, q.counted)
        if kind == "hear":
            free = [(i, w) for i in range(len(q.gold)) for w in range(3) if q.book.find(i, w) < 0]
            some = np.array([free[n] for n in rng.permutation(len(free))[: number % 4]], int).reshape(-1, 2)
            q.hear(*some.T, rng.integers(K, size=len(some)))
        elif kind == "unhear" and len(votes):
            n = number % len(votes)
            assert q.unhear(int(votes.task[n]), int(votes.worker[n]))
        elif kind == "keep" and len(q.gold) > 3:
            q.keep(np.delete(np.arange(len(q.gold)), number % len(q.gold)))
        elif kind == "refit":
            q.refit(np.arange(len(q.gold)) % 5)
            imagined = q.counts - q.history - count_labels(q.votes(), q.counted)
        np.testing.assert_allclose(imagined.sum(axis=2), q.plan.shared)
        now = q.counts - q.history - count_labels(q.votes(), q.counted)
        np.testing.assert_allclose(now, imagined, atol=1e-9)
        np.testing.assert_allclose(q.probs.sum(axis=1), 1)


def told(seed, items=600, workers=20):
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
        range(items), range(K), costs, plan=Plan(pilot=0, growth=0, policy="fixed[votes=5]", **plan)
    )


@pytest.mark.parametrize("seed", range(3))
def test_without_a_refit_it_is_more_often_right_than_what_stays_as_learned(seed):
    truth, votes = told(seed)
    right = {}
    for name, plan in [
        ("stays", {"every": 0}),
        ("follows", {"every": 0, "follow": True}),
        ("learns", {"every": 50}),
    ]:
        c = campaign(len(truth), **plan)
        for n in range(0, len(votes), 20):
            c.tell(votes[n : n + 20])
        right[name] = np.mean(c.questions[0].probs.argmax(axis=1) == truth)
    assert right["follows"] > right["stays"]
    assert right["follows"] > right["learns"] - 0.03


def test_a_vote_that_is_taken_back_leaves_the_counts_it_found():
    _, votes = told(5, items=40, workers=6)
    c = campaign(40, every=0, follow=True)
    c.tell(votes[:100])
    c.refit()
    q = c.questions[0]
    item, worker, _ = next(vote for vote in votes[100:] if vote[1] == 3)
    who = c.staff.place[worker]
    before = q.counts[who].copy()
    c.tell([(item, worker, 1)])
    assert np.abs(q.counts[who] - before).max() > 0.1
    c.retract([Ask(item, "")], worker)
    np.testing.assert_allclose(q.counts[who], before, atol=0.05)  # others on the item may be seen anew


@pytest.mark.parametrize("seed", range(3))
def test_a_lesson_brings_others_to_the_same_counts(seed):
    truth, votes = told(seed, items=60, workers=8)
    teacher, pupil, other = (campaign(len(truth), every=0, follow=True) for _ in range(3))
    teacher.tell(votes[:200])
    teacher.refit()
    pupil.tell(votes[:150])
    pupil.tell(votes[150:])
    other.tell(votes)
    for c in (pupil, other):
        c.learn(teacher.lesson())
    np.testing.assert_allclose(pupil.questions[0].counts, other.questions[0].counts, atol=1e-12)
    np.testing.assert_allclose(pupil.believed(), other.believed(), atol=1e-12)


def test_without_imaginary_votes_there_is_nothing_to_move():
    with pytest.raises(ValueError, match="only with shared above 0"):
        Plan(follow=True, shared=0)
