"""Which tasks annotators of Label Studio are given."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.label_studio.driving import (
    BEHIND_SECONDS,
    LEFT_SECONDS,
    MIN_OPEN_TASKS,
    Wanted,
    make_plan,
    who_is_there,
)


class Task(NamedTuple):
    """A row of a task, as far as a plan looks at it."""

    task: int
    name: str
    annotators: list[str] = []  # noqa: RUF012  # never changed
    is_open: bool = False


def rows(n: int, **more: Any) -> list[Any]:
    return [Task(number, f"item {number}", **more) for number in range(n)]


def wanted(*numbers: int) -> Wanted:
    names = [f"item {number}" for number in numbers]
    return Wanted(names, set(names), needs_refit=False)


def test_the_best_are_open_and_not_more_than_people_need() -> None:
    plan = make_plan(wanted(*range(99, -1, -1)), rows(100), set())
    assert plan == (list(range(99, 99 - MIN_OPEN_TASKS, -1)), [], False)


def test_what_is_open_and_wanted_stays_open_and_what_is_not_is_closed() -> None:
    open_tasks = [Task(0, "item 0", is_open=True), Task(1, "item 1", is_open=True), Task(2, "item 2")]
    assert make_plan(wanted(2, 1), open_tasks, set()) == ([2], [0], False)
    assert make_plan(wanted(), open_tasks, set()) == ([], [0, 1], True)


def test_everybody_finds_tasks_that_they_have_not_answered() -> None:
    """Ann has answered all that are best; she gets others, further down."""
    answered = [Task(n, f"item {n}", ["ann"] if n < 50 else []) for n in range(100)]
    plan = make_plan(wanted(*range(100)), answered, {"ann", "bob"})
    assert plan.open == [*range(MIN_OPEN_TASKS), *range(50, 50 + MIN_OPEN_TASKS)]


def test_an_item_that_everybody_there_has_answered_is_closed_with_its_decision() -> None:
    both = [Task(0, "item 0", ["ann", "bob"], is_open=True), Task(1, "item 1", ["ann"], is_open=True)]
    assert make_plan(wanted(0, 1), both, {"ann", "bob"}) == ([], [0], False)
    assert make_plan(wanted(0), both, {"ann", "bob"}) == ([], [0, 1], True)
    assert make_plan(wanted(0), both, {"ann", "bob", "eve"}) == ([], [1], False)


def test_somebody_who_is_alone_is_not_everybody_unless_nobody_came_for_long() -> None:
    one = [Task(0, "item 0", ["ann"], is_open=True)]
    assert make_plan(wanted(0), one, {"ann"}) == ([], [], False)
    assert make_plan(wanted(0), one, {"ann"}, is_quiet=True) == ([], [0], True)


def test_who_has_left_is_not_waited_for_but_what_nobody_answered_stays_open() -> None:
    """Eve, who answered once and left, is not among the people any more; nor is anybody at the end."""
    answered = [Task(0, "item 0", ["ann", "bob"], is_open=True), Task(1, "item 1", ["eve"], is_open=True)]
    assert make_plan(wanted(0, 1), answered, {"ann", "bob"}) == ([], [0], False)
    assert make_plan(wanted(0, 1), answered, set()) == ([], [0], False)
    unanswered = [*answered, Task(2, "item 2", is_open=True)]
    assert make_plan(wanted(0, 1, 2), unanswered, set(), is_quiet=True) == ([], [0, 1], False)


def test_somebody_is_there_until_others_have_gone_on_without_them_or_a_week_is_over() -> None:
    last_votes = {"ann": 1e6, "bob": 1e6 - BEHIND_SECONDS + 1, "eve": 1e6 - BEHIND_SECONDS}
    assert who_is_there(last_votes, 1e6) == {"ann", "bob"}
    assert who_is_there(last_votes, 1e6 + LEFT_SECONDS - 1) == {"ann"}
    assert who_is_there(last_votes, 1e6 + LEFT_SECONDS) == set()
    assert who_is_there({}, 1e6) == set()


PEOPLE = st.sets(st.sampled_from(["ann", "bob", "eve"]))
TASKS = st.lists(st.tuples(PEOPLE, st.booleans(), st.booleans()), max_size=60)


@given(TASKS, PEOPLE)
def test_only_wanted_tasks_are_open_and_nobody_who_could_vote_is_left_without(
    given_tasks: list[tuple[set[str], bool, bool]], others: set[str]
) -> None:
    tasks = [Task(n, f"item {n}", sorted(who), is_open) for n, (who, is_open, _) in enumerate(given_tasks)]
    names = [n for n, (_, _, is_wanted) in enumerate(given_tasks) if is_wanted]
    people = {person for who, _, _ in given_tasks for person in who} | others
    plan = make_plan(wanted(*names), tasks, people)
    now = ({task.task for task in tasks if task.is_open} | set(plan.open)) - set(plan.close)
    assert now <= set(names)
    assert not set(plan.open) & set(plan.close)
    assert plan.is_finished == (not now)
    for person in people:
        could = {n for n in names if person not in tasks[n].annotators}
        given_now = {n for n in now if person not in tasks[n].annotators}
        assert len(given_now) >= min(len(could), MIN_OPEN_TASKS)
