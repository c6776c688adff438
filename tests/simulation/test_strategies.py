"""What every strategy promises, whatever the options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from crowdpilot.simulation import STRATEGIES, Crowd, StudentTeacher
from crowdpilot.votes import Votes

CROWDS = [strategy(tasks=300) for strategy in STRATEGIES.values()]
pytestmark = pytest.mark.parametrize("crowd", CROWDS, ids=lambda c: c.name)

COLUMNS = ("task", "worker", "label", "seconds", "time")
EVERYTHING = {
    "votes_per_task": 6, "max_votes_per_worker": 70, "imbalance_votes": True,
    "prior": (0.6, 0.1, 0.1, 0.1, 0.1),
    "tail": 0.5, "drifting": 0.3, "colluding": 0.3, "abstain": 0.1, "seconds": 10.0,
}  # fmt: skip


def assert_same(a: Votes, b: Votes) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def pairs(votes: Votes) -> np.ndarray:
    return votes.task.astype(np.int64) * len(votes.workers) + votes.worker


def test_the_same_seed_makes_the_same_votes(crowd: Crowd) -> None:
    crowd = replace(crowd, **EVERYTHING)
    first, again = crowd.run(), crowd.run()
    assert_same(first.votes, again.votes)
    np.testing.assert_array_equal(first.truth, again.truth)
    np.testing.assert_array_equal(first.confusion, again.confusion)


def test_another_seed_makes_other_votes(crowd: Crowd) -> None:
    crowd = replace(crowd, votes_per_task=5)
    first, other = crowd.run(), replace(crowd, seed=1).run()
    assert (first.truth != other.truth).any()
    assert (first.votes.worker != other.votes.worker).any()


def test_without_feedback_everybody_votes_once_on_every_task(crowd: Crowd) -> None:
    votes, _ = crowd.run()
    np.testing.assert_array_equal(pairs(votes), np.arange(300 * 30))


def test_each_task_has_feedback_votes_by_different_workers(crowd: Crowd) -> None:
    votes, _ = replace(crowd, votes_per_task=7).run()
    np.testing.assert_array_equal(np.bincount(votes.task), np.full(300, 7))
    assert len(np.unique(pairs(votes))) == len(votes)


@pytest.mark.parametrize("tail", [0.0, 1.0])
def test_nobody_exceeds_the_workerload_even_if_all_of_it_is_needed(crowd: Crowd, tail: float) -> None:
    votes, _ = replace(crowd, votes_per_task=10, max_votes_per_worker=100, tail=tail).run()
    np.testing.assert_array_equal(np.bincount(votes.worker), np.full(30, 100))
    np.testing.assert_array_equal(np.bincount(votes.task), np.full(300, 10))
    assert len(np.unique(pairs(votes))) == len(votes)


def test_a_workerload_alone_gives_as_many_votes_as_it_allows(crowd: Crowd) -> None:
    votes, _ = replace(crowd, max_votes_per_worker=45).run()
    np.testing.assert_array_equal(np.bincount(votes.task), np.full(300, 4))
    assert np.bincount(votes.worker).max() <= 45


def test_imbalanced_tasks_have_every_number_of_votes_up_to_feedback(crowd: Crowd) -> None:
    votes, _ = replace(crowd, votes_per_task=4, imbalance_votes=True).run()
    counts = np.bincount(np.bincount(votes.task, minlength=300), minlength=5)
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 1e-3


def test_everything_together_keeps_the_rules(crowd: Crowd) -> None:
    votes, _ = replace(crowd, **EVERYTHING).run()
    assert np.bincount(votes.task).max() <= 6
    assert np.bincount(votes.worker).max() <= 70
    assert len(np.unique(pairs(votes))) == len(votes)


def test_labels_follow_the_rows_of_the_matrices(crowd: Crowd) -> None:
    simulation = replace(crowd, tasks=20_000, workers=3, classes=3).run()
    votes, truth = simulation
    hard = np.ones(20_000, bool) if simulation.difficulty is None else simulation.difficulty == "hard"
    kept = hard[votes.task]
    cell = (votes.worker * 3 + truth[votes.task]) * 3 + votes.label
    seen = np.bincount(cell[kept], minlength=27).reshape(9, 3)
    expected = simulation.confusion.reshape(9, 3) * seen.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(seen[expected == 0], 0)
    spread = ((seen - expected)[expected > 0] ** 2 / expected[expected > 0]).sum()
    assert spread < 45  # 18 degrees of freedom: exceeded by chance once in 2,000 times


def test_classes_follow_the_prior(crowd: Crowd) -> None:
    prior = (0.7, 0.2, 0.1, 0.0, 0.0)
    _, truth = replace(crowd, tasks=10_000, workers=5, prior=prior).run()
    np.testing.assert_allclose(np.bincount(truth, minlength=5) / 10_000, prior, atol=0.015)


def test_a_long_tail_gives_most_votes_to_few_workers(crowd: Crowd) -> None:
    votes, _ = replace(crowd, tasks=5000, workers=100, votes_per_task=1, tail=1.0).run()
    loads = np.sort(np.bincount(votes.worker, minlength=100))[::-1]
    expected = 5000 / np.arange(1, 101) / np.sum(1 / np.arange(1, 101))
    np.testing.assert_allclose(loads[:5], expected[:5], rtol=0.15)


def test_abstaining_removes_votes_and_changes_no_other(crowd: Crowd) -> None:
    whole, part = crowd.run().votes, replace(crowd, abstain=0.25).run().votes
    assert part.dropped == len(whole) - len(part)
    assert abs(part.dropped / len(whole) - 0.25) < 0.02
    assert_same(part, whole.take(np.isin(pairs(whole), pairs(part))))


def test_drifting_workers_get_worse_and_the_others_do_not(crowd: Crowd) -> None:
    crowd = replace(crowd, tasks=2000, drifting=0.5)
    simulation, before = crowd.run(), replace(crowd, drifting=0.0).run()
    votes = simulation.votes
    assert simulation.drifting.sum() == 15
    assert votes.time.min() >= 0
    drifts, late = simulation.drifting[votes.worker], votes.time > votes.time.max() / 2
    changed = votes.label != before.votes.label
    assert not changed[~drifts].any()
    assert changed[drifts & late].mean() > 2 * changed[drifts & ~late].mean() > 0


def test_only_the_drifting_have_times(crowd: Crowd) -> None:
    assert crowd.run().votes.time is None


def test_colluders_of_one_group_never_disagree(crowd: Crowd) -> None:
    simulation = replace(crowd, colluding=0.4, group_size=6, workers=30).run()
    group = simulation.group
    np.testing.assert_array_equal(np.bincount(group[group >= 0]), [6, 6])
    said = simulation.votes.label.reshape(300, 30)
    for g in (0, 1):
        assert (np.ptp(said[:, group == g], axis=1) == 0).all()
    honest = crowd.run().votes.label.reshape(300, 30)
    np.testing.assert_array_equal(said[:, group < 0], honest[:, group < 0])


def test_the_answer_of_a_group_is_that_of_one_of_its_members(crowd: Crowd) -> None:
    simulation = replace(crowd, colluding=0.2, group_size=3).run()
    alone = crowd.run().votes.label.reshape(300, 30)
    said = simulation.votes.label.reshape(300, 30)
    for g in range(2):
        members = np.flatnonzero(simulation.group == g)
        np.testing.assert_array_equal(said[:, members[0]], alone[:, members[0]])


def test_seconds_are_lognormal_around_the_median(crowd: Crowd) -> None:
    simulation = replace(crowd, workers=200, votes_per_task=20, seconds=12.0).run()
    spams = np.ptp(simulation.confusion, axis=1).max(axis=1) < 1e-9
    logs = np.log(simulation.votes.seconds[~spams[simulation.votes.worker]])
    assert abs(np.median(logs) - np.log(12)) < 0.15
    assert abs(logs.std() - np.hypot(0.5, 0.5)) < 0.1


def test_an_extra_does_not_change_who_votes_on_what(crowd: Crowd) -> None:
    plain = replace(crowd, votes_per_task=5)
    extras = {"prior": (0.6, 0.1, 0.1, 0.1, 0.1), "drifting": 0.3, "colluding": 0.3, "seconds": 10.0}
    np.testing.assert_array_equal(pairs(replace(plain, **extras).run().votes), pairs(plain.run().votes))


def test_matrices_come_from_a_file(crowd: Crowd, tmp_path) -> None:
    matrices = np.random.default_rng(0).dirichlet(np.ones(5), (30, 5))
    np.save(tmp_path / "m.npy", matrices)
    simulation = replace(crowd, matrix_file=tmp_path / "m.npy").run()
    own = {"hammer-spammer": 27, "student-teacher": 6}.get(crowd.name, 30)
    np.testing.assert_array_equal(simulation.confusion[:own], matrices[:own])


def test_one_class_and_one_worker_are_a_crowd(crowd: Crowd) -> None:
    alone = {"ratio": 0.0} if isinstance(crowd, StudentTeacher) else {}
    votes, truth = replace(crowd, tasks=3, workers=1, classes=1, **alone).run()
    np.testing.assert_array_equal(votes.label, [0, 0, 0])
    np.testing.assert_array_equal(truth, [0, 0, 0])
