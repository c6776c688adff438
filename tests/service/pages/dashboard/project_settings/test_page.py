"""The page of settings: changes, what is refused, forms that are out of date, archive."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.pages.dashboard.setup.form import to_typed
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.requesters import action_log
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.service import PNG


def spec_of(service: DashboardService, id: str) -> Any:
    with service.store.reading() as c:
        return projects.find(c, id).spec


def words(page: str) -> str:
    """The text of a page, without its tags."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))


def save(service: DashboardService, client: TestClient, id: str, number: str = "", **typed: str) -> Any:
    """Save the form of the page with these fields changed."""
    page = client.get(f"/projects/{id}/settings").text
    seen = number or re.findall(r'name="spec_number" value="(\d+)"', page)[0]
    fields = {**to_typed(spec_of(service, id)), **typed}
    return client.post(f"/projects/{id}/settings", data={"csrf": csrf(page), "spec_number": seen, **fields})


def test_a_form_that_is_saved_unchanged_changes_nothing(service: DashboardService) -> None:
    id, client = service.create(costs={"prices": {"crowd": 0.05}, "budget": 3.5}), service.signed_in()
    before = spec_of(service, id)
    assert "Saved." in save(service, client, id).text
    assert spec_of(service, id) == before
    assert "from “" not in client.get(f"/projects/{id}/settings").text


@pytest.mark.parametrize("prices", [
    {"volunteer": 0}, {"volunteer": 0.02, "expert": 0.5}, {"expert": 0.5, "crowd": 0.02},
    {"expert": 0.5, "volunteer": 0, "crowd": 0}, {"crowd": 0.03, "expert": 0},
], ids=lambda prices: " ".join(prices))  # fmt: skip
def test_a_change_of_one_setting_leaves_costs_and_the_order_of_kinds_alone(
    service: DashboardService, prices: dict[str, float]
) -> None:
    costs = {"prices": prices, "errors": [[0, 1 / 3], [7, 0]], "budget": 12.3}
    id, client = service.create(costs=costs, plan={"gold": 1 / 3}, lease=100 / 3), service.signed_in()
    before = spec_of(service, id)
    assert "Saved." in save(service, client, id, question="Really?").text
    assert json.dumps(spec_of(service, id)) == json.dumps({**before, "question": "Really?"})


def test_a_picture_that_comes_with_another_error_is_kept(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    page = client.get(f"/projects/{id}/settings").text
    number = re.findall(r'name="spec_number" value="(\d+)"', page)[0]
    form = {**to_typed(spec_of(service, id)), "csrf": csrf(page), "spec_number": number, "batch": "none"}
    form |= {"pictures-0-caption": "A nest"}
    files = {"pictures-0-image-file": ("a.png", PNG)}
    shown = client.post(f"/projects/{id}/settings", data=form, files=files)
    assert shown.status_code == 422
    address = re.findall(r'id="pictures-0-image" name="[^"]*" type="text" inputmode="url" value="([^"]+)"',
                         shown.text)[0]  # fmt: skip
    assert client.get(address).content == PNG
    assert "Saved." in save(service, client, id, **{"pictures-0-image": address}).text
    assert spec_of(service, id)["pictures"] == [{"image": address, "caption": ""}]


def test_settings_change_in_the_middle_and_the_page_says_what_changed_when(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    service.work(id, 4)
    page = words(save(service, client, id, question="Do they like it?", price="0.08", budget="9").text)
    assert "Question: from “Does the writer like it?” to “Do they like it?”" in page
    assert "Price of an answer: from “crowd 0.05” to “crowd 0.08”" in page
    assert "Budget: from “nothing” to “9”" in page
    assert "changed the settings" in client.get(f"/projects/{id}/log").text


def test_what_cannot_change_is_said_and_nothing_is_saved(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    service.work(id, 4)
    before = spec_of(service, id)
    answer = save(service, client, id, question="New?", **{"classes-2-name": "Mixed"})
    assert answer.status_code == 422
    assert "the classes cannot change any more" in unescape(answer.text).lower()
    assert "duplicate the project" in answer.text
    assert spec_of(service, id) == before
    assert "are spent or promised" in save(service, client, id, budget="0.01").text


@pytest.mark.parametrize(("column", "value", "why"), [
    ("gold", "Positive", "there are items with known answers"),
    ("classifier_probs", [0.5, 0.5], "there are items with the guesses of a classifier"),
    ("override", {"label": "Positive", "by": "ann", "time": 0.0}, "that somebody decided by hand"),
])  # fmt: skip
def test_the_page_says_truly_why_names_of_answers_cannot_change(
    service: DashboardService, column: str, value: Any, why: str
) -> None:
    id, client = service.create(), service.signed_in()
    address, votes = f"/projects/{id}/settings", "workers have answered with them"
    assert "cannot change" not in client.get(address).text
    with service.store.writing() as c:
        items.change(c, id, ["item-0"], **{column: value})
    page = client.get(address).text
    assert why in page
    assert votes not in page
    service.work(id, 4)
    assert votes in client.get(address).text


def test_a_form_that_is_out_of_date_overwrites_nothing_in_silence(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    save(service, client, id, question="First?")
    late = save(service, client, id, number="0", question="Second?")
    assert late.status_code == 409
    shown = words(late.text)
    assert "Nothing was saved" in shown
    assert "now “First?”, yours “Second?”" in shown
    assert spec_of(service, id)["question"] == "First?"


def test_what_changed_is_shown_however_much_else_was_done_since(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    save(service, client, id, question="First?")
    with service.store.writing() as c:
        for _ in range(60):
            action_log.write(c, "ann", "audit answers", id, answers=1)
    assert "to “First?”" in words(client.get(f"/projects/{id}/settings").text)


def test_texts_of_requesters_are_escaped_in_the_history(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    page = save(service, client, id, question="<script>alert(1)</script>").text
    assert "<script>alert" not in page


def test_a_project_is_archived_listed_there_and_restored(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    settings = f"/projects/{id}/settings"
    assert "Film reviews" not in post(client, f"/projects/{id}/archive", settings).text
    assert "Film reviews" in client.get("/projects/archive").text
    assert "Archived" in client.get(settings).text
    post(client, f"/projects/{id}/restore", "/projects/archive")
    assert "Film reviews" in client.get("/projects").text


def test_readers_see_settings_and_cannot_change_them(service: DashboardService) -> None:
    id = service.create()
    reader = service.signed_in("read")
    page = reader.get(f"/projects/{id}/settings").text
    assert "Save the settings" not in page
    refused = reader.post(f"/projects/{id}/settings", data={"csrf": csrf(page), "name": "Mine"})
    assert refused.status_code == 403
