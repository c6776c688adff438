from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.aggregation.online.vote_log import Book

CODES = st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 2))
STEPS = st.lists(st.lists(CODES, max_size=12) | st.integers(0, 10**6), max_size=30)


@given(STEPS)
def test_a_book_holds_what_a_list_would(steps):
    book, listed = Book(weight=float), []
    for step in steps:
        if isinstance(step, int):
            if listed:
                task, worker, *_ = listed[step % len(listed)]
                row = max(n for n, vote in enumerate(listed) if vote[:2] == (task, worker))
                book.drop([book.find(task, worker)])
                del listed[row]
        else:
            new = [(*vote, 0.5 * n) for n, vote in enumerate(step)]
            task, worker, label, weight = (
                (list(column) for column in zip(*new, strict=True)) if new else [[]] * 4
            )
            book.add(np.array(task, int), np.array(worker, int), np.array(label, int), weight=weight)
            listed += new
        names = "task", "worker", "label", "weight"
        assert list(zip(*(book.kept(name).tolist() for name in names), strict=True)) == listed
        assert len(book) == len(listed)
        check_chains(book, listed)


def check_chains(book, listed):
    tasks = np.arange(len(book.last))
    rows, place = book.of(tasks)
    assert sorted(zip(place, book.worker[rows], book.label[rows], strict=True)) == sorted(
        v[:3] for v in listed
    )
    for task in tasks:
        rows, _ = book.of([task])
        expected = [vote[1:3] for vote in reversed(listed) if vote[0] == task]
        assert list(zip(book.worker[rows], book.label[rows], strict=True)) == expected


def test_rows_without_votes_are_given_up():
    book = Book()
    book.add(np.arange(1000), np.zeros(1000, int), np.ones(1000, int))
    for task in range(999):
        book.drop([book.find(task, 0)])
    assert len(book) == 1
    assert len(book.task) < 100
    assert book.find(999, 0) >= 0
    assert book.find(5, 0) == -1


def test_what_was_taken_out_does_not_change_with_the_book():
    book = Book()
    book.add([0], [0], [1])
    label = book.kept("label")
    book.drop([0])
    assert label.tolist() == [1]
