from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.jobs.imports import job, reading
from crowdpilot.service.store import items, jobs
from crowdpilot.service.store.erasure.items import delete_items
from tests.service.harness.receiver import LOOPBACK
from tests.service.harness.service import GIF, PNG, Project, Service, sqlite_url

PAGE = b"name,text\na,Good.\nb,Bad.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of pictures, two of them in folders called like classes."""
    root = tmp_path / "birds"
    for name, data in {"bad/1.png": PNG, "good/1.gif": GIF, "a.txt": b"A text."}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


@pytest.fixture
def service(tmp_path: Path, folder: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path), import_from=(folder.as_uri(), "http://127.0.0.1:1/"))
    yield made
    made.close()


def imported(service: Service, project: Project, address: str) -> dict[str, Any]:
    """How an import ended."""
    answer = project.post("/import", json={"address": address})
    assert answer.status_code == 202, answer.text
    service.do_jobs()
    found: dict[str, Any] = project.get("/import").json()
    return found


def names(service: Service, project: Project) -> dict[str, Any]:
    with service.store.reading() as c:
        return {row.name: row.gold for row in items.list_all(c, project.id)}


def test_a_folder_is_imported_with_its_gold(service: Service, folder: Path) -> None:
    project = service.project()
    end = imported(service, project, f"{folder.as_uri()}/")
    assert (end["state"], end["items"], end["why"]) == ("done", 3, "")
    assert names(service, project) == {"1.png": "bad", "1.gif": "good", "a.txt": None}
    (entry, *_) = project.get("/log").json()["entries"]
    assert (entry["action"], entry["detail"]["items"]) == ("import", 3)


def test_an_import_adds_all_or_nothing_and_says_why(service: Service, folder: Path) -> None:
    project = service.project()
    (folder / "broken.png").write_bytes(PNG[:20])
    end = imported(service, project, folder.as_uri())
    assert end["state"] == "done"
    assert "broken.png" in end["why"]
    assert names(service, project) == {}
    (folder / "broken.png").unlink()
    assert imported(service, project, folder.as_uri())["items"] == 3
    assert "there already" in imported(service, project, folder.as_uri())["why"]
    assert "nothing at this address" in imported(service, project, f"{folder.as_uri()}/none/")["why"]


def test_what_is_not_allowed_is_refused_at_once(service: Service, tmp_path: Path) -> None:
    project = service.project()
    for address in (
        "file:///etc/passwd",
        "/etc/passwd",
        "s3://bucket/",
        tmp_path.as_uri(),
        "http://10.0.0.1/",
    ):
        assert project.post("/import", json={"address": address}).status_code == 403, address
    with service.store.reading() as c:
        assert not jobs.is_pending(c, project.id)


