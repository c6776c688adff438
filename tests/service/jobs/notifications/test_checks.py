from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from crowdpilot.service.jobs.notifications import checks
from crowdpilot.service.jobs.notifications.reasons import QUIET_SECONDS
from crowdpilot.service.mail_server import MailServer
from crowdpilot.service.store import items, jobs, leases, projects, workers
from crowdpilot.service.store.messages import email_deliveries, notifications, webhook_deliveries
from tests.service.harness.jobs import JobService
from tests.service.harness.service import create_project
from tests.service.harness.sessions import answer_of, session_of, write_answers

HERE = MailServer(scheme="smtp", host="127.0.0.1", port=2525, sender="study@example.org")
NOTIFY = {"emails": ["ann@example.org", "ben@example.org"]}
DAY = 24 * 3600.0


@pytest.fixture
def mailing(any_service: JobService) -> JobService:
    """A service with a mail server that is never asked."""
    any_service.context.settings = any_service.settings = _with_mail(any_service)
    return any_service


def _with_mail(service: JobService) -> Any:
    return replace(service.settings, mail_server=HERE)


def mails(service: JobService, project: str) -> list[Any]:
    """E-mails of a project, the oldest first."""
    with service.store.reading() as c:
        return list(email_deliveries.latest(c, project))[::-1]


def reported(service: JobService, project: str) -> set[tuple[str, str]]:
    with service.store.reading() as c:
        return set(notifications.read(c, project))


def set_project(service: JobService, project: str, **values: Any) -> None:
    with service.store.writing() as c:
        projects.change(c, project, **values)


def set_notify(service: JobService, project: str, **values: Any) -> None:
    """Change who is told what, as the settings of a project do."""
    with service.store.writing() as c:
        spec = projects.find(c, project).spec
        projects.change(c, project, spec={**spec, "notify": {**spec["notify"], **values}})


def lease(service: JobService, project: str, worker: int, name: str) -> int:
    """Lease an item to a worker; its id."""
    with service.store.writing() as c:
        (item,) = items.ids_by_name(c, project, [name]).values()
        number = int(projects.next_change(c, project, lease_requests=1).change_number)
        leases.create(c, project, [(worker, [(item, 0)])], 1e12, number)
    return item


def checked(service: JobService) -> set[str]:
    """The projects that are checked again when it is time."""
    checks.enqueue_all(service.store, service.settings)
    with service.store.reading() as c:
        rows = projects.list_all(c)
        found = {row.id for row in rows if jobs.is_pending(c, row.id, checks.JOB_KIND)}
    with service.store.writing() as c:
        c.exec_driver_sql("DELETE FROM jobs")
    return found


def test_a_finished_project_is_told_once_to_each_address(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, costs={"prices": {"crowd": 0.3}})
    mailing.add(project, 30)
    mailing.vote(project, [f"i{k}" for k in range(30)])
    mailing.refit(project)
    (first, second) = mails(mailing, project)
    assert [first.recipient, second.recipient] == NOTIFY["emails"]
    assert "finished" in first.subject
    assert f"/projects/{project}" in first.text
    assert "30 items, 90 answers" in first.text
    assert checks.tell_new(mailing.context, project) == []
    assert len(mails(mailing, project)) == 2


def test_an_open_project_without_answers_for_a_day_is_stuck_until_one_comes(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, webhook="http://127.0.0.1:9/hook")
    mailing.add(project, 30)
    now = time.time()
    assert checks.tell_new(mailing.context, project, now + QUIET_SECONDS - 60) == []
    assert checks.tell_new(mailing.context, project, now + QUIET_SECONDS + 60) == ["stuck"]
    assert checks.tell_new(mailing.context, project, now + 2 * QUIET_SECONDS) == []
    (mail, _) = mails(mailing, project)
    assert "Nobody has answered for 24 hours." in mail.text
    assert "30 items still need answers." in mail.text
    mailing.vote(project, ["i0"], 1)
    assert checks.tell_new(mailing.context, project, time.time() + 60) == []
    assert reported(mailing, project) == set()
    assert checks.tell_new(mailing.context, project, time.time() + QUIET_SECONDS + 60) == ["stuck"]
    with mailing.store.reading() as c:
        events = [row.event for row in webhook_deliveries.latest(c, project)]
    assert events == ["project.stuck"] * 2


