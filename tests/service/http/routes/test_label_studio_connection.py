"""Connections to Label Studio over the API: what is refused, and the whole way with a real server."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store import projects
from tests.service.harness.label_studio_server import (
    CHOICES,
    LabelStudio,
    choices_config,
    running_label_studio,
)
from tests.service.harness.service import PLAIN, Service, create_project, local_address, sqlite_url
from tests.service.harness.waiting import eventually, free_port

TOKEN = "0123456789abcdef0123456789abcdef01234567"
LOOPBACK = (IPv4Network("127.0.0.0/8"),)
TWO_CHOICES = CHOICES.format('<Choice value="bad"/><Choice value="good"/>').replace(
    "</View>",
    '<Choices name="tone" toName="text"><Choice value="calm"/><Choice value="angry"/></Choices></View>',
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that Label Studio on this machine can reach, and that may reach it."""
    made = Service(sqlite_url(tmp_path), local_address(), webhook_networks=LOOPBACK)
    yield made
    made.close()


@pytest.fixture
def listening(service: Service) -> Iterator[Service]:
    with service.listening(), service.running_jobs():
        yield service


def path_of(service: Service, **spec: Any) -> str:
    return f"/api/projects/{create_project(service.store, {**PLAIN, **spec})}/label-studio"


def target(**changes: Any) -> dict[str, Any]:
    return {"address": f"http://127.0.0.1:{free_port()}", "token": TOKEN, "project": 1, **changes}


def there(studio: LabelStudio, project: int, **changes: Any) -> dict[str, Any]:
    return {"address": studio.address, "token": studio.admin.token, "project": project, **changes}


def names(service: Service) -> list[str]:
    with service.store.reading() as c:
        return [row.name for row in projects.list_all(c)]


def test_a_project_without_a_connection_says_so(service: Service) -> None:
    path = path_of(service)
    for method, what in [("GET", "/connection"), ("DELETE", "/connection"), ("POST", "/sync")]:
        answer = service.send(method, path + what)
        assert answer.status_code == 404
        assert answer.json()["detail"] == "the project is not connected to Label Studio; connect it first"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"address": "studio.example.org"}, "address: this is no address of a Label Studio server"),
        ({"address": "https://user@studio.example.org"}, "address: this is no address"),
        ({"token": "two words"}, "token: this is no access token"),
        ({"token": ""}, "token: this is no access token"),
        ({"project": 0}, "project: "),
        ({"control": ""}, "control: "),
        ({"more": 1}, "more: "),
    ],
)
def test_what_is_wrong_is_named_and_no_token_is_repeated(
    service: Service, changes: dict[str, Any], why: str
) -> None:
    for path in (f"{path_of(service)}/connection", "/api/projects/label-studio"):
        answer = service.send("POST", path, json=target(**changes))
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(why)
        assert TOKEN not in answer.text


def test_a_server_that_does_not_answer_leaves_nothing_behind(service: Service) -> None:
    path = path_of(service)
    for where in (f"{path}/connection", "/api/projects/label-studio"):
        answer = service.send("POST", where, json=target())
        assert answer.status_code == 422
        assert "does not answer" in answer.json()["detail"]
    assert service.send("GET", f"{path}/connection").status_code == 404
    assert names(service) == [PLAIN["name"]]


def test_addresses_that_the_service_may_not_reach_are_refused(tmp_path: Path) -> None:
    service = Service(sqlite_url(tmp_path))
    answer = service.send("POST", "/api/projects/label-studio", json=target())
    assert answer.status_code == 422
    assert "--webhook-network" in answer.json()["detail"]
    assert names(service) == []
    service.close()


