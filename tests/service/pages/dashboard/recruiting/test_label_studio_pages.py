"""Pages about Label Studio: forms that say what is wrong, and where a connection stands."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.label_studio import tokens
from crowdpilot.service.store.label_studio import connections
from tests.service.harness.dashboard import REVIEWS, DashboardService, csrf
from tests.service.harness.label_studio_server import choices_config
from tests.service.harness.service import SECRET, local_address, sqlite_url
from tests.service.harness.waiting import free_port

LOOPBACK = (IPv4Network("127.0.0.0/8"),)
TOKEN = "0123456789abcdef0123456789abcdef01234567"
NEW = "/projects/new/label-studio"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    """A service that may reach this machine."""
    made = DashboardService(sqlite_url(tmp_path), local_address(), webhook_networks=LOOPBACK)
    yield made
    made.close()


def typed(**changes: str) -> dict[str, str]:
    nobody = f"http://127.0.0.1:{free_port()}"
    return {"address": nobody, "token": TOKEN, "project": "7", "control": "", "price": "0.02", **changes}


def sent(client: TestClient, page: str, fields: dict[str, str], to: str = "") -> Any:
    return client.post(to or page, data={"csrf": csrf(client.get(page).text), **fields})


def connected(service: DashboardService, **values: Any) -> str:
    """The page of a project that is connected, as far as our database knows."""
    id = service.create(2)
    row = {
        "address": f"http://127.0.0.1:{free_port()}", "token": tokens.encrypt(SECRET, id, TOKEN), "number": 7,
        "title": "Films <b>there</b>", "config": choices_config(REVIEWS["classes"]), "control": "label",
        "settings_before": {}, "skips_count": False, "state": "running", **values,
    }  # fmt: skip
    with service.store.writing() as c:
        connections.create(c, id, row)
    return f"/projects/{id}/label-studio"


@pytest.mark.parametrize(
    ("field", "text"),
    [("address", "studio"), ("token", "two words"), ("project", "seven"), ("project", ""), ("price", "free"),
     ("price", "0")],
)  # fmt: skip
def test_what_is_wrong_stands_beside_its_field_and_the_rest_stays_typed(
    service: DashboardService, field: str, text: str
) -> None:
    client = service.signed_in("write")
    pages = [NEW] if field == "price" else [NEW, f"/projects/{service.create()}/label-studio"]
    for page in pages:
        answer = sent(client, page, typed(**{"control": "tone", field: text}))
        assert answer.status_code == 422
        assert re.findall(r'<p class="error" id="([a-z]+)-error">', answer.text) == [field]
        assert 'value="tone"' in answer.text
        assert TOKEN not in answer.text


def test_a_server_that_does_not_answer_is_said_and_nothing_is_made(service: DashboardService) -> None:
    client, home = service.signed_in("write"), f"/projects/{service.create()}/label-studio"
    for page in (NEW, home):
        answer = sent(client, page, typed())
        assert answer.status_code == 422
        assert "does not answer" in re.findall(r'id="problem">([^<]+)<', answer.text)[0]
        assert TOKEN not in answer.text
    assert len(service.rows()) == 1
    assert "Connect a project of Label Studio" in client.get(home).text


def test_the_state_and_what_went_wrong_are_shown_the_newest_first(service: DashboardService) -> None:
    page = connected(service, state="failing", synced=time.time() - 200)
    id = page.split("/")[2]
    with service.store.writing() as c:
        connections.add_problem(c, id, "the annotation 17 chooses <i>bat</i>, which is no class")
        connections.add_problem(c, id, "Label Studio did not answer")
    text = service.signed_in("label-ops").get(page).text
    assert re.findall(r'id="connection-state">(\w+)<', text) == ["Failing"]
    assert "3 minutes ago" in text
    shown = text[text.index('id="problems"') :]
    assert shown.index("Label Studio did not answer") < shown.index("The annotation 17 chooses &lt;i&gt;bat")
    assert "Films &lt;b&gt;there" in text
    assert TOKEN not in text


def test_what_somebody_may_not_do_is_not_offered(service: DashboardService) -> None:
    page = connected(service)
    operator, writer = service.signed_in("label-ops"), service.signed_in("write")
    assert "Compare now" in operator.get(page).text
    assert "/disconnect" not in operator.get(page).text
    assert "/disconnect" in writer.get(page).text
    refused = sent(operator, page, {}, f"{page}/disconnect")
    assert refused.status_code == 403


def test_a_comparison_that_fails_is_said_and_kept(service: DashboardService) -> None:
    page, client = connected(service), service.signed_in("write")
    answer = sent(client, page, {}, f"{page}/sync")
    assert answer.status_code == 422
    assert "does not answer" in answer.text
    later = client.get(page).text
    assert re.findall(r'id="connection-state">(\w+)<', later) == ["Failing"]
    assert "could not be synchronised" in later[later.index('id="problems"') :]


def test_a_connection_ends_also_if_the_server_is_gone(service: DashboardService) -> None:
    page, client = connected(service), service.signed_in("write")
    answer = sent(client, page, {}, f"{page}/disconnect")
    assert answer.status_code == 200
    assert "The project is disconnected." in answer.text
    assert "Connect a project of Label Studio" in answer.text
    log = client.get(page.replace("label-studio", "log")).text
    assert "disconnected Label Studio at http://127.0.0.1" in log


def test_a_project_that_is_not_connected_cannot_be_compared(service: DashboardService) -> None:
    page, client = f"/projects/{service.create()}/label-studio", service.signed_in("write")
    assert "is not connected to Label Studio" in sent(client, page, {}, f"{page}/sync").text
    assert sent(client, page, {}, f"{page}/disconnect").status_code == 404


def test_the_way_there_is_on_the_pages_where_it_is_looked_for(service: DashboardService) -> None:
    client, id = service.signed_in("write"), service.create()
    assert f"/projects/{id}/label-studio" in client.get(f"/projects/{id}/recruiting").text
    assert NEW in client.get("/projects/new").text
