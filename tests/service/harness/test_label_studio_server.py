"""The real Label Studio that tests talk to."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import equip
from tests.service.harness.label_studio_server import LabelStudio, choices_config, running_label_studio

CLASSES = ["bird", "cat"]


@pytest.fixture(scope="module")
def guarded_label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    """One that is started as it is by default."""
    with running_label_studio(tmp_path_factory.mktemp("guarded"), guarded=True) as server:
        yield server


@pytest.mark.thorough
def test_users_label_what_the_stream_shows_them_until_it_is_empty(label_studio: LabelStudio) -> None:
    project = label_studio.add_project(choices_config(CLASSES), [{"text": f"Item {n}"} for n in range(3)])
    first, second = label_studio.add_user(), label_studio.add_user()
    assert first.id != second.id
    shown = []
    while (task := first.next_task(project)) is not None:
        shown.append(task["id"])
        first.submit(task["id"], "bird")
    assert len(set(shown)) == len(shown) == 3
    assert second.next_task(project) is None
    found = label_studio.annotations(project)
    assert [one["completed_by"] for one in found] == [first.id] * 3
    assert sorted(task["data"]["text"] for task in label_studio.export(project)) == [
        "Item 0",
        "Item 1",
        "Item 2",
    ]


@pytest.mark.thorough
def test_an_answer_is_changed_deleted_skipped_and_drafted(label_studio: LabelStudio) -> None:
    project = label_studio.add_project(choices_config(CLASSES))
    tasks = label_studio.import_tasks(project, [{"text": "One"}, {"text": "Two"}, {"text": "Three"}])
    user, reviewer = label_studio.add_user(), label_studio.add_user("reviewer")
    changed, deleted = user.submit(tasks[0], "bird"), user.submit(tasks[1], "bird")
    reviewer.update(changed, "cat")
    user.delete(deleted)
    skipped = user.skip(tasks[1])
    user.save_draft(tasks[2], "cat")
    found = {one["id"]: one for one in label_studio.annotations(project)}
    assert set(found) == {changed, skipped}
    assert found[changed]["result"][0]["value"] == {"choices": ["cat"]}
    assert found[skipped]["was_cancelled"]


@pytest.mark.thorough
def test_a_personal_token_is_not_the_token_of_before(label_studio: LabelStudio) -> None:
    user = label_studio.add_user()
    assert user.personal_token().count(".") == 2
    with pytest.raises(urllib.error.HTTPError):
        user.call("POST", "/api/token/refresh/", {"refresh": user.token})


def status_of(call: Callable[[], Any]) -> int:
    try:
        call()
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    return 200


@pytest.mark.thorough
@pytest.mark.parametrize(("path", "expected"), [("/api/webhooks/", 200), ("/api/ml", 400)])
def test_addresses_of_this_machine_are_refused_by_a_guarded_server_only(
    path: str, expected: int, label_studio: LabelStudio, guarded_label_studio: LabelStudio
) -> None:
    found = []
    for server in (guarded_label_studio, label_studio):
        body = {"url": "http://127.0.0.1:9/nobody", "project": server.add_project(choices_config(CLASSES))}
        found.append(status_of(lambda: server.admin.call("POST", path, body)))  # noqa: B023  called at once
    assert found == [403, expected]  # an ML backend has to answer, too


def test_the_program_is_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDPILOT_LABEL_STUDIO", str(tmp_path / "label-studio"))
    assert equip.label_studio() is None
    (tmp_path / "label-studio").touch()
    assert equip.label_studio() == tmp_path / "label-studio"


def test_a_program_that_cannot_be_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(equip, "PROGRAMS", tmp_path)
    monkeypatch.setattr("sys.executable", "/bin/false")
    equip.install_program("label-studio")
    assert "equip: label-studio could not be installed: no message\n" in capsys.readouterr().err
