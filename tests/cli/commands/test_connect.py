"""`crowdpilot connect label-studio`: what is refused at once, and the whole way with a real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.service.store import Store, projects
from tests.service.harness.label_studio_server import LabelStudio, choices_config, running_label_studio
from tests.service.harness.service import Service, create_project, local_address, sqlite_url
from tests.service.harness.waiting import free_port

Run = Callable[..., Result]
TOKEN = "0123456789abcdef0123456789abcdef01234567"
LOOPBACK = (IPv4Network("127.0.0.0/8"),)
NOBODY = "http://127.0.0.1:9"


def refused(result: Result) -> str:
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("crowdpilot: ")
    assert result.stderr.count("\n") == 1
    return str(result.stderr)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "the address of Label Studio is missing"),
        (("https://studio.example.org", "--project", "7"), "--token is missing"),
        (("https://studio.example.org", "--token", TOKEN), "--project is missing"),
        (("--status",), "--into PROJECT"),
        (("--disconnect",), "--into PROJECT"),
        (("--status", "--disconnect", "--into", "0" * 12), "cannot be used together"),
        (("https://studio.example.org", "--token", TOKEN, "--project", "7", "--into", "0" * 12,
          "--name", "Birds"), "--name and --settings are for new projects"),
        (("studio.example.org", "--token", TOKEN, "--project", "7"), "no address of a Label Studio server"),
        (("https://studio.example.org", "--token", "two words", "--project", "7"), "no access token"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_said_in_one_line(
    cli: Run, words: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    assert why in refused(cli("connect", "label-studio", *words, "-d", str(tmp_path / "a.db")))


def test_settings_that_cannot_be_read_are_named(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("costs = [")
    (tmp_path / "study.json").write_text("[1]")
    for name, why in [("study.toml", "this is no TOML"), ("study.json", "holds no settings of a project")]:
        words = ("--settings", str(tmp_path / name), "--token", TOKEN, "--project", "7")
        said = refused(cli("connect", "label-studio", NOBODY, *words, "-d", str(tmp_path / "a.db")))
        assert name in said
        assert why in said
    assert not (tmp_path / "a.db").exists()


def test_a_server_that_does_not_answer_leaves_no_project(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", TOKEN)
    monkeypatch.setenv("CROWDPILOT_WEBHOOK_NETWORKS", "127.0.0.0/8")
    database = str(tmp_path / "a.db")
    address = f"http://127.0.0.1:{free_port()}"
    assert address in refused(cli("connect", "label-studio", address, "--project", "7", "-d", database))
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        assert projects.list_all(c) == []
    store.close()


def test_a_project_that_is_not_connected_says_so(cli: Run, tmp_path: Path) -> None:
    service = Service(sqlite_url(tmp_path), local_address())
    id = create_project(service.store, {"name": "Birds", "classes": ["a", "b"]})
    asked = ("connect", "label-studio", "--into", id)
    service_words = ("--address", service.settings.address, "--key", service.key)
    with service.listening():
        for option in ("--status", "--disconnect"):
            assert "is not connected to Label Studio" in refused(cli(*asked, option, *service_words))
    database = ("-d", service.settings.database.removeprefix("sqlite:///"))
    assert "is not connected to Label Studio" in refused(cli(*asked, "--status", *database))
    service.close()


@pytest.fixture(scope="module")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    """A Label Studio of this module."""
    with running_label_studio(tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.mark.thorough
def test_a_new_project_is_made_after_the_one_there_and_can_be_disconnected(
    cli: Run, tmp_path: Path, label_studio: LabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [{"text": f"Item {n}"} for n in range(6)]
    number = label_studio.add_project(choices_config(["cat", "dog"]), tasks, title="Animals")
    done = label_studio.import_tasks(number, [{"text": "Answered before"}])[0]
    label_studio.add_user().submit(done, "dog")
    (tmp_path / "study.toml").write_text("[costs.prices]\ncrowd = 0.02\n")
    service = Service(sqlite_url(tmp_path), local_address(), webhook_networks=LOOPBACK)
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", label_studio.admin.token)
    words = ("--address", service.settings.address, "--key", service.key)
    with service.listening(), service.running_jobs():
        settings = ("--settings", str(tmp_path / "study.toml"))
        made = cli(
            "connect", "label-studio", label_studio.address, "--project", str(number), *settings, *words
        )
        assert made.exit_code == 0, made.stderr
        id = made.stdout.strip().split("/")[-2]
        assert made.stdout.strip() == f"{service.settings.address}/projects/{id}/label-studio"
        assert "(Animals)" in made.stderr
        assert "7 tasks, 1 votes" in made.stderr
        assert len(label_studio.webhooks(number)) == 1
        status = cli("connect", "label-studio", "--into", id, "--status", *words)
        assert status.stdout == made.stdout
        ended = cli("connect", "label-studio", "--into", id, "--disconnect", *words)
        assert ended.exit_code == 0, ended.stderr
    assert label_studio.webhooks(number) == label_studio.backends(number) == []
    with service.store.reading() as c:
        spec = projects.find(c, id).spec
    assert (spec["name"], spec["classes"]) == ("Animals", ["cat", "dog"])
    assert spec["costs"]["prices"] == {"crowd": 0.02}
    service.close()
