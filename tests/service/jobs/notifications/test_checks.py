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
        return notifications.read(c, project)


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


def test_without_a_mail_server_nothing_is_queued(service: JobService) -> None:
    project = service.create(notify=NOTIFY)
    service.add(project, 5)
    assert checks.tell_new(service.context, project, time.time() + 3 * DAY) == ["stuck"]
    assert mails(service, project) == []


def test_projects_that_want_to_be_told_are_checked_again_and_again(any_service: JobService) -> None:
    service = any_service
    wanted = [service.create(notify=NOTIFY), service.create(webhook="http://127.0.0.1:9/hook")]
    other = service.create()
    checks.enqueue_all(service.store)
    with service.store.reading() as c:
        pending = {id for id in (*wanted, other) if jobs.is_pending(c, id, checks.JOB_KIND)}
    assert pending == set(wanted)
    service.do_jobs()
    assert service.result(wanted[0], checks.JOB_KIND) == {"sent": []}


def test_names_of_projects_do_not_reach_headers_with_line_ends(mailing: JobService) -> None:
    hostile = "Films\r\nBcc: eve@example.org\r\n\r\n<script>‮"
    project = create_project(mailing.store, {
        "name": hostile, "classes": ["no", "yes"], "notify": NOTIFY,
    }, [{"name": "a", "content": {"text": "A."}}])  # fmt: skip
    assert checks.tell_new(mailing.context, project, time.time() + 3 * DAY) == ["stuck"]
    (mail, _) = mails(mailing, project)
    assert mail.subject == "Films Bcc: eve@example.org <script>: no answers are coming in"
