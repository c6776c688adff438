"""The review queue: items by cost, decided, made gold, asked about again, skipped, undone."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.pages.dashboard.items.labels_of_forms import class_keys
from crowdpilot.service.pages.dashboard.items.review_queue import Position, make_queue
from crowdpilot.service.store import items, projects, workers
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.dashboard import HOSTILE, DashboardService, post
from tests.service.harness.service import CRITERIA, create_project


@pytest.fixture
def id(service: DashboardService) -> str:
    """A project where some have voted."""
    made = service.create(6)
    service.work(made, votes=9)
    return made


def item_of(text: str) -> str:
    found = re.search(r'name="item" value="([^"]+)"', text)
    assert found
    return found[1]


def field(text: str, name: str) -> str:
    found = re.findall(rf'name="{name}" value="([^"]*)"', text)
    return str(found[-1])


def act(client: Any, id: str, page: str, action: str, **more: str) -> str:
    """Press a button on a page of the queue; the page that follows."""
    data = {
        "csrf": field(page, "csrf"),
        "item": item_of(page),
        "position": field(page, "position"),
        "action": action,
    }
    answered = client.post(f"/projects/{id}/review", data={**data, **more})
    assert answered.status_code == 200, answered.text
    return str(answered.text)


def row(service: DashboardService, id: str, name: str) -> Any:
    with service.store.reading() as c:
        return reviews.find(c, id, [name])[name]


def decisions(service: DashboardService, id: str) -> dict[str, Any]:
    answer = service.http.get(
        f"/api/projects/{id}/decisions?format=ndjson", headers={"X-API-Key": service.keys["read"]}
    )
    return {one["item"]: one for one in map(json.loads, answer.text.splitlines())}


def test_an_expert_decides_one_item_after_the_other(service: DashboardService, id: str) -> None:
    client = service.signed_in("label-ops")
    page = client.get(f"/projects/{id}/review").text
    seen = []
    while 'name="item"' in page:
        seen.append(item_of(page))
        page = act(client, id, page, "override", label="Negative")
    assert sorted(seen) == [f"item-{n}" for n in range(6)]
    assert "Nothing to review" in page
    found = decisions(service, id)
    assert {(one["label"], one["decided_by"]) for one in found.values()} == {("Negative", "expert")}
    with service.store.reading() as c:
        assert {one["by"] for one in reviews.overrides(c, id).values()} == {"ann"}
    item = client.get(f"/projects/{id}/items/{row(service, id, seen[0]).id}").text
    assert "ann decided this by hand" in item
    assert "by hand" in client.get(f"/projects/{id}/items?only=overridden").text


def test_undo_brings_the_last_item_back(service: DashboardService, id: str) -> None:
    client = service.signed_in()
    page = client.get(f"/projects/{id}/review").text
    first = item_of(page)
    after = act(client, id, page, "override", label="Positive")
    undone = post(
        client, f"/projects/{id}/review/undo", f"/projects/{id}/review", position=field(after, "position")
    )
    assert item_of(undone.text) == first
    assert row(service, id, first).override is None
    assert "nothing to undo" in post(client, f"/projects/{id}/review/undo", f"/projects/{id}/review").text


def test_skipping_changes_nothing_and_ends(service: DashboardService, id: str) -> None:
    client = service.signed_in("label-ops")
    before = decisions(service, id)
    page = client.get(f"/projects/{id}/review").text
    seen = []
    while 'name="item"' in page:
        seen.append(item_of(page))
        page = act(client, id, page, "skip")
    assert len(seen) == len(set(seen)) == 6
    assert "That was the last one" in page
    assert decisions(service, id) == before


def test_gold_needs_the_right_to_write_and_judges_workers(service: DashboardService, id: str) -> None:
    labeller = service.signed_in("label-ops")
    page = labeller.get(f"/projects/{id}/review").text
    assert 'value="gold"' not in page
    data = {"csrf": field(page, "csrf"), "item": item_of(page), "action": "gold", "label": "Negative"}
    assert labeller.post(f"/projects/{id}/review", data=data).status_code == 403
    client = service.signed_in("write")
    page = client.get(f"/projects/{id}/review").text
    name = item_of(page)
    act(client, id, page, "gold", label="Negative")
    assert row(service, id, name).gold == "Negative"
    with service.store.reading() as c:
        assert projects.find(c, id).fitted == 0
    service.do_jobs()
    assert decisions(service, id)[name]["decided_by"] == "gold"
    post(client, f"/projects/{id}/review/undo", f"/projects/{id}/review")
    assert row(service, id, name).gold is None
    service.do_jobs()
    assert decisions(service, id)[name]["decided_by"] == "votes"


def test_more_votes_are_asked_for_and_given(service: DashboardService, id: str) -> None:
    service.work(id)
    service.do_jobs()
    client = service.signed_in("label-ops")
    page = client.get(f"/projects/{id}/review").text
    name = item_of(page)
    before = decisions(service, id)[name]
    act(client, id, page, "ask-again", votes="2")
    assert row(service, id, name).votes_wanted == before["votes"] + 2
    assert not decisions(service, id)[name]["done"]
    service.work(id, names=("dan", "eve", "fay"))
    assert decisions(service, id)[name]["votes"] >= before["votes"] + 2
    post(client, f"/projects/{id}/review/undo", f"/projects/{id}/review")
    assert row(service, id, name).votes_wanted is None


def test_flagged_items_come_first_if_wanted(service: DashboardService, id: str) -> None:
    client = service.signed_in("label-ops")
    queue = []
    page = client.get(f"/projects/{id}/review").text
    while 'name="item"' in page:
        queue.append(item_of(page))
        page = act(client, id, page, "skip")
    with service.store.writing() as c:
        item = items.ids_by_name(c, id, [queue[-1]])[queue[-1]]
        worker = workers.list_all(c, id)[0].id
        comments.write(c, id, item, 0, worker, text=f"Odd {HOSTILE}", flagged=True)
    page = client.get(f"/projects/{id}/review?flags=1").text
    assert item_of(page) == queue[-1]
    assert "Odd &lt;script&gt;" in page
    assert HOSTILE not in page
    assert item_of(act(client, id, page, "skip", flags="1")) == queue[0]
    shown = client.get(f"/projects/{id}/items?only=flagged").text
    assert "1 item<" in shown
    resolved = post(client, f"/projects/{id}/items/{item}/resolve", f"/projects/{id}/items/{item}")
    assert "resolved" in resolved.text
    assert "0 items" in client.get(f"/projects/{id}/items?only=flagged").text
    assert "1 item<" in client.get(f"/projects/{id}/items?only=commented").text


def test_a_flag_stays_in_the_queue_until_it_is_resolved(service: DashboardService, id: str) -> None:
    client = service.signed_in("label-ops")
    with service.store.writing() as c:
        item = items.ids_by_name(c, id, ["item-3"])["item-3"]
        comments.write(c, id, item, 0, workers.list_all(c, id)[0].id, text="Which one?", flagged=True)
    page = client.get(f"/projects/{id}/review").text
    for _ in range(6):
        page = act(client, id, page, "override", label="Negative")
    page = client.get(f"/projects/{id}/review").text
    assert item_of(page) == "item-3"
    assert "Decided by hand. It is here because of an open flag." in page
    page = act(client, id, page, "resolve")
    assert "No item is in doubt, and no flag is open." in page
    with service.store.reading() as c:
        assert comments.open_flags(c, id) == {}


def test_an_item_in_doubt_stays_on_the_page_when_its_flag_is_resolved(
    service: DashboardService, id: str
) -> None:
    client = service.signed_in("label-ops")
    first = client.get(f"/projects/{id}/review").text
    name = item_of(first)
    assert 'value="resolve"' not in first
    with service.store.writing() as c:
        item = items.ids_by_name(c, id, [name])[name]
        comments.write(c, id, item, 0, workers.list_all(c, id)[0].id, text="Odd", flagged=True)
    page = act(client, id, client.get(f"/projects/{id}/review").text, "resolve")
    assert item_of(page) == name
    assert 'value="resolve"' not in page


@pytest.mark.parametrize("flags_first", [False, True])
def test_the_queue_goes_on_behind_any_position(flags_first: bool) -> None:
    rng = np.random.default_rng(0)
    ids, cost = rng.permutation(200) + 1, rng.choice([0.0, 0.1, 0.2, 0.3], 200)
    certain, flagged = rng.random(200) < 0.3, rng.choice(ids, 20, replace=False)
    table: Any = SimpleNamespace(ids=ids, certain=certain, expected=cost)
    queue = make_queue(table, flagged.tolist(), flags_first=flags_first)
    wanted = sorted(
        (not (flags_first and id in flagged), -c, id)
        for id, c, sure in zip(ids.tolist(), cost.tolist(), certain.tolist(), strict=True)
        if id in flagged or (c > 0 and not sure)
    )
    assert queue.ids.tolist() == [id for _, _, id in wanted]
    for other in rng.integers(0, 210, 50).tolist():
        position = Position(bool(rng.random() < 0.5) and flags_first, float(rng.choice(cost)), other)
        key = (flags_first and not position.flagged, -position.cost, position.id)
        if not flags_first:
            key = (True, *key[1:])
        assert queue.start_behind(position) == sum(one <= key for one in wanted)


def test_criteria_are_reviewed_together(service: DashboardService) -> None:
    new = [{"name": f"p{n}", "content": {"text": f"Paper {n}"}} for n in range(3)]
    id = create_project(service.store, CRITERIA, new)
    client = service.signed_in()
    page = client.get(f"/projects/{id}/review").text
    name = item_of(page)
    page = act(client, id, page, "override", **{"label-0": "yes", "label-1": "no"})
    assert row(service, id, name).override["label"] == {"human": "yes", "trial": "no"}
    found = decisions(service, id)[name]
    assert (found["label"], found["decided_by"], found["p_no"]) == ("no", "expert", 1.0)
    assert item_of(page) != name


def test_without_an_answer_nothing_is_decided(service: DashboardService, id: str) -> None:
    client = service.signed_in()
    page = client.get(f"/projects/{id}/review").text
    data = {"csrf": field(page, "csrf"), "item": item_of(page), "action": "override"}
    answered = client.post(f"/projects/{id}/review", data=data)
    assert (answered.status_code, "hoose an answer first" in answered.text) == (422, True)
    other = client.post(f"/projects/{id}/review", data={**data, "label": "Neutral"})
    assert other.status_code == 422
    assert client.get(f"/projects/{id}/review?at=nonsense&item=-5").status_code == 200


def test_what_was_changed_since_is_not_undone(service: DashboardService, id: str) -> None:
    client = service.signed_in()
    page = client.get(f"/projects/{id}/review").text
    name = item_of(page)
    act(client, id, page, "override", label="Positive")
    headers = {"X-API-Key": service.new_key("write")}
    body = {"labels": {name: "Negative"}}
    assert service.http.post(
        f"/api/projects/{id}/items/override", json=body, headers=headers
    ).json() == {"changed": 1}  # fmt: skip
    undone = post(client, f"/projects/{id}/review/undo", f"/projects/{id}/review")
    assert "was changed again since" in undone.text


def test_every_class_has_a_key_of_its_own() -> None:
    names = [f"class {n}" for n in range(14)]
    keys = class_keys({"classes": names, "class_details": {"class 3": {"key": "X"}, "class 5": {"key": "s"}}})
    assert keys["class 3"] == "x"
    assert len(set(keys.values())) == 14
    assert not set(keys.values()) & set("sgaru")


def test_a_label_that_is_chosen_for_its_cost_says_so(service: DashboardService) -> None:
    made = service.create(4, costs={"prices": {"crowd": 0.05}, "errors": [[0, 1], [20, 0]]})
    service.work(made, votes=1, names=("ann",))
    client = service.signed_in()
    page = client.get(f"/projects/{made}/review").text
    assert 'id="now">Now: <span dir="auto">Positive</span>' in page
    said = re.search(r"Chosen although only (\d+)% likely, because missing it would cost more\.", page)
    assert said
    assert int(said[1]) < 50
    assert "We are" not in page
