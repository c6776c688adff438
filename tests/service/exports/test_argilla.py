"""Items for Argilla, with decisions as suggestions; and responses that come back from there."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crowdpilot
from tests.service.harness.media import wav
from tests.service.harness.service import PNG, Project, Service, sqlite_url

PYTHON = os.environ.get("CROWDPILOT_ARGILLA_PYTHON", "")  # of an environment with the package argilla
SERVER = os.environ.get("CROWDPILOT_ARGILLA_URL", "")  # of an Argilla server, whose owner has this key:
KEY = os.environ.get("CROWDPILOT_ARGILLA_KEY", "argilla.apikey")
CORPUS = Path(__file__).parents[2] / "io" / "corpus"
CLASSES = ["bad", "good: <1>"]
RESPOND = """
import json, sys, uuid, argilla
folder, address, key, target = sys.argv[1:]
client = argilla.Argilla(api_url=address, api_key=key)
name = "crowdpilot-" + uuid.uuid4().hex[:8]
argilla.Workspace(name=name, client=client).create()
dataset = argilla.Dataset.from_disk(folder, workspace=name, client=client)
found = list(dataset.records(with_suggestions=True))
changed = []
for n, record in enumerate(found):
    value = record.suggestions["label"].value if len(record.suggestions) else "bad"
    record.responses.add(argilla.Response("label", value, user_id=client.me.id,
                                          status="draft" if n == 0 else "submitted"))
    changed.append(record)
dataset.records.log(changed)
Path = __import__("pathlib").Path
Path(target).write_text(json.dumps(dataset.records.to_list(flatten=True), default=str))
print(json.dumps({one.id: [s.value for s in one.suggestions] for one in found}))
dataset.delete()
client.workspaces(name).delete()
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def texts(service: Service) -> Project:
    """Three texts, of which nobody has answered the last."""
    project = service.project(name="Films & <b>", classes=CLASSES, question="Is it good?")
    project.add_texts(3)
    for worker in ("ann", "bob", "eve"):
        project.add_votes(("i0", worker, CLASSES[0]), ("i1", worker, CLASSES[1]))
    return project


@pytest.fixture
def mixed(service: Service) -> Project:
    """A picture, a sound, and an item at an address."""
    project = service.project(classes=CLASSES)
    sent = [("file", ("1.png", PNG, "image/png")), ("file", ("caw.wav", wav(), "audio/wav"))]
    assert project.post("/items", files=sent).status_code == 201
    project.add({"name": "far", "image": "https://example.org/far.png?a=1&b=2"})
    project.add_votes(("1.png", "ann", "bad"), ("caw.wav", "ann", "bad"), ("far", "ann", "bad"))
    return project


def exported(project: Project, query: str = "") -> zipfile.ZipFile:
    answer = project.get(f"/dataset?format=argilla{query}")
    assert answer.status_code == 200, answer.text
    return zipfile.ZipFile(io.BytesIO(answer.content))


def records(project: Project, query: str = "") -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in json.loads(exported(project, query).read("records.json"))}


def run(script: str, *arguments: str) -> Any:
    done = subprocess.run(
        [PYTHON, "-c", script, *arguments], capture_output=True, text=True, timeout=120,
        env={"PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_decisions_are_suggestions_with_score_and_agent(texts: Project) -> None:
    found = records(texts)
    suggestion = found["i1"]["suggestions"]["label"]
    assert (suggestion["value"], suggestion["agent"]) == ("good: <1>", "crowdpilot")
    assert suggestion["score"] == found["i1"]["metadata"]["probability"] > 0.5
    assert found["i1"]["metadata"]["votes"] == 3
    assert list(found["i1"]["fields"]) == ["text"]


def test_an_item_without_evidence_gets_no_suggestion(texts: Project) -> None:
    found = records(texts)
    assert found["i2"]["suggestions"] == {}
    assert found["i2"]["metadata"]["decided_by"] == "prior"


def test_the_question_has_all_classes_in_their_order(texts: Project) -> None:
    archive = exported(texts)
    settings = json.loads(archive.read(".argilla/settings.json"))
    assert [one["value"] for one in settings["questions"][0]["settings"]["options"]] == CLASSES
    assert settings["questions"][0]["title"] == "Is it good?"
    assert json.loads(archive.read(".argilla/dataset.json"))["name"] == "Films_b"


def test_uncertain_items_can_be_left_out(texts: Project) -> None:
    assert sorted(records(texts, "&confidence=0.8")) == ["i0", "i1"]


def test_files_are_named_by_complete_addresses(mixed: Project, service: Service) -> None:
    found = records(mixed)
    assert found["1.png"]["fields"]["image"].startswith(f"{service.settings.address}/files/")
    assert found["far"]["fields"]["image"] == "https://example.org/far.png?a=1&b=2"
    assert found["caw.wav"]["fields"]["audio"].startswith('<audio controls src="http://testserver/files/')


def test_one_field_is_in_every_record(mixed: Project) -> None:
    archive = exported(mixed)
    fields = json.loads(archive.read(".argilla/settings.json"))["fields"]
    required = [field["name"] for field in fields if field["required"]]
    assert required == ["text"]
    assert all(set(required) <= set(one["fields"]) for one in records(mixed).values())


def test_projects_with_criteria_are_refused_in_one_sentence(service: Service) -> None:
    project = service.project(criteria=[{"name": "human"}, {"name": "trial"}], classes=["no", "yes"])
    answer = project.get("/dataset?format=argilla")
    assert answer.status_code == 409
    assert "criteria have no export for Argilla" in answer.json()["detail"]


def test_responses_of_argilla_are_votes_here(service: Service) -> None:
    folder = CORPUS / "argilla-flat-json"  # an export of a real server, with a draft and a discarded one
    given = json.loads((folder / "votes.json").read_text())
    votes = crowdpilot.read(folder / "records.json")
    project = service.project()
    project.add(*({"name": task, "text": task} for task in votes.tasks))
    rows = zip(votes.task, votes.worker, votes.label, strict=True)
    project.add_votes(*((votes.tasks[t], votes.workers[w], votes.classes[k]) for t, w, k in rows))
    assert sum(one["votes"] for one in project.decisions().values()) == len(given) == len(votes)


@pytest.mark.thorough
@pytest.mark.skipif(
    not (PYTHON and SERVER), reason="CROWDPILOT_ARGILLA_URL names no Argilla server to talk to"
)
@pytest.mark.parametrize("name", ["texts", "mixed"])
def test_an_argilla_server_takes_the_records_and_gives_back_responses(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    project: Project = request.getfixturevalue(name)
    exported(project).extractall(tmp_path / name)
    target = tmp_path / "back.json"
    there = run(RESPOND, str(tmp_path / name), SERVER, KEY, str(target))
    wanted = {id: [s["value"] for s in one["suggestions"].values()] for id, one in records(project).items()}
    assert there == wanted
    votes = crowdpilot.read(target)
    assert len(votes) == len(wanted) - 1  # a draft is no vote
    assert set(votes.tasks) >= set(list(wanted)[1:])
