"""The page of one item: decide, set as known answer, and let the answers decide again."""

from __future__ import annotations

import re
from typing import Any

from crowdpilot.service.store import items
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.dashboard import DashboardService, post
from tests.service.harness.service import CRITERIA, create_project


def address(service: DashboardService, id: str, name: str) -> str:
    with service.store.reading() as c:
        return f"/projects/{id}/items/{items.ids_by_name(c, id, [name])[name]}"


def stored(service: DashboardService, id: str, name: str) -> Any:
    with service.store.reading() as c:
        return reviews.find(c, id, [name])[name]


def test_to_decide_with_nothing_chosen_keeps_what_was_decided(service: DashboardService) -> None:
    id, client = service.create(3), service.signed_in("label-ops")
    page = address(service, id, "item-0")
    post(client, f"{page}/override", page, label="Negative")
    refused = post(client, f"{page}/override", page)
    assert (refused.status_code, "hoose an answer first" in refused.text) == (422, True)
    assert stored(service, id, "item-0").override["label"] == "Negative"


def test_the_answers_decide_again_by_a_button_of_its_own(service: DashboardService) -> None:
    id, client = service.create(3), service.signed_in("label-ops")
    page = address(service, id, "item-0")
    assert "Let the answers decide again" not in client.get(page).text
    decided = post(client, f"{page}/override", page, label="Negative").text
    assert f'action="{page}/override/remove"' in decided
    post(client, f"{page}/override/remove", page)
    assert stored(service, id, "item-0").override is None


def test_a_known_answer_that_is_no_class_is_refused_and_all_pages_work(service: DashboardService) -> None:
    id, client = service.create(3), service.signed_in("write")
    page = address(service, id, "item-0")
    refused = post(client, f"{page}/gold", page, label="Neutral")
    assert (refused.status_code, "is not a class" in refused.text) == (422, True)
    assert stored(service, id, "item-0").gold is None
    for path in ("", "/items", "/review"):
        assert client.get(f"/projects/{id}{path}").status_code == 200


def test_criteria_are_decided_one_by_one_and_named(service: DashboardService) -> None:
    id = create_project(service.store, CRITERIA, [{"name": "p0", "content": {"text": "Paper"}}])
    client, page = service.signed_in("write"), address(service, id, "p0")
    text = post(client, f"{page}/override", page, **{"label-0": "yes"}).text
    assert "ann decided “human” (yes) by hand" in text
    assert "Decided by ann." not in text
    assert 'name="item" value="p0"' in client.get(f"/projects/{id}/review").text  # the other is in doubt
    text = post(client, f"{page}/override", page, **{"label-1": "no"}).text
    assert "“human” (yes), “trial” (no)" in text
    assert "Decided by ann." in text
    assert "Nothing to review" in client.get(f"/projects/{id}/review").text


def test_one_known_criterion_leaves_the_others_to_decide(service: DashboardService) -> None:
    id = create_project(service.store, CRITERIA, [{"name": "p0", "content": {"text": "Paper"}}])
    client, page = service.signed_in("write"), address(service, id, "p0")
    text = post(client, f"{page}/gold", page, **{"label-0": "yes"}).text
    assert "The right answer is known." not in text
    assert ">Decide</button>" in text
    text = post(client, f"{page}/gold", page, **{"label-1": "yes"}).text
    assert "The right answer is known." in text
    assert ">Decide</button>" not in text


def test_a_rule_of_its_own_is_not_said_to_weigh_answers(service: DashboardService) -> None:
    id, client = service.create(8, policy="fixed[votes=2]"), service.signed_in("label-ops")
    service.work(id, names=("ann", "ben"))
    service.do_jobs()
    text = client.get(address(service, id, "item-1")).text
    assert "By your settings, the majority decides from the answers on all items." in text
    assert "By your settings it needs no more answers." in text
    sure = re.search(r"Judged by how good each worker is, this label is (>?\d+)% likely", text)
    assert sure
    assert sure[1] != "100"
    for untrue in ("All together", "We are", "would cost more than it is worth"):
        assert untrue not in text
    queue = client.get(f"/projects/{id}/review").text
    assert "No item is in doubt" not in queue
    assert re.search(r"Worker \d+ answered (Posi|Nega)tive", queue)
    overview = client.get(f"/projects/{id}").text
    assert "Nothing is in doubt." not in overview
    assert "by your settings the item needs no more answers" in overview
    assert "<dd>2 answers</dd>" in overview


def test_where_answers_are_weighed_the_page_says_so(service: DashboardService) -> None:
    id, client = service.create(8), service.signed_in("label-ops")
    service.work(id)
    service.do_jobs()
    text = client.get(address(service, id, "item-1")).text
    assert "All together" in text
    assert "Another answer would cost more than it is worth." in text
    assert "By your settings" not in text
