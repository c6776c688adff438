"""Label Studio: exports come in, tasks go out, and annotations are votes that come, change and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import projects
from crowdpilot.service.store.label_studio import votes as ls_votes
from tests.service.harness.service import CRITERIA, Project, Service

CONFIG = (
    '<View><Text name="t" value="$text"/><Choices name="c" toName="t">'
    '<Choice value="bad"/><Choice value="good"/></Choices></View>'
)


def annotation(number: int, task: int, label: str, by: int = 1) -> dict[str, Any]:
    result = {"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": [label]}}
    return {"id": number, "task": task, "completed_by": by, "result": [result], "lead_time": 3.5}


@pytest.fixture
def imported(project: Project) -> Project:
    """Three tasks, of which the first is annotated."""
    tasks = [{"id": n, "data": {"text": f"Text {n}"}, "annotations": []} for n in range(1, 4)]
    tasks[0]["annotations"] = [annotation(10, 1, "good"), annotation(11, 1, "bad", by=2)]
    answer = project.post("/label-studio", json=tasks)
    assert (answer.status_code, answer.json()) == (201, {"items": 3, "votes": 2, "skipped": 0})
    return project


class Backend:
    """The project as Label Studio sees it."""

    def __init__(self, project: Project) -> None:
        address = project.get("/label-studio/backend").json()["address"]
        self.client, self.path = project.service.http, address.removeprefix(project.service.settings.address)

    def post(self, what: str, **body: Any) -> Any:
        return self.client.post(f"{self.path}/{what}", json=body)

    def event(self, action: str, *annotations: dict[str, Any], **more: Any) -> Any:
        key = "annotations" if action == "ANNOTATIONS_DELETED" else "annotation"
        given: Any = list(annotations) if key == "annotations" else annotations[0]
        return self.post("webhook", action=action, **{key: given}, **more).json()


def tally(project: Project) -> dict[str, int]:
    return {name: row["votes"] for name, row in project.decisions().items()}


def test_an_export_comes_in_and_may_come_again(imported: Project) -> None:
    assert tally(imported) == {"1": 2, "2": 0, "3": 0}
    again = [{"id": 1, "data": {"text": "Text 1"}, "annotations": [annotation(10, 1, "bad")]}]
    assert imported.post("/label-studio", json=again).json() == {"items": 0, "votes": 1, "skipped": 0}
    assert tally(imported)["1"] == 2
    assert imported.decisions()["1"]["label"] == "bad"


def test_tasks_go_out_and_come_back_in(imported: Project) -> None:
    tasks = imported.get("/label-studio").json()
    assert tasks[0]["data"] == {"text": "Text 1", "crowdpilot_item": "1"}
    assert len(tasks[0]["annotations"]) == 2
    assert tasks[0]["predictions"][0]["result"][0]["value"]["choices"][0] in ("bad", "good")
    other = imported.service.project()
    assert other.post("/label-studio", json=tasks).json() == {"items": 3, "votes": 2, "skipped": 0}


@pytest.mark.parametrize(
    "task",
    [
        {"id": 1, "data": {}},
        {"id": 1, "data": {"image": "/data/local.png"}},
        {"id": 1, "data": {"text": "\0"}},
        {"id": "x" * 600, "data": {"text": "x"}},
        {"id": 1, "data": {"text": "x"}, "annotations": [annotation(1, 1, "fair")]},
    ],
)
def test_a_bad_export_is_refused(project: Project, task: dict[str, Any]) -> None:
    assert project.post("/label-studio", json=[task]).status_code == 422
    assert project.decisions() == {}


def test_criteria_do_not_fit(service: Service) -> None:
    project = service.project(**{**CRITERIA, "costs": {}})
    assert project.get("/label-studio").status_code == 409
    assert project.post("/label-studio", json=[{"id": 1, "data": {"text": "x"}}]).status_code == 409


def test_the_backend_answers_who_knows_the_password(imported: Project) -> None:
    backend = Backend(imported)
    assert backend.client.get(f"{backend.path}/health").json()["status"] == "UP"
    assert backend.client.get(f"/label-studio/{imported.id}/guess/health").status_code == 404
    assert backend.post("setup", schema=CONFIG).json()["model_version"].startswith("crowdpilot")
    assert backend.post("setup", schema=CONFIG.replace("good", "fair")).status_code == 422
    tasks = [{"id": 1, "data": {}}, {"id": 99, "data": {}}]
    results = backend.post("predict", tasks=tasks, label_config=CONFIG).json()["results"]
    assert results[0]["score"] >= 0.5
    assert results[1]["result"] == []


def test_annotations_are_votes_that_come_change_and_go(imported: Project) -> None:
    backend = Backend(imported)
    new = annotation(12, 2, "good")
    assert backend.event("ANNOTATION_CREATED", new) == {"changed": 1, "skipped": 0}
    assert backend.event("ANNOTATION_CREATED", new) == {"changed": 1, "skipped": 0}
    assert (tally(imported)["2"], imported.decisions()["2"]["label"]) == (1, "good")
    backend.event("ANNOTATION_UPDATED", annotation(12, 2, "bad"))
    assert (tally(imported)["2"], imported.decisions()["2"]["label"]) == (1, "bad")
    assert backend.event("ANNOTATIONS_DELETED", {"id": 12}) == {"changed": 1, "skipped": 0}
    assert backend.event("ANNOTATIONS_DELETED", {"id": 12}) == {"changed": 0, "skipped": 1}
    assert (tally(imported)["2"], imported.get().json()["votes"]) == (0, 2)
    backend.event("ANNOTATION_CREATED", annotation(13, 2, "good"))
    assert tally(imported)["2"] == 1
    assert backend.event("ANNOTATION_CREATED", annotation(14, 77, "good")) == {"changed": 0, "skipped": 1}


def test_what_was_taken_back_is_removed_from_every_replica(imported: Project) -> None:
    backend = Backend(imported)
    for n, label in enumerate(["good", "bad", "good"]):
        backend.event("ANNOTATION_CREATED", annotation(20 + n, 3, label, by=n))
        imported.decisions()  # the replica has the vote now
    imported.service.do_jobs()
    backend.event("ANNOTATIONS_DELETED", {"id": 20})
    backend.event("ANNOTATION_UPDATED", annotation(21, 3, "good", by=1))
    with imported.service.store.reading() as c:
        anew = Replica(projects.find(c, imported.id))
        anew.catch_up(c)
    found, now = imported.decisions(), anew.campaign.decide()
    assert found["3"]["votes"] == 2
    np.testing.assert_allclose([row["p_good"] for row in found.values()], now.probs[:, 1], rtol=1e-12)
    np.testing.assert_allclose(imported.get().json()["status"]["spent"], anew.campaign.view.spent)


def test_the_model_is_updated_when_votes_change(imported: Project) -> None:
    imported.post("/items/stop", json={"items": ["1", "2", "3"]})
    assert imported.post("/vote-requests", json={}).json()["wait"] is True
    imported.service.do_jobs()
    assert imported.post("/vote-requests", json={}).json()["wait"] is False
    Backend(imported).event("ANNOTATION_UPDATED", annotation(10, 1, "bad"))
    assert imported.post("/vote-requests", json={}).json()["wait"] is True
    imported.service.do_jobs()
    assert imported.post("/vote-requests", json={}).json()["wait"] is False


def test_a_worker_cannot_have_their_vote_deleted_by_a_clever_key(imported: Project) -> None:
    worker = imported.worker()
    item = worker.next(1)[0]["item"]
    assert worker.vote(item, "good", key="label_studio-77").status_code == 201
    assert Backend(imported).event("ANNOTATIONS_DELETED", {"id": 77}) == {"changed": 0, "skipped": 1}


TASK = {"id": 77, "data": {"text": "Text 77"}, "is_labeled": False, "total_annotations": 1}


def test_a_vote_on_an_unknown_task_creates_its_item_if_the_event_holds_the_task(imported: Project) -> None:
    backend = Backend(imported)
    changed = backend.event("ANNOTATION_CREATED", annotation(14, 77, "good"), task=TASK)
    assert changed == {"changed": 1, "skipped": 0}
    assert (tally(imported)["77"], imported.decisions()["77"]["label"]) == (1, "good")


def test_tasks_come_many_at_once_and_go(imported: Project) -> None:
    backend = Backend(imported)
    many = [
        {"id": n, "data": {"text": f"{n} " + "x" * 1000}, "comment_authors": []} for n in range(100, 1300)
    ]
    assert backend.post("webhook", action="TASKS_CREATED", tasks=many).status_code == 200
    assert len(imported.decisions()) == 1203
    assert backend.post("webhook", action="TASKS_DELETED", tasks=[{"id": 100}, {"id": 9}]).status_code == 200
    assert "100" not in imported.decisions()


def test_one_annotation_is_one_vote_whatever_it_calls_its_user(imported: Project) -> None:
    backend = Backend(imported)
    backend.event("ANNOTATION_CREATED", annotation(20, 2, "good", by=7))
    for by in (7, {"id": 7, "email": "ann@example.org"}, {"email": "ann@example.org"}, "ann@example.org"):
        again = {**annotation(20, 2, "good"), "completed_by": by}
        export = [{"id": 2, "data": {"text": "Text 2"}, "annotations": [again]}]
        assert imported.post("/label-studio", json=export).status_code == 201
        assert tally(imported)["2"] == 1
    assert imported.get().json()["votes"] == 3


def test_an_annotation_that_a_reviewer_changes_is_their_vote(imported: Project) -> None:
    backend = Backend(imported)
    backend.event("ANNOTATION_CREATED", {**annotation(20, 2, "good", by=7), "updated_by": 7})
    backend.event("ANNOTATION_UPDATED", {**annotation(20, 2, "bad", by=7), "updated_by": 8})
    assert (tally(imported)["2"], imported.decisions()["2"]["label"]) == (1, "bad")
    with imported.service.store.reading() as c:
        found = {(row.external, row.label) for row in ls_votes.keys(c, imported.id) if row.name == "2"}
    assert found == {("8", 0)}


def test_ground_truth_that_comes_later_is_gold(imported: Project) -> None:
    starred = {**annotation(10, 1, "good"), "ground_truth": True}
    export = [{"id": 1, "data": {"text": "Text 1"}, "annotations": [starred]}]
    assert imported.post("/label-studio", json=export).json() == {"items": 0, "votes": 1, "skipped": 0}
    assert imported.decisions()["1"]["gold"] == "good"


def test_there_is_no_prediction_of_which_nothing_is_known(imported: Project) -> None:
    tasks = [{"id": 1, "data": {}}, {"id": 2, "data": {}}]
    answer = Backend(imported).post("predict", tasks=tasks, label_config=CONFIG).json()
    assert [len(one["result"]) for one in answer["results"]] == [1, 0]


def test_the_model_version_sorts_as_text_and_changes_with_a_refit_only(imported: Project) -> None:
    backend = Backend(imported)

    def version() -> str:
        return str(backend.post("setup", schema=CONFIG).json()["model_version"])

    before = version()
    backend.event("ANNOTATION_CREATED", annotation(20, 2, "good", by=7))
    assert version() == before
    imported.post("/items/stop", json={"items": ["1", "2", "3"]})
    imported.post("/vote-requests", json={})
    imported.service.do_jobs()
    assert version() > before
    assert len(version()) == len(before)