def test_a_link_that_leads_out_of_the_folder_is_not_followed(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    project = service.project()
    assert "leads out of its folder" in imported(service, project, f"{folder.as_uri()}/linked/")["why"]
    assert names(service, project) == {}
    assert imported(service, project, folder.as_uri())["items"] == 3
    assert "link.txt" not in names(service, project)


def test_too_many_files_or_bytes_are_refused(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.project()
    with monkeypatch.context() as patch:
        patch.setattr(reading, "MAX_FILES", 2)
        assert "more than 2 files" in imported(service, project, folder.as_uri())["why"]
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    assert "larger than" in imported(service, project, folder.as_uri())["why"]
    assert names(service, project) == {}


def test_one_import_at_a_time(service: Service, folder: Path) -> None:
    project = service.project()
    assert project.post("/import", json={"address": folder.as_uri()}).status_code == 202
    again = project.post("/import", json={"address": folder.as_uri()})
    assert again.status_code == 409
    assert "under way" in again.json()["detail"]


def test_an_import_whose_process_died_after_it_was_written_adds_nothing_twice(
    service: Service, folder: Path
) -> None:
    project = service.project()
    imported(service, project, folder.as_uri())
    with service.store.reading() as c:
        assert jobs.newest(c, project.id, "import").state == jobs.DONE  # type: ignore[union-attr]  # there is one


KILLED = """
import os, signal, sys
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.imports import job
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items

job.BYTES_PER_TRANSACTION = 1
function, left = getattr(items, sys.argv[3]), int(sys.argv[4])

def call_or_die(*args):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*args)

setattr(items, sys.argv[3], call_or_die)
settings = Settings(database=sys.argv[1], secret="s" * 40, import_from=(sys.argv[2],))
runner.step(JobContext(Store(settings.database), settings), "killed")
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("function", "calls", "files"), [("save_file", 1, 1), ("add", 0, 2)])
def test_an_import_that_is_killed_half_way_adds_no_item_and_all_of_them_when_it_runs_again(
    service: Service, folder: Path, function: str, calls: int, files: int
) -> None:
    project = service.project()
    assert project.post("/import", json={"address": folder.as_uri()}).status_code == 202
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, service.settings.database, folder.as_uri(), function, str(calls)],
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert (names(service, project), len(saved(service, project))) == ({}, files)
    with service.store.writing() as c:
        jobs.requeue_abandoned(c, "killed")
        c.exec_driver_sql("UPDATE jobs SET due = 0")
    service.do_jobs()
    assert project.get("/import").json()["items"] == 3
    assert len(names(service, project)) == 3
    assert len(saved(service, project)) == 2


def saved(service: Service, project: Project) -> list[str]:
    """Digests of the files of a project."""
    with service.store.reading() as c:
        found = c.exec_driver_sql(f"SELECT digest FROM files WHERE project = '{project.id}'")
        return list(found.scalars())


def test_an_import_with_names_that_are_taken_saves_no_file(service: Service, folder: Path) -> None:
    project = service.project()
    project.add({"name": "a.txt", "text": "Another text."})
    assert "there already" in imported(service, project, folder.as_uri())["why"]
    assert saved(service, project) == []


def test_others_write_while_an_import_writes_its_files(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite there is one writer at a time, so that no transaction may be long."""
    monkeypatch.setattr(job, "BYTES_PER_TRANSACTION", 1)
    for n in range(20):
        (folder / f"{n}.gif").write_bytes(GIF + bytes([n]))
    save, begun = items.save_file, threading.Event()

    def save_slowly(*args: Any) -> str:
        begun.set()
        time.sleep(0.05)
        return save(*args)

    monkeypatch.setattr(items, "save_file", save_slowly)
    project = service.project()
    assert project.post("/import", json={"address": folder.as_uri()}).status_code == 202
    thread = threading.Thread(target=service.do_jobs)
    thread.start()
    begun.wait(10)
    waited: list[float] = []
    while thread.is_alive() and len(waited) < 5:
        start = time.monotonic()
        with service.store.writing() as c:
            c.exec_driver_sql("UPDATE jobs SET due = due")
        waited.append(time.monotonic() - start)
    assert thread.is_alive()  # it was written between its files
    thread.join()
    assert max(waited) < 1
    assert len(names(service, project)) == 23


def test_a_file_that_is_deleted_while_an_import_runs_is_there_at_its_end(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.project()
    sent = [("file", ("owl.png", PNG, "image/png"))]
    assert project.post("/items", files=sent).status_code == 201
    encode = items.encode

    def delete_and_encode(new: Any) -> items.NewItems:
        with service.store.writing() as c:
            delete_items(c, project.id, ["owl.png"])
        return encode(new)

    monkeypatch.setattr(items, "encode", delete_and_encode)
    assert imported(service, project, folder.as_uri())["items"] == 3
    assert len(saved(service, project)) == 2


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/redirect.csv":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/secret")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_web_address_in_a_private_network_needs_the_network_to_be_allowed(
    tmp_path: Path, site: str
) -> None:
    service = Service(sqlite_url(tmp_path), import_from=("http://",))
    project = service.project()
    assert "not public" in imported(service, project, f"{site}items.csv")["why"]
    service.settings = service.context.settings = replace(service.settings, webhook_networks=LOOPBACK)
    assert "status 302" in imported(service, project, f"{site}redirect.csv")["why"]
    assert imported(service, project, f"{site}items.csv")["items"] == 2
    service.close()


def test_addresses_that_are_no_longer_allowed_are_not_read_by_a_job_that_waits(
    service: Service, folder: Path
) -> None:
    project = service.project()
    assert project.post("/import", json={"address": folder.as_uri()}).status_code == 202
    service.context.settings = replace(service.settings, import_from=())
    service.do_jobs()
    assert "imports from no address" in project.get("/import").json()["why"]
