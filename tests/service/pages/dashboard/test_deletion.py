"""Pages that delete items and projects, and hand out or erase what is known of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.harness.dashboard import REVIEWS, DashboardService, csrf
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


def test_a_project_is_deleted_when_its_name_is_typed(service):
    id, client = service.create(), service.signed_in("admin")
    assert f"/projects/{id}/delete" in client.get(f"/projects/{id}").text
    token = csrf(client.get(f"/projects/{id}/delete").text)
    wrong = client.post(f"/projects/{id}/delete", data={"csrf": token, "name": "Films"})
    assert (wrong.status_code, "not the name" in wrong.text) == (422, True)
    assert client.get(f"/projects/{id}").status_code == 200
    done = client.post(f"/projects/{id}/delete", data={"csrf": token, "name": REVIEWS["name"]})
    assert done.url.path == "/projects"
    assert client.get(f"/projects/{id}").status_code == 404


def test_who_may_write_but_not_administer_deletes_no_project(service):
    id, client = service.create(), service.signed_in("write")
    assert client.get(f"/projects/{id}/delete").status_code == 403
    token = csrf(client.get(f"/projects/{id}/links").text)
    assert (
        client.post(f"/projects/{id}/delete", data={"csrf": token, "name": REVIEWS["name"]}).status_code
        == 403
    )
    assert len(service.rows()) == 1


def test_an_item_is_deleted_after_a_question(service):
    id, client = service.create(3), service.signed_in("write")
    page = client.get(f"/projects/{id}/items/1/delete")
    assert "Delete the item" in page.text
    done = client.post(f"/projects/{id}/items/1/delete", data={"csrf": csrf(page.text)})
    assert done.url.path == f"/projects/{id}/items"
    assert client.get(f"/projects/{id}/items/1").status_code == 404
    assert client.get(f"/projects/{id}/items/2").status_code == 200


def test_the_data_of_a_worker_can_be_downloaded_and_erased(service):
    id = service.create(3)
    service.work(id, names=("ann@example.org",))
    client, reader = service.signed_in("write"), service.signed_in("read")
    data = client.get(f"/projects/{id}/workers/1/data")
    assert data.json()["worker"]["external"] == "ann@example.org"
    assert reader.get(f"/projects/{id}/workers/1/data").status_code == 403
    page = client.get(f"/projects/{id}/workers/1/erase").text
    client.post(f"/projects/{id}/workers/1/erase", data={"csrf": csrf(page)})
    assert "ann@example.org" not in client.get(f"/projects/{id}/workers").text
