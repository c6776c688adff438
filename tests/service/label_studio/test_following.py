"""What happens in a real Label Studio is followed here: whose votes, which tasks, what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.label_studio import connection
from crowdpilot.service.store import items
from crowdpilot.service.store.label_studio import votes as ls_votes
from tests.service.harness.label_studio_server import LabelStudio, User, choices_config
from tests.service.harness.service import Project, Service, local_address, sqlite_url

pytestmark = pytest.mark.thorough
LOOPBACK = IPv4Network("127.0.0.0/8")
CLASSES = ["bad", "good"]


class Connected:
    """A project that is connected to a real one."""

    def __init__(self, service: Service, server: LabelStudio, project: Project, number: int) -> None:
        self.service, self.server, self.project, self.number = service, server, project, number

    def votes(self) -> dict[str, list[tuple[str, str]]]:
        """(worker, class) of the votes on each item."""
        found: dict[str, list[tuple[str, str]]] = {}
        with self.service.store.reading() as c:
            for row in ls_votes.keys(c, self.project.id):
                found.setdefault(row.name, []).append((row.external, CLASSES[row.label]))
        return {name: sorted(votes) for name, votes in found.items()}

    def sync(self) -> connection.Counts:
        return connection.sync(self.service.store, self.service.settings, self.project.id)

    def state(self) -> connection.Connection:
        found = connection.find(self.service.store, self.project.id)
        assert found is not None
        return found

    def rows(self) -> dict[str, Any]:
        with self.service.store.reading() as c:
            return {row.name: row for row in items.list_all(c, self.project.id)}


@contextmanager
def connected(
    server: LabelStudio, folder: Path, tasks: list[dict[str, Any]], config: str = "", **more: Any
) -> Iterator[Connected]:
    number = server.add_project(config or choices_config(CLASSES), tasks)
    service = Service(sqlite_url(folder), address=local_address(), webhook_networks=(LOOPBACK,))
    project = service.project(costs={"prices": {"crowd": 0.02}})
    try:
        with service.listening():
            connection.connect(
                service.store, service.settings, project.id, "tests", address=server.address,
                token=server.admin.token, ls_project=number, **more,
            )  # fmt: skip
            yield Connected(service, server, project, number)
    finally:
        service.close()


@pytest.fixture
def here(label_studio: LabelStudio, tmp_path: Path) -> Iterator[Connected]:
    with connected(label_studio, tmp_path, [{"text": f"Item {n}"} for n in range(6)]) as found:
        yield found


@pytest.fixture
def user(label_studio: LabelStudio) -> User:
    return label_studio.add_user()


def test_votes_come_change_and_go_and_drafts_and_skipped_tasks_are_none(here: Connected, user: User) -> None:
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    first, second = user.submit(tasks[0], "good"), user.submit(tasks[1], "good")
    user.skip(tasks[2])
    user.save_draft(tasks[3], "good")
    me = str(user.id)
    assert here.votes() == {str(tasks[0]): [(me, "good")], str(tasks[1]): [(me, "good")]}
    user.update(first, "bad")
    user.delete(second)
    assert here.votes() == {str(tasks[0]): [(me, "bad")]}
    assert here.sync() == (0, 0, 1), "nothing is found that no webhook has brought"
    assert here.votes() == {str(tasks[0]): [(me, "bad")]}


def test_the_export_of_a_project_that_is_connected_adds_nothing(here: Connected, user: User) -> None:
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    user.submit(tasks[0], "good")
    before = here.votes()
    export = here.server.export(here.number)
    for task in export:
        task["predictions"] = [81, 82]
        for one in task["annotations"]:
            one["completed_by"] = {"id": user.id, "email": user.email}
    answer = here.project.post("/label-studio", json=export)
    assert (answer.status_code, answer.json()["items"]) == (201, 0), answer.text
    for one in export[0]["annotations"]:
        one["completed_by"] = {"email": user.email}
    assert here.project.post("/label-studio", json=export).status_code == 201
    assert here.votes() == before
    assert here.project.get().json()["votes"] == 1


def test_the_edit_of_a_reviewer_is_their_vote(here: Connected, user: User) -> None:
    reviewer = here.server.add_user("reviewer")
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    changed, confirmed = user.submit(tasks[0], "good"), user.submit(tasks[1], "good")
    reviewer.update(changed, "bad")
    reviewer.update(confirmed, "good")
    expected = {str(tasks[0]): [(str(reviewer.id), "bad")], str(tasks[1]): [(str(user.id), "good")]}
    assert here.votes() == expected
    here.sync()
    assert here.votes() == expected


def test_an_annotation_made_from_our_prediction_is_a_vote_only_if_it_differs(
    here: Connected, user: User
) -> None:
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    result = [{"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["good"]}}]
    parents = [
        here.server.admin.call(
            "POST", "/api/predictions/",
            {"task": task, "result": result, "score": 0.9, "model_version": version},
        )["id"]
        for task, version in zip(tasks, ["crowdpilot-00000001", "crowdpilot-00000001", "mine"], strict=False)
    ]  # fmt: skip
    user.submit(tasks[0], "good", parent_prediction=parents[0])
    user.submit(tasks[1], "bad", parent_prediction=parents[1])
    user.submit(tasks[2], "good", parent_prediction=parents[2])
    expected = {str(tasks[1]): [(str(user.id), "bad")], str(tasks[2]): [(str(user.id), "good")]}
    assert here.votes() == expected
    here.sync()  # which deletes our old predictions, so that Label Studio forgets where annotations are from
    assert {
        v for t in here.server.tasks(here.number) for v in t["predictions_model_versions"].split(",")
    } <= {
        "",
        "mine",
    }
    here.sync()
    assert here.votes() == expected


def test_tasks_come_and_go_many_at_once(here: Connected, user: User) -> None:
    new = here.server.import_tasks(here.number, [{"text": f"New {n} " + "x" * 1000} for n in range(1200)])
    rows = here.rows()
    assert {str(number) for number in new} <= set(rows)
    assert here.state().tasks == 1206
    given = user.next_task(here.number)
    assert given is not None
    here.server.admin.call("DELETE", f"/api/tasks/{new[0]}/")
    assert here.rows()[str(new[0])].state == items.WITHDRAWN
    assert here.state().problems == []


def test_what_happened_while_nobody_listened_is_found(here: Connected, user: User) -> None:
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    gone = user.submit(tasks[0], "good")
    hooks = here.server.webhooks(here.number)
    for hook in hooks:
        here.server.admin.call("PATCH", f"/api/webhooks/{hook['id']}/", {"is_active": False})
    user.submit(tasks[1], "bad")
    user.delete(gone)
    [new] = here.server.import_tasks(here.number, [{"text": "New"}])
    user.submit(new, "bad")
    here.server.admin.call("DELETE", f"/api/tasks/{tasks[5]}/")
    assert str(tasks[0]) in here.votes()
    found = here.sync()
    assert (found.items, found.votes) == (1, 3)
    me = str(user.id)
    assert here.votes() == {str(tasks[1]): [(me, "bad")], str(new): [(me, "bad")]}
    assert here.rows()[str(tasks[5])].state == items.WITHDRAWN


def test_ground_truth_is_gold_and_gold_is_ground_truth(here: Connected, user: User) -> None:
    tasks = [task["id"] for task in here.server.tasks(here.number)]
    starred, known = user.submit(tasks[0], "good"), user.submit(tasks[1], "bad")
    here.server.admin.call("PATCH", f"/api/annotations/{starred}/", {"ground_truth": True})
    here.project.post("/gold", json={"gold": {str(tasks[1]): "bad"}})
    here.sync()
    assert {name: row.gold for name, row in here.rows().items() if row.gold} == {
        str(tasks[0]): "good",
        str(tasks[1]): "bad",
    }
    truths = {one["id"] for one in here.server.annotations(here.number) if one["ground_truth"]}
    assert truths == {starred, known}
    here.sync()
    me = str(user.id)
    assert here.votes() == {str(tasks[0]): [(me, "good")], str(tasks[1]): [(me, "bad")]}


def test_past_annotations_and_predictions_of_others_are_pulled(
    label_studio: LabelStudio, tmp_path: Path, user: User
) -> None:
    result = [{"from_name": "q", "to_name": "d", "type": "choices", "value": {"choices": ["good"]}}]
    other = {"from_name": "tone", "to_name": "d", "type": "choices", "value": {"choices": ["soft"]}}
    config = (
        '<View><Paragraphs name="d" value="$dialogue" layout="dialogue"/><Header value="Is it good?"/>'
        '<Choices name="q" toName="d"><Choice value="bad"/><Choice value="good"/></Choices>'
        '<Choices name="tone" toName="d"><Choice value="loud"/><Choice value="soft"/></Choices></View>'
    )
    tasks = [
        {
            "data": {"dialogue": [{"author": "Ann", "text": "Hello"}, {"author": "Bob", "text": "Hi"}]},
            "annotations": [{"result": [*result, other], "completed_by": user.id}],
        }
    ]
    several = connected(label_studio, tmp_path, tasks, config)
    with pytest.raises(ValueError, match="2 single choices; say which is asked: q, tone"), several:
        pass
    with connected(label_studio, tmp_path, tasks, config, control="q") as here:
        [(name, row)] = here.rows().items()
        assert row.content == {"text": "Ann: Hello\nBob: Hi"}
        assert here.votes() == {name: [(str(user.id), "good")]}
        assert here.state().control == "q"
        spec = connection.project_spec(
            here.service.settings, label_studio.address, label_studio.admin.token, here.number, "q"
        )
        assert spec == {
            "name": "A project of tests", "question": "Is it good?", "classes": CLASSES,
            "instructions": "", "shows": ["text"],
        }  # fmt: skip


def test_a_personal_token_serves_and_disconnecting_leaves_nothing_behind(
    label_studio: LabelStudio, tmp_path: Path
) -> None:
    owner = label_studio.add_user("owner")
    number = label_studio.add_project(choices_config(CLASSES), [{"text": "One"}], description="Old")
    service = Service(sqlite_url(tmp_path), address=local_address(), webhook_networks=(LOOPBACK,))
    project = service.project()
    with service.listening():
        found = connection.connect(
            service.store, service.settings, project.id, "tests", address=label_studio.address,
            token=owner.personal_token(), ls_project=number,
        )  # fmt: skip
        assert (found.state, found.open_tasks, found.problems) == ("running", 1, [])
        assert len(label_studio.webhooks(number)) == len(label_studio.backends(number)) == 1
        there = label_studio.admin.call("GET", f"/api/projects/{number}")
        assert f"/projects/{project.id}/" in there["description"]
        connection.disconnect(service.store, service.settings, project.id, "tests")
    assert connection.find(service.store, project.id) is None
    assert label_studio.webhooks(number) == label_studio.backends(number) == []
    there = label_studio.admin.call("GET", f"/api/projects/{number}")
    assert (there["description"], there["maximum_annotations"]) == ("Old", 1)
    service.close()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"token": "0" * 40}, "does not accept the access token"),
        ({"ls_project": 99_999}, "project 99999 is not at"),
        ({"control": "nothing"}, "no single choice 'nothing'; it has label"),
        ({"address": local_address()}, "does not answer"),
    ],
)
def test_what_cannot_be_connected_is_said_in_a_sentence_and_nothing_is_left(
    label_studio: LabelStudio, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    number = label_studio.add_project(choices_config(CLASSES), [{"text": "One"}])
    service = Service(sqlite_url(tmp_path), address=local_address(), webhook_networks=(LOOPBACK,))
    project = service.project()
    target = {"address": label_studio.address, "token": label_studio.admin.token, "ls_project": number}
    with pytest.raises(ValueError, match=problem):
        connection.connect(service.store, service.settings, project.id, "tests", **{**target, **change})
    assert connection.find(service.store, project.id) is None
    assert project.decisions() == {}
    service.close()
