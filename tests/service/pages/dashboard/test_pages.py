"""Pages of a project: workers, items, exports, audit; and keys."""

from __future__ import annotations

import csv
import io
import re

import pytest

from crowdpilot.service.store import workers
from tests.service.harness.dashboard import DashboardService, post, truth

# Workers, items, exports ----------------------------------------------------------------------


def test_workers_are_paid_blocked_and_forgotten(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("write")
    n_votes = service.work(id)
    home = f"/projects/{id}/workers"
    page = client.get(home).text
    assert f"{0.05 * n_votes:.2f}" in page
    post(client, f"{home}/1/approve", home)
    post(client, f"{home}/2/block", home)
    assert "cannot come back" in client.get(f"{home}/3/erase").text
    post(client, f"{home}/3/erase", home)
    with service.store.reading() as c:
        found = {row.id: row for row in workers.list_all(c, id)}
    assert found[1].approved
    assert found[2].state == "blocked"
    assert found[3].external is None
    table = list(csv.DictReader(io.StringIO(client.get(f"{home}/pay.csv").text)))
    assert sum(float(row["amount"]) for row in table) == pytest.approx(0.05 * n_votes)
    assert [row["external"] for row in table] == ["ann", "ben", ""]


def test_all_who_have_voted_are_approved_at_once(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("write")
    service.work(id)
    post(client, f"/projects/{id}/workers/approve", f"/projects/{id}/workers")
    with service.store.reading() as c:
        assert all(row.approved for row in workers.list_all(c, id))


def test_items_are_searched_filtered_and_paged(service: DashboardService) -> None:
    id, client = service.create(60), service.signed_in("read")
    home = f"/projects/{id}/items"
    assert "Page 1 of 3" in client.get(home).text
    found = client.get(home, params={"q": "review 17 "}).text
    assert (">1 item<" in found, "item-17" in found or "Review 17" in found) == (True, True)
    assert "Nothing matches" in client.get(home, params={"q": "no such words"}).text
    assert "Nothing matches" in client.get(home, params={"only": "gold"}).text
    assert ">60 items<" in client.get(home, params={"only": "open", "order": "hard", "page": 99}).text


def test_an_item_is_shown_with_its_votes_as_text(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    service.work(id)
    page = client.get(f"/projects/{id}/items/1").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in page
    assert "UTC</td>" in page
    assert client.get(f"/projects/{id}/items/999").status_code == 404


@pytest.mark.parametrize("format", ["csv", "ndjson", "parquet"])
@pytest.mark.parametrize("what", ["decisions", "votes"])
def test_exports_need_only_the_session(service: DashboardService, what: str, format: str) -> None:
    id, client = service.create(), service.signed_in("read")
    service.work(id)
    answer = client.get(f"/projects/{id}/export/{what}.{format}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(answer.content) > 100


def test_label_studio_and_the_report_are_exported(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    service.work(id)
    assert len(client.get(f"/projects/{id}/export/label-studio.json").json()) == 12
    assert "is being made" in client.get(f"/projects/{id}/export/report").text
    service.do_jobs()
    assert "is ready" in client.get(f"/projects/{id}/export/report").text
    saved = client.get(f"/projects/{id}/export/report.html")
    assert saved.headers["content-disposition"].startswith("attachment")
    assert "Film reviews" in saved.text
    assert client.get(f"/projects/{id}/export/decisions.exe").status_code == 404


def test_an_audit_is_begun_answered_and_forgotten(service: DashboardService) -> None:
    id, client = service.create(40), service.signed_in("write")
    home = f"/projects/{id}/audit"
    assert "No item is decided yet" in client.get(home).text
    service.work(id)
    service.do_jobs()
    assert "Give a number" in post(client, home, home, items="many").text
    page = post(client, home, home, items="3").text
    assert "0 of 3" in page
    for n in range(3):
        name = re.search(r'name="item" value="([^"]+)"', page)
        assert name
        page = post(client, f"{home}/answer", home, item=name[1], label=truth(name[1])).text
        assert f"{n + 1} of 3" in page
    assert "All drawn items are checked" in page
    page = client.get(f"/projects/{id}").text
    assert re.search(r'accuracy-title">At least \d+% of the labels of the 40 items decided when', page)
    assert "An audit shows it" in page
    post(client, f"{home}/remove", f"{home}/remove")
    assert "Begin an audit" in client.get(home).text


# Keys -----------------------------------------------------------------------------------------


def test_keys_are_made_shown_once_and_revoked(service: DashboardService) -> None:
    client = service.signed_in("admin")
    page = post(client, "/keys", "/keys", name="robot", scope="write").text
    key = re.search(r"cp_\w{12}_[\w-]{40,}", page)
    assert key
    assert key[0] not in client.get("/keys").text
    assert client.get("/api/projects", headers={"X-API-Key": key[0]}).status_code == 200
    id = key[0].split("_")[1]
    assert "locked out" in client.get(f"/keys/{id}/revoke").text
    post(client, f"/keys/{id}/revoke", "/keys")
    assert client.get("/api/projects", headers={"X-API-Key": key[0]}).status_code == 401


def test_only_admins_see_keys(service: DashboardService) -> None:
    client = service.signed_in("write")
    assert client.get("/keys").status_code == 403
    assert 'href="/keys"' not in client.get("/projects").text
