"""What is pulled from Label Studio, while webhooks come in at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crowdpilot.service.label_studio import tokens
from crowdpilot.service.label_studio.events import apply_event
from crowdpilot.service.label_studio.links import Link, open_link
from crowdpilot.service.label_studio.pulling import Pulled, name_workers_by_number, pull
from crowdpilot.service.platforms.label_studio.client import LabelStudio
from crowdpilot.service.platforms.label_studio.config import write_config
from crowdpilot.service.requester_actions import erase
from crowdpilot.service.store import items
from crowdpilot.service.store.label_studio import connections, tasks, votes
from tests.service.harness.service import Project, Service
from tests.service.platforms.label_studio.test_client import LEGACY, LOOPBACK, answering

NOON, LATER = "2026-01-01T12:00:00Z", "2026-01-01T12:05:00Z"


def annotation(number: int, label: str, by: int = 5, at: str = NOON) -> dict[str, Any]:
    result = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"id": number, "completed_by": by, "result": [result], "created_at": at, "updated_at": at}


def task(number: int, *annotations: dict[str, Any], at: str = NOON, **more: Any) -> dict[str, Any]:
    data = {"text": f"Text {number}"}
    counts = {"total_annotations": len(annotations), "is_labeled": False}
    return {"id": number, "data": data, "annotations": list(annotations), "updated_at": at, **counts, **more}


@contextmanager
def linked(project: Project, *tasks: dict[str, Any]) -> Iterator[Link]:
    """A link to a server that has these tasks."""
    service = project.service
    with answering(lambda *_: (200, {"tasks": list(tasks), "total": len(tasks)})) as address:
        token = tokens.encrypt(service.settings.secret, project.id, LEGACY)
        values = {
            "address": address, "token": token, "number": 3, "title": "Films", "control": "label",
            "config": write_config(["bad", "good"]), "settings_before": {}, "skips_count": False,
        }  # fmt: skip
        with service.store.writing() as c:
            if connections.find(c, project.id) is None:
                connections.create(c, project.id, values)
            connections.change(c, project.id, address=address)
        yield open_link(service.store, service.settings, project.id)


@pytest.fixture
def project(database_url: str) -> Iterator[Project]:
    service = Service(database_url, webhook_networks=LOOPBACK)
    yield service.project()
    service.close()


def keys(project: Project) -> set[str]:
    with project.service.store.reading() as c:
        return {row.key for row in votes.keys(c, project.id)}


def problems(project: Project) -> list[str]:
    with project.service.store.reading() as c:
        row = connections.find(c, project.id)
    return [] if row is None else [sentence for _, sentence in row.problems]


def test_a_task_that_cannot_be_read_does_not_hold_up_the_others(project: Project) -> None:
    bad = [task(2, annotation(9, "fair")), {**task(3), "data": {"other": 1}}, task(4, data={"text": "\0"})]
    with linked(project, task(1, annotation(1, "good")), *bad) as link:
        assert pull(project.service.store, link, everything=True) == Pulled(1, 1, 0, late=1)
    assert set(project.decisions()) == {"1"}
    assert problems(project) == [
        "task '4' has a text that cannot be taken: the text holds a zero character",
        "task 3 has no text in its data; add it there",
        "task 2 has an answer that is not one of bad, good",
    ]


def test_a_vote_that_came_after_the_page_was_read_is_not_taken_back(project: Project) -> None:
    store = project.service.store
    with linked(project, task(1, annotation(1, "good"), annotation(2, "bad", 6, LATER), at=LATER)) as link:
        pull(store, link, everything=True)
    with linked(project, task(1, annotation(1, "good"))) as link:
        pull(store, link, everything=True)
    assert keys(project) == {"label_studio-1", "label_studio-2"}
    with linked(project, task(1, annotation(1, "good"), at=LATER)) as link:
        assert pull(store, link, everything=True).votes == 1
    assert keys(project) == {"label_studio-1"}


def test_what_is_pulled_twice_is_there_once(project: Project) -> None:
    tasks = [task(n, annotation(n, "good"), annotation(100 + n, "bad", 6)) for n in range(1, 5)]
    with linked(project, *tasks) as link:
        assert pull(project.service.store, link, everything=True) == Pulled(4, 8, 0, late=8)
        assert pull(project.service.store, link, everything=True) == Pulled(0, 0, 0)


def test_items_of_tasks_that_are_gone_are_withdrawn_if_all_are_read(project: Project) -> None:
    store = project.service.store
    with linked(project, task(1), task(2)) as link:
        pull(store, link, everything=True)
    with linked(project, task(1)) as link:
        assert link.row.seen == NOON
        pull(store, link, everything=False)
        assert set(project.decisions()) == {"1", "2"}
        pull(store, link, everything=True)
    assert set(project.decisions()) == {"1"}


def test_a_blocked_user_does_not_hold_up_the_others(project: Project) -> None:
    store = project.service.store
    with linked(project, task(1, annotation(1, "good", 5))) as link:
        pull(store, link, everything=True)
    with store.reading() as c:
        [worker] = {row.worker for row in votes.keys(c, project.id)}
    assert project.post(f"/workers/{worker}/block").status_code == 200
    with linked(
        project, task(1, annotation(1, "good", 5)), task(2, annotation(2, "bad", 5)), task(3)
    ) as link:
        found = pull(store, link, everything=True)
    assert found.votes == 0
    with store.reading() as c:
        assert items.ids_by_name(c, project.id, ["1", "2", "3"]).keys() == {"1", "2", "3"}


def test_the_number_of_a_user_whose_data_was_erased_is_not_kept_and_does_not_come_back(
    project: Project,
) -> None:
    store = project.service.store
    there = task(1, annotation(1, "good", 5), annotation(2, "bad", 6)), task(2, annotation(3, "bad", 5))
    with linked(project, *there) as link:
        pull(store, link, everything=True)
        with store.reading() as c:
            [worker] = {row.worker for row in votes.keys(c, project.id) if row.external == "5"}
        erase(store, project.service.settings.secret, project.id, "tests", worker)
        assert annotators(project) == {1: ["6"], 2: []}
        pull(store, link, everything=True)
        assert annotators(project) == {1: ["6"], 2: []}
    event = {
        "action": "ANNOTATION_CREATED", "task": there[1],
        "annotation": {**annotation(4, "good", 5), "task": 2},
    }  # fmt: skip
    apply_event(store, project.service.settings, link.project, event)
    assert annotators(project) == {1: ["6"], 2: []}
    assert not any("5" in sentence for sentence in problems(project))


def annotators(project: Project) -> dict[int, list[str]]:
    """Who has annotated each task, as it is stored."""
    with project.service.store.reading() as c:
        return {row.task: row.annotators for row in tasks.list_all(c, project.id)}


def test_workers_known_by_their_e_mail_addresses_become_the_users_they_are(project: Project) -> None:
    store = project.service.store
    there = task(1, annotation(1, "good", 5))
    mailed = {**there, "annotations": [{**annotation(1, "good"), "completed_by": "Ann@example.org"}]}
    assert project.post("/label-studio", json=[mailed]).json()["votes"] == 1
    users = [{"id": 5, "email": "ann@example.org"}, {"id": 6, "email": "bob@example.org"}]
    with answering(lambda *_: (200, users)) as address, linked(project, there) as link:
        name_workers_by_number(store, link._replace(client=LabelStudio(address, LEGACY, LOOPBACK)))
        assert pull(store, link, everything=True).votes == 0
    with store.reading() as c:
        assert [(row.key, row.external) for row in votes.keys(c, project.id)] == [("label_studio-1", "5")]
