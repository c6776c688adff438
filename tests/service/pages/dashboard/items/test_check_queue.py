"""The check queue: items of a list are made gold one after the other, skipped, and brought back."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crowdpilot.service.store import items
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import CRITERIA, create_project


@pytest.fixture
def id(service: DashboardService) -> str:
    """A project where some have voted."""
    made = service.create(6)
    service.work(made, votes=9)
    return made


def address(service: DashboardService, id: str, *names: str) -> str:
    with service.store.reading() as c:
        ids = items.ids_by_name(c, id, names)
    return f"/projects/{id}/check?items={','.join(str(ids[name]) for name in names)}"


def shown(page: str) -> str:
    found = re.search(r'name="item" value="([^"]+)"', page)
    return found[1] if found else ""


def act(client: Any, id: str, page: str, action: str, path: str = "/check", **more: str) -> Any:
    fields = {name: values[-1] for name in ("csrf", "items", "item", "id", "at")
              if (values := re.findall(rf'name="{name}" value="([^"]*)"', page))}  # fmt: skip
    return client.post(f"/projects/{id}{path}", data={**fields, "action": action, **more})


def gold(service: DashboardService, id: str, name: str) -> Any:
    with service.store.reading() as c:
        return reviews.find(c, id, [name])[name].gold


def test_items_come_in_the_order_of_the_list_and_become_gold(service: DashboardService, id: str) -> None:
    client, names = service.signed_in("write"), ("item-4", "item-1", "item-3")
    page = client.get(address(service, id, *names)).text
    for n, name in enumerate(names):
        assert shown(page) == name
        assert f"{3 - n} item" in page
        assert "We are" not in page  # nothing sways the requester
        page = act(client, id, page, "gold", label="Negative").text
        assert gold(service, id, name) == "Negative"
    assert "All of them are checked" in page


def test_a_skipped_item_stays_unknown_and_comes_again(service: DashboardService, id: str) -> None:
    client = service.signed_in("write")
    page = client.get(address(service, id, "item-4", "item-1")).text
    page = act(client, id, page, "skip").text
    assert shown(page) == "item-1"
    page = act(client, id, page, "gold", label="Negative").text
    assert "You skipped 1 item." in page
    again = re.search(r'href="([^"]+)">Begin again', page)
    assert again
    assert shown(client.get(again[1]).text) == "item-4"
    assert gold(service, id, "item-4") is None


def test_undo_brings_an_item_back(service: DashboardService, id: str) -> None:
    client = service.signed_in("write")
    page = client.get(address(service, id, "item-4", "item-1")).text
    page = act(client, id, page, "gold", label="Negative").text
    page = act(client, id, page, "", "/check/undo").text
    assert shown(page) == "item-4"
    assert gold(service, id, "item-4") is None
    assert shown(act(client, id, page, "gold", label="Positive").text) == "item-1"


def test_an_answer_is_needed_and_has_to_be_a_class(service: DashboardService, id: str) -> None:
    client = service.signed_in("write")
    page = client.get(address(service, id, "item-4")).text
    assert "hoose an answer first" in act(client, id, page, "gold").text
    assert act(client, id, page, "gold", label="Neutral").status_code == 422
    assert act(client, id, page, "override", label="Negative").status_code == 422
    assert gold(service, id, "item-4") is None


def test_ids_that_are_no_items_are_left_out(service: DashboardService, id: str) -> None:
    client = service.signed_in("write")
    page = client.get(f"/projects/{id}/check?items=x,-1,999999999999999999999,123456&at=7&item=8")
    assert (page.status_code, shown(page.text)) == (200, "")


def test_criteria_that_are_left_out_stay_unknown(service: DashboardService) -> None:
    new = [{"name": f"p{n}", "content": {"text": f"Paper {n}"}} for n in range(2)]
    id = create_project(service.store, CRITERIA, new)
    client = service.signed_in("write")
    page = client.get(address(service, id, "p0", "p1")).text
    page = act(client, id, page, "gold", **{"label-1": "yes"}).text
    assert gold(service, id, "p0") == {"trial": "yes"}
    assert shown(page) == "p1"