@pytest.mark.thorough
def test_a_project_is_connected_followed_and_disconnected(
    listening: Service, label_studio: LabelStudio
) -> None:
    number = label_studio.add_project(choices_config(["bad", "good"]), title="Films there")
    tasks = label_studio.import_tasks(number, [{"text": f"Film {n}"} for n in range(5)])
    user = label_studio.add_user()
    user.submit(tasks[0], "good")
    path = f"{path_of(listening)}/connection"
    answer = listening.send("POST", path, json=there(label_studio, number))
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["tasks"], found["votes"], found["project"]) == (5, 1, number)
    assert (found["title"], found["control"], found["problems"]) == ("Films there", "label", [])
    assert found["state"] == "running"
    assert listening.send("POST", path, json=there(label_studio, number)).status_code == 409
    user.submit(tasks[1], "bad")
    eventually(lambda: listening.send("GET", path).json()["votes"] == 2)
    synced = listening.send("POST", path.replace("connection", "sync"))
    assert synced.json() == {"items": 0, "votes": 0, "skipped": 0}
    assert TOKEN not in listening.send("GET", path).text
    assert listening.send("DELETE", path).status_code == 204
    assert listening.send("GET", path).status_code == 404
    assert label_studio.webhooks(number) == label_studio.backends(number) == []


@pytest.mark.thorough
def test_choices_that_are_no_classes_of_the_project_are_refused(
    listening: Service, label_studio: LabelStudio
) -> None:
    number = label_studio.add_project(choices_config(["bad", "fine"]))
    path = f"{path_of(listening)}/connection"
    answer = listening.send("POST", path, json=there(label_studio, number))
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("use bad, good")
    assert listening.send("GET", path).status_code == 404
    assert label_studio.webhooks(number) == []


@pytest.mark.thorough
def test_of_several_questions_one_is_chosen_for_a_new_project(
    listening: Service, label_studio: LabelStudio
) -> None:
    number = label_studio.add_project(TWO_CHOICES, [{"text": "One"}, {"text": "Two"}], title="Letters")
    unclear = listening.send("POST", "/api/projects/label-studio", json=there(label_studio, number))
    assert unclear.status_code == 422
    assert all(name in unclear.json()["detail"] for name in ("label", "tone"))
    body = there(label_studio, number, control="tone", settings={"name": "Tones", "batch": 3})
    made = listening.send("POST", "/api/projects/label-studio", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["connection"]["control"] == "tone"
    spec = listening.send("GET", f"/api/projects/{made.json()['id']}").json()["spec"]
    assert (spec["name"], spec["classes"], spec["batch"]) == ("Tones", ["calm", "angry"], 3)
    assert names(listening) == ["Tones"]
    wrong = {**body, "settings": {"batch": "many"}}
    refused = listening.send("POST", "/api/projects/label-studio", json=wrong)
    assert (refused.status_code, refused.json()["detail"].startswith("batch: ")) == (422, True)


@pytest.mark.thorough
def test_a_wrong_token_and_a_project_that_is_not_there_are_said(
    listening: Service, label_studio: LabelStudio
) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"token": "f" * 40}, "access token"), ({"project": 10**6}, "project 1000000 is not at"),
    ]  # fmt: skip
    for changes, why in wrong:
        body = {**there(label_studio, 1), **changes}
        answer = listening.send("POST", "/api/projects/label-studio", json=body)
        assert answer.status_code == 422
        assert why in answer.json()["detail"]
    assert names(listening) == []


@pytest.mark.thorough
def test_who_cannot_be_reached_is_told_how_to_start_label_studio(listening: Service, tmp_path: Path) -> None:
    (folder := tmp_path / "guarded").mkdir()
    with running_label_studio(folder, guarded=True) as guarded:
        number = guarded.add_project(choices_config(["bad", "good"]), [{"text": "One"}])
        before = guarded.admin.call("GET", f"/api/projects/{number}/")
        answer = listening.send("POST", "/api/projects/label-studio", json=there(guarded, number))
        after = guarded.admin.call("GET", f"/api/projects/{number}/")
    assert answer.status_code == 422
    assert "SSRF_PROTECTION_ENABLED=false" in answer.json()["detail"]
    assert names(listening) == []
    for name in ("maximum_annotations", "show_collab_predictions", "description"):
        assert after[name] == before[name]
