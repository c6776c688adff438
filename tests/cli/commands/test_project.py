from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typer.testing import Result

from crowdpilot.service.store import Store, items, projects
from tests.service.harness.service import PNG, Service, local_address, sqlite_url

Run = Callable[..., Result]
STUDY = """\
name = "Birds"
question = "Which bird?"
classes = ["Robin", "Wren"]
[costs]
errors = [[0, 1], [2, 0]]
[costs.prices]
crowd = 0.05
"""


def test_a_file_of_settings_and_items_make_a_project_in_a_database(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "birds.csv").write_text("name,text,gold\na,red,Robin\nb,brown,\n")
    database = str(tmp_path / "a.db")
    options = (
        "--upload",
        str(tmp_path / "birds.csv"),
        "-d",
        database,
        "--address",
        "https://label.example.org",
    )
    made = cli("project", "create", str(tmp_path / "study.toml"), "--name", "More birds", *options)
    assert made.exit_code == 0, made.stderr
    page, link = made.stdout.split()
    id = page.rpartition("/")[2]
    assert link.startswith(f"https://label.example.org/w/{id}?invite=")
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        assert projects.find(c, id).name == "More birds"
        assert [row.name for row in items.all_contents(c, id)] == ["a", "b"]
    store.close()


def test_settings_go_to_a_file_from_which_the_same_project_is_made(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    database, file = str(tmp_path / "a.db"), str(tmp_path / "study.json")
    first = cli("project", "create", str(tmp_path / "study.toml"), "-d", database).stdout.split()[0]
    assert cli("project", "settings", first.rpartition("/")[2], "-o", file, "-d", database).exit_code == 0
    second = cli("project", "create", file, "-d", database).stdout.split()[0]
    printed = cli("project", "settings", second.rpartition("/")[2], "-d", database).stdout
    assert json.loads(printed) == json.loads(Path(file).read_text())
    assert json.loads(printed)["costs"]["errors"] == [[0, 1], [2, 0]]


def test_a_running_service_is_asked_with_a_key(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "pictures" / "robin").mkdir(parents=True)
    (tmp_path / "pictures" / "robin" / "one.png").write_bytes(PNG)
    service = Service(sqlite_url(tmp_path), local_address())
    options = ("--address", service.settings.address, "--key", service.key)
    with service.listening():
        folder = ("--upload", str(tmp_path / "pictures"))
        made = cli("project", "create", str(tmp_path / "study.toml"), *folder, *options)
        assert made.exit_code == 0, made.stderr
        page, link = made.stdout.split()
        id = page.rpartition("/")[2]
        assert link.startswith(f"{service.settings.address}/w/{id}?invite=")
        printed = cli("project", "settings", id, *options).stdout
        wrong = cli("project", "settings", id, "--address", service.settings.address, "--key", "wrong")
    assert json.loads(printed)["name"] == "Birds"
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    with service.store.reading() as c:
        (item,) = items.list_all(c, id)
    assert (item.name, item.gold) == ("one.png", "Robin")
    service.close()


def test_a_key_goes_to_the_address_that_was_given_and_nowhere_else(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    asked = []

    class Moved(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(301)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Moved) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        made = cli("project", "create", str(tmp_path / "study.toml"), "--address", address, "--key", "k")
        server.shutdown()
    assert (made.exit_code, asked) == (2, ["/api/projects"])
    assert "give that as --address" in made.stderr


def test_what_is_wrong_is_said_in_one_line_and_nothing_is_created(cli: Run, tmp_path: Path) -> None:
    file, database = tmp_path / "study.json", str(tmp_path / "a.db")
    for text, words in {
        "{": "study.json: this is no JSON",
        "[]": "study.json: this holds no settings of a project",
        '{"name": "x", "classes": ["a"]}': "study.json: classes: ",
        '{"name": "x", "classes": ["a", "b"], "colour": 1}': "study.json: colour: ",
    }.items():
        file.write_text(text)
        result = cli("project", "create", str(file), "-d", database)
        assert result.exit_code == 2
        assert words in result.stderr
    file.write_text('{"name": "x", "classes": ["a", "b"]}')
    (tmp_path / "items.csv").write_text("text,gold\nred,c\n")
    result = cli("project", "create", str(file), "--upload", str(tmp_path / "items.csv"), "-d", database)
    assert (result.exit_code, "'c' is not a class" in result.stderr) == (2, True)
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        assert projects.list_all(c) == []
    store.close()