def test_a_paused_project_or_one_without_items_is_not_stuck(mailing: JobService) -> None:
    empty, paused = mailing.create(notify=NOTIFY), mailing.create(notify=NOTIFY)
    mailing.add(paused, 5)
    with mailing.store.writing() as c:
        projects.change(c, paused, state=projects.PAUSED)
    for project in (empty, paused):
        assert checks.tell_new(mailing.context, project, time.time() + 5 * DAY) == []


def test_workers_who_may_not_answer_more_are_said_to_be_the_reason(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, plan={"per_worker": 2})
    mailing.add(project, 30)
    mailing.vote(project, ["i0", "i1"], 2)
    assert checks.tell_new(mailing.context, project, time.time() + 2 * 3600) == ["stuck"]
    assert "Every worker has given 2 answers" in mails(mailing, project)[0].text


def test_the_budget_is_told_at_nine_tenths_and_when_it_is_spent(mailing: JobService) -> None:
    project = mailing.create(
        notify={"emails": ["ann@example.org"]},
        costs={"prices": {"crowd": 0.1}, "budget": 1.0},
        currency="EUR",
    )
    mailing.add(project, 30)
    mailing.vote(project, [f"i{k}" for k in range(8)], 1)
    assert checks.tell_new(mailing.context, project) == []
    mailing.vote(project, ["i8"], 1)
    assert checks.tell_new(mailing.context, project) == ["budget"]
    mailing.vote(project, ["i9"], 1)
    assert checks.tell_new(mailing.context, project, time.time() + 3 * DAY) == ["budget"]  # and not stuck
    nearly, spent = mails(mailing, project)
    assert "90 % of the budget is spent: EUR 0.90 of EUR 1.00." in nearly.text
    assert "The budget is spent: EUR 1.00 of EUR 1.00." in spent.text
    assert reported(mailing, project) == {("budget", "nearly"), ("budget", "spent")}


def test_a_worker_who_is_flagged_is_told_by_number_alone_and_again_after_it_was_over(
    mailing: JobService,
) -> None:
    project = mailing.create(notify=NOTIFY, webhook="http://127.0.0.1:9/hook")
    mailing.add(project, 60)
    mailing.vote(project, [f"i{k}" for k in range(60)], 4, skill=0.95)
    (bad,) = mailing.workers(project, 5)[4:]
    flip = {name: 1 - label for name, label in mailing.truth.items()}
    kept, mailing.truth = mailing.truth, flip
    _votes_of(mailing, project, bad, 40)
    mailing.truth = kept
    mailing.refit(project)
    checks.tell_new(mailing.context, project)
    assert ("worker", str(bad)) in reported(mailing, project)
    mail = next(mail for mail in mails(mailing, project) if "worker" in mail.subject)
    assert f"Worker {bad} (40 answers): their answers are worse than guesses" in mail.text
    assert "w4" not in mail.text  # their name on the platform
    with mailing.store.reading() as c:
        events = {row.event: row.payload for row in webhook_deliveries.latest(c, project)}
    assert events["worker.flagged"]["worker"] == bad
    with mailing.store.writing() as c:
        workers.exclude(c, project, bad, workers.BLOCKED)
    checks.tell_new(mailing.context, project)
    assert ("worker", str(bad)) not in reported(mailing, project)


def _votes_of(service: JobService, project: str, worker: int, n: int) -> None:
    """All votes of one worker, who is right by `service.truth`."""
    names = [f"i{k}" for k in range(n)]
    with service.store.writing() as c:
        ids = items.ids_by_name(c, project, names)
        number = int(projects.next_change(c, project, lease_requests=1).change_number)
        leases.create(c, project, [(worker, [(ids[name], 0) for name in names])], 1e12, number)
        session = session_of(c, project, worker)
        answers = [answer_of(session, ids[name], service.truth[name]) for name in names]
        assert write_answers(c, project, answers) == [None] * n


