from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdpilot.diagnose import Diagnosis
from crowdpilot.report.advice import Action, advise

Of = Callable[[str], Diagnosis]


def by_title(actions: list[Action], start: str) -> Action | None:
    return next((action for action in actions if action.title.startswith(start)), None)


def test_suspicious_workers_should_be_left_out(whole: Diagnosis) -> None:
    action = by_title(advise(whole, "my votes.csv"), "Leave out")
    suspects = np.flatnonzero(whole.flags["spammer"] | whole.flags["colluding"])
    assert action is not None
    assert action.rows == tuple(suspects.tolist())
    assert action.command == "crowdpilot report 'my votes.csv' --exclude exclude.csv -o report.html"
    assert all(str(whole.votes.workers[w]) in action.text for w in suspects)


def test_nobody_is_left_out_without_a_reason(of: Of) -> None:
    assert by_title(advise(of("one worker")), "Leave out") is None


def test_tasks_that_need_votes_are_listed(whole: Diagnosis) -> None:
    more = np.zeros(len(whole.votes.tasks), int)
    more[[3, 5, 7]] = 2, 4, 999
    action = by_title(advise(replace(whole, tasks=whole.tasks | {"more_votes": more})), "Collect")
    assert action is not None
    assert action.title == "Collect about 6 more votes on 2 tasks"
    assert (action.table, action.rows) == ("tasks", (3, 5))


def test_labels_should_be_checked_until_they_are(whole: Diagnosis) -> None:
    assert by_title(advise(whole), "Check") is not None
    assert by_title(advise(whole, checked=True), "Check") is None


def test_what_is_missing_should_be_recorded(of: Of, whole: Diagnosis) -> None:
    assert by_title(advise(whole), "Record") is None
    action = by_title(advise(of("seconds and times")), "Record")
    assert action is not None
    assert action.title == "Record gold tasks"


def test_there_is_always_something_to_do(odd: Diagnosis) -> None:
    actions = advise(odd)
    assert actions
    assert all(action.text.endswith(".") for action in actions)
