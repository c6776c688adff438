"""The overview of a project leads with how many labels are right."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.pages.dashboard.overview import label_accuracy
from crowdpilot.service.store import items
from tests.service.harness.dashboard import DashboardService, truth


def claim(page: str) -> tuple[int, int]:
    found = re.search(r'id="accuracy-title">About (\d+) to (\d+)% of these labels are right<', page)
    assert found
    return int(found[1]), int(found[2])


def test_before_the_first_vote_nothing_is_claimed(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    assert "accuracy-title" not in client.get(f"/projects/{id}").text
    assert client.get(f"/projects/{id}/export/check.csv").status_code == 404


def test_the_range_comes_first_and_on_the_live_part_too(service: DashboardService) -> None:
    id, client = service.create(40), service.signed_in("read")
    n = service.work(id)
    service.do_jobs()
    page = client.get(f"/projects/{id}").text
    low, high = claim(page)
    assert 0 < low < high <= 100
    assert page.index("accuracy-title") < page.index("decided</p>")
    assert f", from {n} answers on 40 items." in page
    assert claim(client.get(f"/projects/{id}/live").text) == (low, high)


def test_one_worker_is_a_caveat_in_a_notice(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    service.work(id, names=("ann",))
    page = client.get(f"/projects/{id}").text
    assert re.search(r'class="notice notice--warn">All answers come from one worker', page)


def test_items_to_check_come_back_as_gold_and_narrow_the_range(service: DashboardService) -> None:
    id, client = service.create(60), service.signed_in("write")
    service.work(id)
    service.do_jobs()
    low, high = claim(client.get(f"/projects/{id}").text)
    table = list(csv.DictReader(io.StringIO(client.get(f"/projects/{id}/export/check.csv").text)))
    assert {tuple(row) for row in table} == {("name", "gold")}
    assert {row["gold"] for row in table} == {""}
    assert len({row["name"] for row in table}) == len(table) >= 10
    filled = "name,gold\n" + "".join(f"{row['name']},{truth(row['name'])}\n" for row in table)
    headers = {"X-API-Key": service.keys["write"], "Content-Type": "text/csv"}
    posted = service.http.post(f"/api/projects/{id}/gold", content=filled, headers=headers)
    assert posted.json() == {"changed": len(table)}
    page = client.get(f"/projects/{id}").text
    low_after, high_after = claim(page)
    assert high_after - low_after < 0.75 * (high - low)
    assert f"You know the answers of {len(table)} items" in page


def checked(client: TestClient, id: str) -> int:
    """Answer all items that the overview asks for, in the queue that it links to; how many these are."""
    link = re.search(r'id="check-here" href="([^"]+)"', client.get(f"/projects/{id}").text)
    assert link
    page, n = client.get(html.unescape(link[1])).text, 0
    while (name := re.search(r'name="item" value="([^"]+)"', page)) is not None:
        fields = {field: re.findall(rf'name="{field}" value="([^"]*)"', page)[-1]
                  for field in ("csrf", "items", "item", "id")}  # fmt: skip
        answer = {**fields, "action": "gold", "label": truth(name[1])}
        answered = client.post(f"/projects/{id}/check", data=answer)
        assert answered.status_code == 200
        page, n = answered.text, n + 1
    assert "All of them are checked" in page
    return n


def test_checking_items_here_narrows_the_range(service: DashboardService) -> None:
    id, client = service.create(60), service.signed_in("write")
    service.work(id)
    service.do_jobs()
    low, high = claim(client.get(f"/projects/{id}").text)
    asked = re.search(r"Check (\d+) items yourself", client.get(f"/projects/{id}").text)
    assert asked
    assert checked(client, id) == int(asked[1])
    page = client.get(f"/projects/{id}").text
    low_after, high_after = claim(page)
    assert high_after - low_after < 0.75 * (high - low)
    assert f"You know the answers of {asked[1]} items" in page


def test_who_may_not_set_known_answers_gets_no_button_for_it(service: DashboardService) -> None:
    id, client = service.create(60), service.signed_in("label-ops")
    service.work(id)
    page = client.get(f"/projects/{id}").text
    assert 'id="check-here"' not in page
    assert 'id="to-check"' in page
    assert client.get(f"/projects/{id}/check?items=1").status_code == 403


def test_what_is_decided_by_hand_counts_as_right(service: DashboardService) -> None:
    id, client = service.create(60), service.signed_in("read")
    service.work(id)
    service.do_jobs()
    low, high = claim(client.get(f"/projects/{id}").text)
    headers = {"X-API-Key": service.keys["write"]}
    labels = {f"item-{n}": truth(f"item-{n}") for n in range(60)}
    some = dict(list(labels.items())[:30])
    service.http.post(f"/api/projects/{id}/items/override", json={"labels": some}, headers=headers)
    page = client.get(f"/projects/{id}").text
    low_after, high_after = claim(page)
    assert (low_after > low, high_after >= high) == (True, True)
    assert high_after - low_after < 0.75 * (high - low)
    assert "What you decided by hand (30 labels) counts as right." in page
    service.http.post(f"/api/projects/{id}/items/override", json={"labels": labels}, headers=headers)
    page = client.get(f"/projects/{id}").text
    assert "About 100% of these labels are right" in page
    assert "Check items here" not in page


def test_known_answers_that_nobody_met_are_named_with_the_reason(service: DashboardService) -> None:
    id, client = service.create(20), service.signed_in("read")
    page_before = "You have given no known answers, so the range rests on how good other crowds were."
    service.work(id, 10)
    assert page_before in client.get(f"/projects/{id}").text
    with service.store.writing() as c:
        items.add(c, id, [{"name": "new", "content": {"text": "Review 3"}, "gold": "Positive"}])
    page = client.get(f"/projects/{id}").text
    assert "You know the answers of 1 item, but nobody has answered it yet: by your settings" in page
    with_gold = service.create(20, plan={"gold": 0.1})
    service.work(with_gold, 10)
    with service.store.writing() as c:
        items.add(c, with_gold, [{"name": "new", "content": {"text": "Review 3"}, "gold": "Positive"}])
    page = client.get(f"/projects/{with_gold}").text
    assert "You know the answers of 1 item, but nobody has answered it yet. So the range rests" in page


def test_the_range_is_computed_once_per_refit(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    compute = label_accuracy._compute
    monkeypatch.setattr(label_accuracy, "_compute", lambda *a: computed.append(1) or compute(*a))
    id, client = service.create(40), service.signed_in("read")
    service.work(id)
    for _ in range(3):
        client.get(f"/projects/{id}")
    assert len(computed) == 1
    service.do_jobs()
    client.get(f"/projects/{id}")
    client.get(f"/projects/{id}/live")
    assert len(computed) == 2


def test_many_votes_are_sampled(service: DashboardService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_accuracy, "MAX_VOTES", 40)
    id, client = service.create(60), service.signed_in("read")
    n = service.work(id)
    page = client.get(f"/projects/{id}").text
    claim(page)
    assert f"from {n} answers on 60 items" in page


def test_with_a_classifier_the_range_is_about_the_labels_that_people_voted_on(
    service: DashboardService,
) -> None:
    id, client = service.create(20, machine="given"), service.signed_in("read")
    service.work(id, 5, names=("ann",))
    page = client.get(f"/projects/{id}").text
    assert re.search(r"About \d+ to \d+% of the labels of items that people answered are right<", page)
    assert "come from the classifier alone: only an audit can tell how many of them are right" in page
    assert re.search(r"The classifier, a program, has decided 1\d of 20 items alone", page)


def test_criteria_have_columns_of_their_own(service: DashboardService) -> None:
    criteria = [{"name": "fair", "question": "Is it fair?"}, {"name": "short", "question": "Is it short?"}]
    id, client = service.create(20, criteria=criteria), service.signed_in("read")
    for worker in ("ann", "ben"):
        headers = {"Authorization": f"Bearer {service.token(id, worker)}"}
        for leased in service.http.get("/api/next?n=20", headers=headers).json()["items"]:
            key = f"{worker}-{leased['item']:04}-{leased['criterion']}"
            vote = {"item": leased["item"], "criterion": leased["criterion"], "label": "Positive", "key": key}
            assert service.http.post("/api/votes", json=vote, headers=headers).status_code == 201
    page = client.get(f"/projects/{id}").text
    assert re.search(r"About \d+ to \d+% of the labels of single questions are right<", page)
    asked = re.search(r"from \d+ answers on (\d+) questions about (\d+) items\.", page)
    assert asked
    assert int(asked[1]) > int(asked[2])
    assert f"of {asked[1]} questions with answers" in page
    text = client.get(f"/projects/{id}/export/check.csv").text
    assert f"Check {len(text.splitlines()) - 1} items yourself" in page
    assert text.splitlines()[0] == "name,gold_fair,gold_short"
