from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.aggregation.online.vote_log import VoteLog

CODES = st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 2))
STEPS = st.lists(st.lists(CODES, max_size=12) | st.integers(0, 10**6), max_size=30)


@given(STEPS)
def test_a_vote_log_holds_what_a_list_would(steps):
    log, listed = VoteLog(weight=float), []
    for step in steps:
        if isinstance(step, int):
            if listed:
                task, worker, *_ = listed[step % len(listed)]
                row = max(n for n, vote in enumerate(listed) if vote[:2] == (task, worker))
                log.delete([log.find(task, worker)])
                del listed[row]
        else:
            new = [(*vote, 0.5 * n) for n, vote in enumerate(step)]
            task, worker, label, weight = (
                (list(column) for column in zip(*new, strict=True)) if new else [[]] * 4
            )
            log.add(np.array(task, int), np.array(worker, int), np.array(label, int), weight=weight)
            listed += new
        names = "task", "worker", "label", "weight"
        assert list(zip(*(log.column(name).tolist() for name in names), strict=True)) == listed
        assert len(log) == len(listed)
        check_chains(log, listed)


def check_chains(log, listed):
    tasks = np.arange(len(log.last))
    rows, position = log.rows_of(tasks)
    assert sorted(zip(position, log.worker[rows], log.label[rows], strict=True)) == sorted(
        v[:3] for v in listed
    )
    for task in tasks:
        rows, _ = log.rows_of([task])
        expected = [vote[1:3] for vote in reversed(listed) if vote[0] == task]
        assert list(zip(log.worker[rows], log.label[rows], strict=True)) == expected


def test_deleted_rows_are_removed():
    log = VoteLog()
    log.add(np.arange(1000), np.zeros(1000, int), np.ones(1000, int))
    for task in range(999):
        log.delete([log.find(task, 0)])
    assert len(log) == 1
    assert len(log.task) < 100
    assert log.find(999, 0) >= 0
    assert log.find(5, 0) == -1


def test_what_was_taken_out_does_not_change_with_the_book():
    log = VoteLog()
    log.add([0], [0], [1])
    label = log.column("label")
    log.delete([0])
    assert label.tolist() == [1]
