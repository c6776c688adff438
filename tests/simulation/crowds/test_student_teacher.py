from __future__ import annotations

import numpy as np

from crowdpilot.simulation import StudentTeacher


def test_students_have_the_matrix_of_their_teacher_and_no_other() -> None:
    """24 students and 6 teachers, as in the peerannot paper, section 3.2.2."""
    simulation = StudentTeacher(tasks=200, workers=30, classes=5, votes_per_task=10, ratio=0.8).run()
    np.testing.assert_array_equal(simulation.teacher[:6], np.arange(6))
    assert set(simulation.teacher[6:]) <= set(range(6))
    np.testing.assert_array_equal(simulation.confusion, simulation.confusion[simulation.teacher])
    assert len(np.unique(simulation.confusion, axis=0)) == 6


def test_students_vote_for_themselves() -> None:
    simulation = StudentTeacher(tasks=500, workers=4, ratio=0.75).run()
    said = simulation.votes.label.reshape(500, 4)
    assert (simulation.teacher == 0).all()
    assert (said[:, 1] != said[:, 0]).any()


def test_teachers_are_most_often_right_in_every_class() -> None:
    confusion = StudentTeacher(workers=100, ratio=0.0).run().confusion
    np.testing.assert_array_equal(confusion.argmax(axis=2), np.broadcast_to(np.arange(5), (100, 5)))