def test_only_the_events_of_the_settings_are_told(mailing: JobService) -> None:
    project = mailing.create(notify={"emails": ["ann@example.org"], "events": ["done"]})
    mailing.add(project, 5)
    assert checks.tell_new(mailing.context, project, time.time() + 3 * DAY) == []
    assert mails(mailing, project) == []


def test_what_reached_nobody_is_told_once_there_is_a_mail_server(any_service: JobService) -> None:
    service = any_service
    project = service.create(notify=NOTIFY)
    service.add(project, 5)
    now = time.time() + 3 * DAY
    assert checks.tell_new(service.context, project, now) == []
    assert (mails(service, project), reported(service, project)) == ([], set())
    service.context.settings = _with_mail(service)
    assert checks.tell_new(service.context, project, now) == ["stuck"]
    assert checks.tell_new(service.context, project, now) == []
    assert len(mails(service, project)) == len(NOTIFY["emails"])


def test_what_the_webhook_got_is_not_told_again_by_another_channel(any_service: JobService) -> None:
    service = any_service
    project = service.create(notify=NOTIFY, webhook="http://127.0.0.1:9/hook")
    service.add(project, 5)
    now = time.time() + 3 * DAY
    assert checks.tell_new(service.context, project, now) == ["stuck"]
    service.context.settings = _with_mail(service)
    assert checks.tell_new(service.context, project, now) == []
    assert mails(service, project) == []
    with service.store.reading() as c:
        assert len(webhook_deliveries.latest(c, project)) == 1


def test_an_event_or_an_address_that_is_switched_on_later_is_told_then_and_once(mailing: JobService) -> None:
    project = mailing.create(notify={"emails": [], "events": ["done"]})
    mailing.add(project, 5)
    now = time.time() + 3 * DAY
    assert checks.tell_new(mailing.context, project, now) == []
    set_notify(mailing, project, emails=["ann@example.org"])
    assert checks.tell_new(mailing.context, project, now) == []
    set_notify(mailing, project, events=["stuck"])
    assert checks.tell_new(mailing.context, project, now) == ["stuck"]
    for events in ([], ["stuck"]):
        set_notify(mailing, project, events=events)
        assert checks.tell_new(mailing.context, project, now) == []
    assert len(mails(mailing, project)) == 1


def test_open_projects_that_want_to_be_told_are_checked_again_and_again(any_service: JobService) -> None:
    service = any_service
    wanted = [service.create(notify=NOTIFY), service.create(webhook="http://127.0.0.1:9/hook")]
    service.create()
    assert checked(service) == set(wanted)
    checks.enqueue_all(service.store, service.settings)
    service.do_jobs()
    assert service.result(wanted[0], checks.JOB_KIND) == {"sent": []}
    set_project(service, wanted[0], state=projects.PAUSED)
    set_project(service, wanted[1], state=projects.CLOSED)
    assert checked(service) == set()


def test_a_finished_project_is_checked_until_its_end_is_told_and_no_more(any_service: JobService) -> None:
    service = any_service
    project, other = service.create(notify=NOTIFY), service.create(notify={**NOTIFY, "events": ["stuck"]})
    hooked = service.create(notify={"emails": []}, webhook="http://127.0.0.1:9/hook")
    for finished in (project, other, hooked):
        service.add(finished, 5)
        set_project(service, finished, done=True)
    assert checked(service) == set()  # there is no mail server
    service.context.settings = service.settings = _with_mail(service)
    assert checked(service) == {project}
    assert checks.tell_new(service.context, project) == ["done"]
    assert checked(service) == set()


