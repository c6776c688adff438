"""The job that follows Label Studio: when it is queued, and what it says if nobody answers."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from crowdpilot.service.jobs import label_studio
from crowdpilot.service.label_studio import connection, tokens
from crowdpilot.service.platforms.label_studio.config import write_config
from crowdpilot.service.store import items, jobs, projects
from crowdpilot.service.store.label_studio import connections, tasks
from crowdpilot.service.store.messages import webhook_deliveries
from tests.service.harness.service import Project, Service, local_address


@pytest.fixture
def project(database_url: str) -> Iterator[Project]:
    """A project that is connected to a server which does not answer."""
    service = Service(database_url, webhook_networks=(ip_network("127.0.0.0/8"),))
    made = service.project()
    values = {
        "address": local_address(), "token": tokens.encrypt(service.settings.secret, made.id, "0" * 40),
        "number": 3, "title": "Films", "config": write_config(["bad", "good"]), "control": "label",
        "settings_before": {}, "skips_count": False,
    }  # fmt: skip
    with service.store.writing() as c:
        connections.create(c, made.id, values)
    yield made
    service.close()


def queued(project: Project) -> list[str]:
    with project.service.store.reading() as c:
        return [row.kind for row in jobs.latest(c, project.id) if row.state == jobs.QUEUED]


def test_a_server_that_does_not_answer_is_a_problem_of_the_connection(project: Project) -> None:
    label_studio.enqueue_all(project.service.store)
    assert queued(project) == [label_studio.JOB_KIND]
    project.service.do_jobs()
    found = connection.find(project.service.store, project.id)
    assert found is not None
    assert found.state == "failing"
    assert "could not be synchronised: Label Studio at http://127.0.0.1" in found.problems[0].sentence
    assert "0" * 40 not in str(found)


def test_a_connection_that_fails_is_tried_again_later(project: Project) -> None:
    with project.service.store.writing() as c:
        connections.change(c, project.id, state=connections.FAILING)
    label_studio.enqueue_all(project.service.store)
    assert queued(project) == [label_studio.JOB_KIND]
    with project.service.store.reading() as c:
        assert not jobs.is_due(c)


def test_a_refit_is_followed_by_a_look_at_what_is_wanted_now(project: Project) -> None:
    project.add_texts(3)
    assert project.add_votes(("i0", "ann", "good")).status_code == 201
    with project.service.store.writing() as c:
        jobs.enqueue(c, project.id, jobs.REFIT)
    project.service.do_jobs()
    with project.service.store.reading() as c:
        assert jobs.newest(c, project.id, label_studio.JOB_KIND) is not None


def test_a_project_is_done_when_nobody_is_left_there_who_could_vote(project: Project) -> None:
    """One vote on each item is not enough for the campaign; it is all that comes."""
    store = project.service.store
    with store.writing() as c:
        spec = {**projects.find(c, project.id).spec, "webhook": "https://example.org/events"}
        projects.change(c, project.id, spec=spec)
    project.add_texts(3)
    assert project.add_votes(*((f"i{n}", "ann", "good") for n in range(3))).status_code == 201
    project.service.do_jobs()
    assert not is_done(project)
    with store.writing() as c:
        connections.change(c, project.id, state=connections.FINISHED)
        jobs.enqueue(c, project.id, "completion")
    project.service.do_jobs()
    assert is_done(project)
    with store.reading() as c:
        sent = {row.event: row.payload for row in webhook_deliveries.latest(c, project.id, 10)}
    assert {one["item"] for one in sent["item.decided"]["items"]} == {"i0", "i1", "i2"}
    assert "project.done" in sent
    found = connection.find(store, project.id)
    assert found is not None
    assert found.state == "failing"  # nobody answers, which does not undo what is done
    with store.writing() as c:
        connections.change(c, project.id, state=connections.RUNNING)  # somebody new has come
        jobs.enqueue(c, project.id, "completion")
    project.service.do_jobs()
    assert not is_done(project)


def is_done(project: Project) -> bool:
    with project.service.store.reading() as c:
        return bool(projects.find(c, project.id).done)


def test_other_projects_are_left_alone(project: Project) -> None:
    other = project.service.project()
    with project.service.store.writing() as c:
        projects.change(c, project.id, state=projects.DELETED)
        jobs.enqueue(c, other.id, jobs.REFIT)
    label_studio.enqueue_all(project.service.store)
    project.service.do_jobs()
    with project.service.store.reading() as c:
        assert jobs.newest(c, other.id, label_studio.JOB_KIND) is None


def test_one_process_at_a_time_opens_and_closes_tasks(project: Project) -> None:
    store = project.service.store
    with store.writing() as c:
        assert connections.claim(c, project.id, "one")
        assert not connections.claim(c, project.id, "two")
        assert not connections.release(c, project.id, "one"), "something has changed since"
        assert connections.release(c, project.id, "one")
        assert connections.claim(c, project.id, "two")
        connections.change(c, project.id, driver_until=0.0)
        assert connections.claim(c, project.id, "three"), "the driver has died"


def test_problems_are_kept_up_to_a_number_and_one_that_repeats_moves_to_the_front(project: Project) -> None:
    with project.service.store.writing() as c:
        for n in range(100):
            connections.add_problem(c, project.id, f"problem {n}")
        connections.add_problem(c, project.id, "problem 90")
        connections.add_problem(c, "another", "nobody hears it")
    found = connection.find(project.service.store, project.id)
    assert found is not None
    assert [problem.sentence for problem in found.problems[:3]] == ["problem 90", "problem 99", "problem 98"]
    assert len(found.problems) == connections.MAX_PROBLEMS


def test_a_connection_ends_also_if_nobody_answers_or_the_token_cannot_be_read(project: Project) -> None:
    service = project.service
    with service.store.writing() as c:
        connections.change(c, project.id, token=tokens.encrypt("t" * 40, project.id, "x"))
    connection.disconnect(service.store, service.settings, project.id, "tests")
    assert connection.find(service.store, project.id) is None


def test_what_is_seen_of_tasks_is_stored_and_stored_again(project: Project) -> None:
    project.add_texts(2)
    with project.service.store.writing() as c:
        ids = items.ids_by_name(c, project.id, ["i0", "i1"])
        first = tasks.Seen(7, ids["i0"], ["3"], 1, [], is_open=True)
        second = tasks.Seen(8, ids["i1"], [], 0, [5], is_open=True)
        tasks.save(c, project.id, [first, second])
        tasks.save(c, project.id, [first._replace(annotators=["3", "4"], annotations=2, is_open=False)])
        tasks.set_open(c, project.id, {8: 1}, is_open=False)
        tasks.set_written(c, project.id, 8, {"label": "good"})
        found = {row.task: row for row in tasks.list_all(c, project.id)}
        assert (found[7].name, found[7].annotators, found[7].annotations) == ("i0", ["3", "4"], 2)
        assert (found[8].ignored, found[8].annotations, found[8].written) == ([5], 1, {"label": "good"})
        assert tasks.count(c, project.id) == (2, 0)
        tasks.remove(c, project.id, [7])
        connections.remove(c, project.id)
        assert tasks.count(c, project.id) == (0, 0)


def test_synchronisations_that_find_nothing_leave_no_row(project: Project) -> None:
    store = project.service.store
    with store.writing() as c:
        connections.remove(c, project.id)
        jobs.enqueue(c, project.id, label_studio.JOB_KIND)
    project.service.do_jobs()
    with store.reading() as c:
        assert jobs.newest(c, project.id, label_studio.JOB_KIND) is None
