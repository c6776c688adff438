"""Clusters of workers are found, and share what they know."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import DawidSkene, DawidSkeneClust
from crowdpilot.simulation import StudentTeacher


def test_students_are_put_with_their_teacher():
    simulation = StudentTeacher(
        tasks=1500, workers=12, classes=3, votes_per_task=12, ratio=0.75, seed=4
    ).run()
    member = DawidSkeneClust(L=3).fit(simulation.votes).params["member"].argmax(axis=1)
    together = member[:, None] == member
    same = simulation.teacher[:, None] == simulation.teacher
    assert (together == same).mean() > 0.9


def test_one_cluster_gives_everybody_the_same_matrix(simulated):
    confusion = DawidSkeneClust(L=1).fit(simulated[0]).params["confusion"]
    np.testing.assert_allclose(confusion, np.broadcast_to(confusion[0], confusion.shape))


def test_clusters_help_where_workers_are_alike_and_votes_few():
    gain = []
    for seed in range(5):
        crowd = StudentTeacher(tasks=200, workers=60, classes=4, votes_per_task=5, ratio=0.95, seed=seed)
        votes, truth = crowd.run()
        right = [(m.fit(votes).codes == truth).mean() for m in (DawidSkeneClust(L=3), DawidSkene())]
        gain.append(right[0] - right[1])
    assert np.mean(gain) > 0