def test_pausing_a_project_tells_nothing_again(mailing: JobService) -> None:
    costs = {"prices": {"crowd": 0.1}, "budget": 1.0}
    spent, stuck = mailing.create(notify=NOTIFY, costs=costs), mailing.create(notify=NOTIFY)
    for project in (spent, stuck):
        mailing.add(project, 30)
    mailing.vote(spent, [f"i{k}" for k in range(9)], 1)
    now = time.time() + 3 * DAY
    for project in (spent, stuck):
        assert "stuck" in checks.tell_new(mailing.context, project, now)
        before = reported(mailing, project)
        for state in (projects.PAUSED, projects.CLOSED, projects.OPEN):
            set_project(mailing, project, state=state)
            assert checks.tell_new(mailing.context, project, now) == []
            assert reported(mailing, project) == before
    assert ("budget", "nearly") in reported(mailing, spent)


def test_a_finished_project_that_goes_on_does_not_tell_of_its_budget_again(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, costs={"prices": {"crowd": 0.1}, "budget": 1.0})
    mailing.add(project, 30)
    mailing.vote(project, [f"i{k}" for k in range(9)], 1)
    assert checks.tell_new(mailing.context, project) == ["budget"]
    set_project(mailing, project, done=True)
    assert checks.tell_new(mailing.context, project) == ["done"]
    assert ("budget", "nearly") in reported(mailing, project)
    set_project(mailing, project, done=False)
    assert checks.tell_new(mailing.context, project) == []
    assert reported(mailing, project) == {("budget", "nearly")}
    set_project(mailing, project, done=True)
    assert checks.tell_new(mailing.context, project) == ["done"]  # it went on in between


def test_visitors_who_answer_nothing_do_not_make_a_project_stuck_again(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY)
    mailing.add(project, 30)
    (visitor,) = mailing.workers(project, 1)
    now = time.time() + 3 * DAY
    assert checks.tell_new(mailing.context, project, now) == ["stuck"]
    for name in ("i0", "i1"):
        lease(mailing, project, visitor, name)
        assert checks.tell_new(mailing.context, project, now) == []
        with mailing.store.writing() as c:
            leases.release(c, project, visitor)
        assert checks.tell_new(mailing.context, project, now) == []
    assert len(mails(mailing, project)) == len(NOTIFY["emails"])


def test_a_newcomer_who_answers_nothing_does_not_make_a_full_project_stuck_again(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, plan={"per_worker": 2})
    mailing.add(project, 30)
    mailing.vote(project, ["i0", "i1"], 1)
    soon = time.time() + 2 * 3600
    assert checks.tell_new(mailing.context, project, soon) == ["stuck"]
    mailing.workers(project, 2)
    for now in (soon, soon + DAY):
        assert checks.tell_new(mailing.context, project, now) == []


def test_while_somebody_holds_an_item_a_project_does_not_become_stuck(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY)
    mailing.add(project, 30)
    (visitor,) = mailing.workers(project, 1)
    lease(mailing, project, visitor, "i0")
    assert checks.tell_new(mailing.context, project, time.time() + 3 * DAY) == []


def test_answers_that_say_cannot_tell_count_towards_the_limit_per_worker(mailing: JobService) -> None:
    project = mailing.create(notify=NOTIFY, plan={"per_worker": 2})
    mailing.add(project, 30)
    (worker,) = mailing.workers(project, 1)
    for name, label in (("i0", 1), ("i1", None)):
        item = lease(mailing, project, worker, name)
        with mailing.store.writing() as c:
            answer = answer_of(session_of(c, project, worker), item, label)
            assert write_answers(c, project, [answer]) == [None]
    assert checks.tell_new(mailing.context, project, time.time() + 2 * 3600) == ["stuck"]
    assert "Every worker has given 2 answers" in mails(mailing, project)[0].text


def test_names_of_projects_do_not_reach_headers_with_line_ends(mailing: JobService) -> None:
    hostile = "Films\r\nBcc: eve@example.org\r\n\r\n<script>‮"
    project = create_project(mailing.store, {
        "name": hostile, "classes": ["no", "yes"], "notify": NOTIFY,
    }, [{"name": "a", "content": {"text": "A."}}])  # fmt: skip
    assert checks.tell_new(mailing.context, project, time.time() + 3 * DAY) == ["stuck"]
    (mail, _) = mails(mailing, project)
    assert mail.subject == "Films Bcc: eve@example.org <script>: no answers are coming in"
