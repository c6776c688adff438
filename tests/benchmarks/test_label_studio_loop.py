from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.label_studio_loop import (
    CLASSES,
    OVERLAP,
    Arm,
    Run,
    draw_crowd,
    fixed_overlap,
    report,
    take_turns,
)
from tests.service.harness.label_studio_server import choices_config, running_label_studio


def test_a_fixed_overlap_gives_each_task_as_many_votes_by_different_annotators():
    crowd = draw_crowd(0, tasks=20)
    votes = take_turns(crowd.answers, OVERLAP)
    assert np.bincount(votes.task).tolist() == [OVERLAP] * 20
    assert len(set(zip(votes.task.tolist(), votes.worker.tolist(), strict=True))) == len(votes)
    np.testing.assert_array_equal(votes.label, crowd.answers[votes.task, votes.worker])
    given = np.bincount(votes.worker)
    assert given.max() - given.min() <= 1, "who takes turns answers equally often"


@pytest.mark.thorough
def test_label_studio_gives_tasks_in_the_order_that_is_simulated(tmp_path: Path):
    crowd = draw_crowd(0, tasks=12)
    votes = take_turns(crowd.answers, OVERLAP)
    tasks, given = [{"text": f"Item {n}"} for n in range(12)], []
    with running_label_studio(tmp_path) as studio:
        project = studio.add_project(choices_config(CLASSES), tasks, maximum_annotations=OVERLAP)
        users = [studio.add_user() for _ in range(5)]
        for turn in range(len(votes) + 5):
            worker = turn % 5
            if (task := users[worker].next_task(project)) is not None:
                given.append((n := int(task["data"]["text"].split()[1]), worker))
                users[worker].submit(task["id"], CLASSES[crowd.answers[n, worker]])
    assert given == list(zip(votes.task.tolist(), votes.worker.tolist(), strict=True))


def test_annotators_who_are_always_right_make_no_errors():
    crowd = draw_crowd(1, tasks=20)
    right = crowd._replace(answers=np.repeat(crowd.truth[:, None], 5, axis=1))
    assert fixed_overlap(right) == (Arm(60, 0), Arm(60, 0))


def test_the_same_seed_draws_the_same_crowd_and_others_another():
    first, again, other = draw_crowd(3), draw_crowd(3), draw_crowd(4)
    np.testing.assert_array_equal(first.answers, again.answers)
    assert (first.answers != other.answers).any()
    assert first.answers.max() < len(CLASSES)


def test_the_table_has_every_crowd_and_the_means():
    runs = [Run(Arm(240, 6), Arm(240, 4), Arm(200, 3), "finished", 9.0),
            Run(Arm(240, 8), Arm(240, 6), Arm(180, 5), "finished", 9.0)]  # fmt: skip
    table = report(runs, 80)
    assert table.count("\n| ") == 5
    assert "| mean | 240.0 | 7.0 | 240.0 | 5.0 | 190.0 | 4.0 | 19.00 | 17.00 | 13.50 |" in table
