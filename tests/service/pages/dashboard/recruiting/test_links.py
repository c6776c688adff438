"""Links page of a project: invitations are stored, limited, renewed and revoked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store.arrivals import invitations
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


def stored(service: DashboardService, id: str) -> list[Any]:
    with service.store.reading() as c:
        return list(invitations.list_all(c, id))


def test_looking_at_a_project_makes_no_link(service):
    id, client = service.create(), service.signed_in("write")
    for _ in range(3):
        assert client.get(f"/projects/{id}").status_code == 200
    assert stored(service, id) == []


def test_links_are_made_limited_and_revoked_by_forms(service):
    id, client = service.create(), service.signed_in("label-ops")
    home = f"/projects/{id}/links"
    token = csrf(client.get(home).text)
    assert client.post(home, data={"csrf": token, "max_uses": "7", "days": "2"}).status_code == 200
    (row,) = stored(service, id)
    assert (row.max_uses, row.worker, round((row.expires - row.created) / 86400)) == (7, None, 2)
    assert f"invite={''}" in client.get(f"/projects/{id}").text
    client.post(f"{home}/{row.id}", data={"csrf": token, "max_uses": "9", "days": ""})
    (row,) = stored(service, id)
    assert (row.max_uses, row.expires) == (9, None)
    client.post(f"{home}/{row.id}/revoke", data={"csrf": token, "block": "yes"})
    assert stored(service, id)[0].revoked is not None
    assert "invite=" not in client.get(f"/projects/{id}").text


def test_a_personal_link_shows_the_name_as_text(service):
    id, client = service.create(), service.signed_in("write")
    token = csrf(client.get(f"/projects/{id}/links").text)
    client.post(f"/projects/{id}/links", data={"csrf": token, "worker": "<b>ann</b>", "max_uses": "1"})
    page = client.get(f"/projects/{id}/links").text
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert "<b>ann</b>" not in page


@pytest.mark.parametrize("form", [{"max_uses": "0"}, {"max_uses": "many"}, {"max_uses": "5", "days": "-1"}])
def test_what_is_wrong_is_said_beside_the_field(service, form):
    id, client = service.create(), service.signed_in("write")
    token = csrf(client.get(f"/projects/{id}/links").text)
    refused = client.post(f"/projects/{id}/links", data={"csrf": token, **form})
    assert refused.status_code == 422
    assert "Write a number from 1 to" in refused.text
    assert stored(service, id) == []


def test_who_may_only_read_sees_no_link(service):
    id, writer, reader = service.create(), service.signed_in("write"), service.signed_in("read")
    token = csrf(writer.get(f"/projects/{id}/links").text)
    writer.post(f"/projects/{id}/links", data={"csrf": token, "max_uses": "7"})
    assert "invite=" in writer.get(f"/projects/{id}").text
    assert "invite=" not in reader.get(f"/projects/{id}").text
    assert reader.get(f"/projects/{id}/links").status_code == 403


def test_links_that_work_on_this_computer_only_say_so_wherever_they_are(service):
    id = service.create()
    token = service.invitation(id)
    (row,) = stored(service, id)
    pages = (f"/projects/{id}", f"/projects/{id}/links/{row.id}", f"/projects/{id}/recruiting")
    client = service.signed_in()
    assert token
    for page in pages:
        assert "Only on this computer" not in client.get(page).text
    local = DashboardService(service.settings.database, "http://127.0.0.1:8000")
    client = local.signed_in()
    for page in pages:
        text = client.get(page).text
        assert "Only on this computer" in text, page
        assert "crowdpilot serve --address" in text, page
    local.close()
