"""A full disk, or a database that is gone, gives 503 and spoils nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.labelling.item_numbers import ItemNumbers
from crowdpilot.service.store import Store, items, migrate, votes
from tests.service.harness.fault_crowd import CLASSES, make_project, opinion, sessions
from tests.service.harness.postgres import Postgres
from tests.service.harness.processes import Caller, ProcessService, serving
from tests.service.harness.service import SECRET
from tests.service.harness.waiting import eventually

pytestmark = pytest.mark.thorough  # mounts a disk and starts processes

MEGABYTES = 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, which is soon full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk; what follows from a full one is tested without, too")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def label_all(service: ProcessService, token: str, n: int = 10) -> tuple[list[int], list[int]]:
    """Ask once for items and vote once on each, with no second try; statuses, and items acknowledged."""
    caller = Caller(service.address, token)
    status, found = caller.once("GET", f"/api/next?n={n}")
    statuses, done = [status], []
    for lent in found["items"] if status == 200 else []:
        body = {
            "item": lent["item"],
            "label": CLASSES[opinion(lent["content"]["text"], 0)],
            "key": f"key-of-{lent['item']}",
        }
        statuses.append(caller.once("POST", "/api/votes", body)[0])
        done += [lent["item"]] if statuses[-1] == 201 else []
    caller.close()
    return statuses, done


def voted(store: Store, project: str) -> list[int]:
    """Items with a vote, by the numbers that workers see."""
    numbers = ItemNumbers(SECRET, project)
    with store.reading() as c:
        return [numbers.show(row.item) for row in votes.list_all(c, project)]


def test_a_full_disk_gives_503_until_there_is_space_again(small_disk: Path) -> None:
    with serving(f"sqlite:///{small_disk / 'small.db'}", web=1) as service:
        project = make_project(service.store, 200, 1, lease=900)
        (token,), _ = sessions(service, project, 1)
        statuses, acknowledged = label_all(service, token)
        assert set(statuses) == {200, 201}
        filler = small_disk / "filler"
        fill(filler)
        for _ in range(3):
            statuses, more = label_all(service, token, 30)
            acknowledged += more
        assert 503 in statuses
        assert set(statuses) <= {200, 201, 503}
        assert sorted(voted(service.store, project)) == sorted(acknowledged)
        filler.unlink()
        statuses, more = label_all(service, token, 50)
        assert set(statuses) == {200, 201}
        assert sorted(voted(service.store, project)) == sorted(acknowledged + more)
        with service.store.reading() as c:
            assert c.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"


def fill(path: Path) -> None:
    """Take all the space there is."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def test_a_database_that_cannot_grow_rolls_back(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'small.db'}")
    migrate(store)
    project = make_project(store, 50, 3, lease=900)
    store.close()

    @event.listens_for(store.engine, "connect")
    def limit(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA max_page_count = 60")

    many = [{"name": f"more{n}", "content": {"text": "x" * 500}} for n in range(2000)]
    with pytest.raises(ServiceUnavailableError, match="full"), store.writing() as c:
        items.add(c, project, many)
    with store.reading() as c:
        assert len(items.list_all(c, project)) == 50
        assert c.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    event.remove(store.engine, "connect", limit)
    store.close()
    with store.writing() as c:
        c.execute(text("PRAGMA max_page_count = 1000000"))
        items.add(c, project, many)
        assert len(items.list_all(c, project)) == 2050
    store.close()


def test_a_lost_postgresql_gives_503_until_it_is_back(own_postgres: Postgres) -> None:
    with own_postgres.database() as url, serving(url, web=1) as service:
        project = make_project(service.store, 60, 1, lease=900)
        (token,), _ = sessions(service, project, 1)
        before = service.children("web")
        statuses, acknowledged = label_all(service, token)
        assert set(statuses) == {200, 201}
        own_postgres.kill()
        assert set(label_all(service, token)[0]) == {503}
        caller = Caller(service.address, token)
        body = {"item": 1, "label": CLASSES[0], "key": "while-it-is-down"}
        assert caller.once("POST", "/api/votes", body)[0] == 503
        assert caller.once("GET", "/readyz")[0] == 503
        own_postgres.start()
        caller.close()  # the service ends a connection that was idle for as long as a slow start takes
        eventually(lambda: caller.once("GET", "/readyz")[0] == 200)
        caller.close()
        statuses, more = label_all(service, token, 50)
        assert set(statuses) == {200, 201}, statuses
        assert sorted(voted(service.store, project)) == sorted(acknowledged + more)
        assert service.children("web") == before, "the web process had to be started again"
