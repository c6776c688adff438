"""The overview says what an audit proves: about the labels of the time when it began, and no others."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.pages.dashboard.overview import audit_claim
from crowdpilot.service.pages.dashboard.overview.audit_claim import Changes
from crowdpilot.service.store import items
from tests.service.harness.dashboard import DashboardService, post, truth


def audited(service: DashboardService, checks: int = 3) -> str:
    """A project of 40 items that are decided and audited."""
    id, client = service.create(40), service.signed_in("write")
    service.work(id)
    service.do_jobs()
    home = f"/projects/{id}/audit"
    page = post(client, home, home, items=str(checks)).text
    for _ in range(checks):
        name = re.search(r'name="item" value="([^"]+)"', page)
        assert name
        page = post(client, f"{home}/answer", home, item=name[1], label=truth(name[1])).text
    return id


def add(service: DashboardService, id: str, n: int) -> None:
    with service.store.writing() as c:
        items.add(c, id, [{"name": f"new-{k}", "content": {"text": f"Review {k}"}} for k in range(n)])


def wrong(page: str) -> str:
    found = re.search(r'Labels likely wrong</p><p class="stat-value">([^<]*)<.*?stat-note">([^<]*)<', page)
    assert found
    return f"{found[1]} {found[2]}"


def test_items_that_came_after_the_audit_are_not_counted_as_audited(service: DashboardService) -> None:
    id = audited(service)
    client = service.signed_in("read")
    page = client.get(f"/projects/{id}").text
    before = wrong(page)
    assert before.endswith("or fewer of the 40 items decided when the audit began")
    assert 'id="audit-note"' not in page
    add(service, id, 60)
    service.work(id)
    page = client.get(f"/projects/{id}").text
    assert wrong(page) == before
    assert re.search(r"At least \d+% of the labels of the 40 items decided when the audit began are", page)
    assert "It says nothing about 60 items decided since." in page
    assert "of the 40 items decided when the audit began" in client.get(f"/projects/{id}/audit").text


def test_labels_that_changed_since_are_named(service: DashboardService) -> None:
    id = audited(service)
    body = {"labels": {"item-0": "Positive", "item-3": "Positive"}}
    headers = {"X-API-Key": service.new_key("write")}
    service.http.post(f"/api/projects/{id}/items/override", json=body, headers=headers)
    page = service.signed_in("read").get(f"/projects/{id}").text
    assert "2 of these labels have changed since, or wait for more answers" in page


def test_the_decisions_of_an_audit_are_read_once(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    original = audit_claim._read_decisions
    monkeypatch.setattr(audit_claim, "_read_decisions", lambda *a: read.append(1) or original(*a))
    id = audited(service)
    client = service.signed_in("read")
    for _ in range(3):
        client.get(f"/projects/{id}/live")
    assert len(read) == 1


def test_rows_of_items_are_not_used_after_a_deletion(service: DashboardService) -> None:
    id = audited(service)
    replica, row = service.context.replica(id)
    audit_claim._remember(replica, row, 4, ["item-0"], np.zeros(1, np.int64))
    assert audit_claim._count_if_known(replica, row, 4) == Changes(changed=0, added=39)
    after: Any = SimpleNamespace(deletion_number=row.deletion_number + 1)
    assert audit_claim._count_if_known(replica, after, 4) is None
    assert audit_claim._count_if_known(replica, row, 5) is None


def test_a_bound_is_never_rounded_in_its_favour() -> None:
    found = audit_claim._describe({"items": 200, "checked": 50, "error_rate": 0.0749}, Changes(0, 0))
    assert found.claim.startswith("At least 92% of the labels of the 200 items")
    assert (found.most_wrong, found.note) == (14, "")
