"""What is deleted is gone: items, projects and the names of workers, from the tables and from the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.jobs import erasure, refit, runner
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.store import counters, jobs, projects
from crowdpilot.service.store.tables import action_log, metadata
from tests.service.harness.service import GIF, PNG, Project, Service, Worker

NAME = "Zsuzsanna-Quirkelbach-7f3a"  # of a person; nothing else has these bytes
PROLIFIC = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24}


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    made = Service(database_url)
    yield made
    made.close()


@pytest.fixture
def project(service: Service) -> Project:
    made = service.project(name="Secret films")
    made.add_texts(6)
    return made


def admin(project: Project) -> Any:
    """Send with a key that may administer."""
    return lambda method, path="", **options: project.service.send(
        method,
        f"/api/projects/{project.id}{path}",
        headers={"X-API-Key": project.service.keys["admin"]},
        **options,
    )


def delete(project: Project, *names: str) -> Any:
    return project.service.send("DELETE", f"/api/projects/{project.id}/items", json={"items": list(names)})


def label_all(worker: Worker, label: str = "good") -> int:
    done = 0
    while items := worker.next(10):
        for item in items:
            assert worker.vote(item["item"], label).status_code == 201
        done += len(items)
    return done


def named(project: Project, name: str) -> Worker:
    return project.worker(worker=name)


def stored_bytes(service: Service) -> bytes:
    """All bytes of the database: the file with its free pages, the log, the shared memory."""
    if not service.store.sqlite:
        pytest.skip("PostgreSQL keeps the bytes until it vacuums")
    path = Path(service.settings.database.removeprefix("sqlite:///"))
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def row_counts(service: Service) -> dict[str, int]:
    with service.store.reading() as c:
        return {
            name: c.exec_driver_sql(f"SELECT COUNT(*) FROM {name}").scalar_one() for name in metadata.tables
        }


# Items


def test_deleted_items_are_gone_with_their_votes_and_everybody_agrees(service, project):
    label_all(named(project, "ana"))
    label_all(named(project, "ben"), "bad")
    service.do_jobs()
    assert delete(project, "i0", "i1").json() == {"changed": 2}
    assert {*project.decisions()} == {"i2", "i3", "i4", "i5"}
    status = project.get().json()
    assert (status["votes"], status["status"]["items"], status["status"]["votes"]["crowd"]) == (8, 4, 8)
    service.do_jobs()
    followed = project.get().json()
    other = Service(service.settings.database)
    rebuilt = other.send("GET", f"/api/projects/{project.id}", headers={"X-API-Key": service.key}).json()
    other.close()
    assert rebuilt["status"] == followed["status"]
    assert not any(
        line.startswith(("i0,", "i1,")) for line in project.get("/votes?format=csv").text.splitlines()
    )
    project.add({"name": "i0", "text": "Again."})  # the name is free
    assert delete(project, "i1").status_code == 404


def test_work_goes_on_while_items_are_deleted(service, project):
    worker = named(project, "ana")
    held = worker.next(6)
    gone = held[0]["content"]["text"]
    names = {f"Text {k}.": f"i{k}" for k in range(6)}
    delete(project, names[gone])
    assert worker.vote(held[0]["item"], "good").status_code == 403
    assert worker.vote(held[1]["item"], "good").status_code == 201
    assert label_all(worker) == 4
    assert project.get().json()["votes"] == 5


def test_a_refit_that_ran_while_items_were_deleted_is_not_applied(service, project, monkeypatch):
    label_all(named(project, "ana"))
    made = refit._model_update

    def delete_meanwhile(replica: Any) -> Any:
        update = made(replica)
        delete(project, "i0")
        return update

    with service.store.writing() as c:
        jobs.enqueue(c, project.id, "refit")
    monkeypatch.setattr(refit, "_model_update", delete_meanwhile)
    assert runner.step(service.context, "tests")
    monkeypatch.undo()
    with service.store.reading() as c:
        assert projects.find(c, project.id).update_number == 0
    service.do_jobs()
    assert project.get().json()["status"]["items"] == 5


def test_the_image_of_a_deleted_item_goes_unless_another_item_has_it(service):
    project = service.project()
    files = [("file", ("a.png", PNG)), ("file", ("b.png", PNG)), ("file", ("c.gif", GIF))]
    assert project.post("/items", files=files).status_code == 201
    assert row_counts(service)["files"] == 2
    delete(project, *(name for name in project.decisions() if name[0] in "ac"))
    assert row_counts(service)["files"] == 1
    delete(project, *project.decisions())
    assert row_counts(service)["files"] == 0


# Projects


def test_a_deleted_project_is_gone_at_once_and_then_from_every_table(service, project):
    label_all(worker := named(project, NAME))
    service.do_jobs()
    before = row_counts(service)
    send = admin(project)
    assert send("DELETE", json={"name": "Films"}).status_code == 409
    assert (
        project.service.send(
            "DELETE", f"/api/projects/{project.id}", json={"name": "Secret films"}
        ).status_code
        == 403
    )
    assert send("DELETE", json={"name": "Secret films"}).status_code == 204
    assert send("GET").status_code == 404
    assert send("POST", "/resume").status_code == 404
    assert worker.send("GET", "/api/next").status_code == 404
    assert project.id not in service.send("GET", "/api/projects").text
    service.do_jobs()
    after = row_counts(service)
    kept = {"members", "api_keys", "action_log", "clock", "counters", "requester_sessions"}
    assert before["votes"] == before["items"] == 6
    assert {name for name, n in after.items() if n} <= kept
    with service.store.reading() as c:
        rows = c.execute(action_log.select().where(action_log.c.project == project.id)).all()
    assert [(row.action, row.detail) for row in rows] == [("delete project", {})]


def test_the_deletion_of_a_project_that_was_interrupted_is_taken_up_again(service, project):
    admin(project)("DELETE", json={"name": "Secret films"})
    with service.store.writing() as c:
        c.exec_driver_sql("DELETE FROM jobs")
    erasure.enqueue_due(service.store)
    service.do_jobs()
    assert row_counts(service)["projects"] == 0


def test_a_deleted_project_leaves_no_bytes_in_the_files_of_the_database(service, project):
    project.add({"name": "diary", "text": f"{NAME} was here."})
    label_all(named(project, NAME))
    service.do_jobs()
    assert NAME.encode() in stored_bytes(service)
    admin(project)("DELETE", json={"name": "Secret films"})
    service.do_jobs()
    assert NAME.encode() not in stored_bytes(service)


# Workers


def test_an_erased_name_is_gone_from_the_files_of_the_database(service, project):
    others = [f"other-{n}" for n in range(60)]
    for name in [*others[:30], NAME, *others[30:]]:
        named(project, name)
    worker = named(project, NAME)
    label_all(worker)
    service.do_jobs()
    ids = {row["external"]: row["worker"] for row in project.get("/workers").json()["workers"]}
    assert NAME.encode() in stored_bytes(service)
    assert project.delete(f"/workers/{ids[NAME]}").status_code == 204
    assert NAME.encode() not in stored_bytes(service)
    assert project.get().json()["votes"] == 6  # their votes stay
    assert worker.send("GET", "/api/next").status_code in (401, 403)


def test_somebody_who_was_erased_does_not_come_back_by_any_named_link(project):
    link = project.post("/invitations", json={"worker": NAME}).json()
    body = {"project": project.id, "invite": link["link"].partition("invite=")[2]}
    assert project.service.http.post("/api/sessions", json=body).status_code == 201
    assert project.delete("/workers/1").status_code == 204
    assert project.service.http.post("/api/sessions", json=body).status_code == 403
    again = project.post("/invitations", json={"worker": NAME}).json()["link"].partition("invite=")[2]
    refused = project.service.http.post("/api/sessions", json={**body, "invite": again})
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "you cannot work on this project any more",
    )
    assert len(project.get("/workers").json()["workers"]) == 1
    listed = project.get("/invitations").json()["invitations"]
    assert [(one["worker"], one["open"]) for one in listed[1:2]] == [("erased", False)]


def test_somebody_who_was_erased_does_not_come_back_from_prolific(service):
    project = service.project(prolific={"study": "b" * 24})
    body = {"project": project.id, "prolific": PROLIFIC}
    assert service.http.post("/api/sessions", json=body).status_code == 201
    project.delete("/workers/1")
    assert service.http.post("/api/sessions", json=body).status_code == 403
    other = {**body, "prolific": {**PROLIFIC, "PROLIFIC_PID": "d" * 24}}
    assert service.http.post("/api/sessions", json=other).status_code == 201


def test_all_data_about_a_worker_can_be_exported(service):
    project = service.project(consent="Do you agree?", prolific={"study": "b" * 24})
    project.add_texts(2)
    body = {"project": project.id, "prolific": PROLIFIC, "consent": True}
    worker = Worker(service, service.http.post("/api/sessions", json=body).json()["token"])
    label_all(worker)
    named(project, "somebody else")
    data = project.get("/workers/1/data")
    assert "attachment" in data.headers["content-disposition"]
    found = data.json()
    assert found["worker"]["external"] == "a" * 24
    assert found["worker"]["consent"] == onboarding.consent_version({"consent": "Do you agree?"})
    assert "nonce" not in found["worker"]
    assert sorted((vote["item_name"], vote["label"]) for vote in found["votes"]) == [("i0", 1), ("i1", 1)]
    assert all(vote["time"] for vote in found["votes"])
    assert next(entry["action"] for entry in found["log"]) == "arrive"
    assert "somebody else" not in data.text
    assert service.http.get(f"/api/projects/{project.id}/workers/1/data").status_code == 401
    assert project.get("/workers/99/data").status_code == 404


# Retention


def close_long_ago(project: Project, days: float) -> None:
    project.post("/close")
    with project.service.store.writing() as c:
        c.exec_driver_sql(f"UPDATE projects SET closed = closed - {days * 86400}")


@pytest.mark.parametrize(("days", "names"), [(9.9, {NAME}), (10.1, {None})])
def test_names_are_erased_when_the_retention_time_is_over(service, days, names):
    project = service.project(retention={"days": 10})
    project.add_texts(2)
    label_all(named(project, NAME))
    close_long_ago(project, days)
    erasure.enqueue_due(service.store)
    service.do_jobs()
    assert {row["external"] for row in project.get("/workers").json()["workers"]} == names
    assert project.get().json()["votes"] == 2
    if service.store.sqlite:
        assert (NAME.encode() in stored_bytes(service)) == (names == {NAME})


def test_a_project_is_deleted_when_the_retention_time_is_over_if_it_says_so(service):
    project = service.project(retention={"days": 10, "delete_project": True})
    close_long_ago(project, 11)
    erasure.enqueue_due(service.store)
    service.do_jobs()
    assert row_counts(service)["projects"] == 0


def test_an_open_project_keeps_its_names(service):
    project = service.project(retention={"days": 0})
    named(project, NAME)
    erasure.enqueue_due(service.store)
    service.do_jobs()
    assert project.get("/workers").json()["workers"][0]["external"] == NAME


def test_counts_by_network_address_are_deleted_when_they_are_old(service: Service) -> None:
    with service.store.writing() as c:
        counters.add(c, "guests:p:192.0.2.0/24", 60.0, now=1e6)
    erasure.enqueue_due(service.store)
    with service.store.reading() as c:
        assert counters.read(c, "guests:p:192.0.2.0/24", 60.0, now=1e6) == 0
