from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdpilot.aggregation import suggest_gold
from crowdpilot.aggregation.accuracy.statements import state_gain
from crowdpilot.diagnosis import Diagnosis, diagnose
from crowdpilot.reporting.advice import Action, recommend
from tests.crowds import partial_votes

Of = Callable[[str], Diagnosis]


def by_title(actions: list[Action], start: str) -> Action | None:
    return next((action for action in actions if action.title.startswith(start)), None)


def test_suspicious_workers_should_be_left_out(whole: Diagnosis) -> None:
    action = by_title(recommend(whole, "my votes.csv"), "Leave out")
    assert action is not None
    assert set(action.rows) >= set(np.flatnonzero(whole.flags["spammer"]).tolist())
    assert action.command == "crowdpilot aggregate 'my votes.csv' --exclude exclude.csv -o labels.csv"
    assert all(str(whole.votes.workers[w]) in action.text for w in action.rows)


def test_one_of_each_group_that_copies_is_kept(whole: Diagnosis) -> None:
    group, votes = np.full(40, -1), np.arange(40)
    group[[3, 5, 7]], group[[10, 11]] = 0, 1
    found = replace(
        whole,
        flags={"spammer": np.arange(40) == 0, "colluding": group >= 0},
        workers=whole.workers | {"group": group, "votes": votes},
        without_suspects=whole.result,
    )
    action = by_title(recommend(found), "Leave out")
    assert action is not None
    assert action.rows == (0, 3, 5, 10)
    assert "Of each group that copies, the one with most votes is kept" in action.text


def test_nobody_is_left_out_without_a_reason(of: Of) -> None:
    assert by_title(recommend(of("one worker")), "Leave out") is None


def test_tasks_that_need_votes_are_listed(whole: Diagnosis) -> None:
    more = np.zeros(len(whole.votes.tasks), int)
    more[[3, 5, 7]] = 2, 4, 999
    action = by_title(recommend(replace(whole, tasks=whole.tasks | {"more_votes": more})), "Collect")
    assert action is not None
    assert action.title == "Collect about 6 more votes on 2 tasks"
    assert (action.table, action.rows) == ("tasks", (3, 5))


def test_labels_should_be_checked_until_they_are(whole: Diagnosis) -> None:
    assert by_title(recommend(whole), "Check") is not None
    assert by_title(recommend(whole, checked=True), "Check") is None


def test_tasks_to_check_are_those_that_tell_most() -> None:
    unsure = diagnose(partial_votes(300, [0.8] * 5, 3, 0.7, 0)[0], samples=20)
    suggestion = suggest_gold(unsure.result, 50)
    action = by_title(recommend(unsure, "my votes.csv", suggestion=suggestion), "Check 50 tasks")
    assert action is not None
    assert set(action.rows) == set(suggestion.codes.tolist())
    assert (action.table, action.file, action.fill_in) == ("tasks", "check.csv", "truth")
    assert action.command == "crowdpilot report 'my votes.csv' --gold check.csv -o report.html"
    assert action.text.startswith(state_gain(suggestion).capitalize())


def test_few_tasks_are_checked_at_random(of: Of) -> None:
    action = by_title(recommend(of("one task")), "Check")
    assert action is not None
    assert action.text.startswith("Have an expert label 1 task drawn at random")


def test_what_is_missing_should_be_recorded(of: Of, whole: Diagnosis) -> None:
    assert by_title(recommend(whole), "Record") is None
    action = by_title(recommend(of("seconds and times")), "Record")
    assert action is not None
    assert action.title == "Record gold tasks"


def test_there_is_always_something_to_do(odd: Diagnosis) -> None:
    actions = recommend(odd)
    assert actions
    assert all(action.text.endswith(".") for action in actions)


def test_a_project_of_the_service_is_told_of_pages_not_of_commands(whole: Diagnosis, odd: Diagnosis) -> None:
    for diagnosis in (whole, odd):
        actions = recommend(diagnosis, None)
        assert actions
        assert [action for action in actions if action.command or "run again" in action.text] == []
    leave_out = by_title(recommend(whole, None), "Leave out")
    assert leave_out is not None
    assert "page Workers" in leave_out.text
