"""The dashboard without a browser: who may do what, forms, tables and files."""

from __future__ import annotations

import re

import pytest

from crowdpilot.service.store import items
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.service import GIF

FORM = {
    "name": "Birds", "question": "Which bird?", "classes": "Robin\nWren\n", "error": "1", "price": "0.05",
    "policy": "value", "machine": "none", "gold": "10", "batch": "5", "votes": "3",
    "examples": "Robin | a red breast | It is red.",
}  # fmt: skip
CSV = b"name,text,gold\na,a red breast,Robin\nb,small and brown,\nc,sings loudly,\n"


# Projects -------------------------------------------------------------------------------------


def test_nobody_sees_a_page_without_signing_in(service: DashboardService) -> None:
    id, client = service.create(), service.visitor()
    paths = ["/", "/projects", "/projects/new", "/keys", *(f"/projects/{id}{end}" for end in (
        "", "/live", "/items", "/workers", "/audit", "/export", "/log", "/close", "/workers/pay.csv",
        "/export/decisions.csv", "/export/votes.csv", "/export/label-studio.json"))]  # fmt: skip
    for path in paths:
        answer = client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"][:6]) == (303, "/login"), path
    polled = client.get(f"/projects/{id}/live", headers={"HX-Request": "true"})
    assert (polled.status_code, polled.headers["HX-Redirect"]) == (204, "/login")


def test_without_projects_there_is_one_thing_to_do(service: DashboardService) -> None:
    page = service.signed_in().get("/projects").text
    assert "No projects yet" in page
    assert page.count('href="/projects/new"') == 1


def test_a_form_and_a_file_make_a_project(service: DashboardService) -> None:
    client = service.signed_in("write")
    made = client.post(
        "/projects/new",
        data={"csrf": csrf(client.get("/projects/new").text), **FORM, "fp": "3", "budget": "20"},
        files={"files": ("birds.csv", CSV, "text/csv")},
    )
    (row,) = service.rows()
    assert made.url.path == f"/projects/{row.id}"
    assert row.spec["classes"] == ["Robin", "Wren"]
    assert row.spec["costs"]["errors"] == [[0, 3], [1, 0]]
    assert row.spec["costs"]["budget"] == 20
    assert row.spec["plan"]["gold"] == pytest.approx(0.1)
    assert row.spec["examples"][0]["why"] == "It is red."
    with service.store.reading() as c:
        found = items.all_contents(c, row.id)
    assert [item.name for item in found] == ["a", "b", "c"]
    assert "Which bird?" in made.text


@pytest.mark.parametrize(("field", "typed", "words"), [
    ("name", "", "Fill this in."),
    ("classes", "Robin", "at least two classes"),
    ("classes", "Robin\nRobin", "twice"),
    ("price", "cheap", "Give a number."),
    ("budget", "-1", "Give 0 or more."),
    ("gold", "200", "Give 1 or less."),
    ("batch", "0", "Give 1 or more."),
    ("examples", "Eagle | large", "not one of the classes"),
    ("examples", "Robin", "has no text"),
])  # fmt: skip
def test_an_error_stands_beside_its_field_and_what_was_typed_stays(
    service: DashboardService, field: str, typed: str, words: str
) -> None:
    client = service.signed_in()
    data = {"csrf": csrf(client.get("/projects/new").text), **FORM, "question": "Really?", field: typed}
    answer = client.post("/projects/new", data=data, files={"files": ("birds.csv", CSV, "text/csv")})
    assert answer.status_code == 422
    beside = re.search(rf'id="{field}-error">([^<]+)<', answer.text)
    assert beside
    assert words in beside[1]
    assert 'value="Really?"' in answer.text
    assert service.rows() == []


@pytest.mark.parametrize(("name", "data", "words"), [
    ("birds.csv", b"name\na\n", "column called text or image is missing"),
    ("birds.csv", b"name,text,gold\na,x,Eagle\n", "Eagle"),
    ("birds.csv", b"name,text\na,x\na,y\n", "twice"),
    ("birds.pdf", b"%PDF", "no PNG, JPEG, GIF or WebP image"),
    ("", b"", "Choose a file"),
])  # fmt: skip
def test_a_wrong_file_makes_nothing(service: DashboardService, name: str, data: bytes, words: str) -> None:
    client = service.signed_in()
    form = {"csrf": csrf(client.get("/projects/new").text), **FORM}
    answer = client.post("/projects/new", data=form, files={"files": (name, data)} if name else None)
    assert answer.status_code == 422
    assert words in answer.text
    assert service.rows() == []


def test_images_are_items_with_addresses_in_the_new_project(service: DashboardService) -> None:
    client = service.signed_in()
    form = {"csrf": csrf(client.get("/projects/new").text), **FORM}
    client.post(
        "/projects/new", data=form, files=[("files", ("one.gif", GIF)), ("files", ("two.gif", GIF + b"1"))]
    )
    (row,) = service.rows()
    with service.store.reading() as c:
        contents = [item.content["image"] for item in items.all_contents(c, row.id)]
    assert all(address.startswith(f"/files/{row.id}/") for address in contents)
    assert client.get(contents[0]).content == GIF


def test_more_items_can_be_added(service: DashboardService) -> None:
    id, client = service.create(2), service.signed_in()
    token = csrf(client.get(f"/projects/{id}/add").text)
    new = {"files": ("more.csv", b"name,text\nnew,some text\n")}
    assert client.post(f"/projects/{id}/add/items", data={"csrf": token}, files=new).url.path.endswith(
        "/items"
    )
    again = client.post(f"/projects/{id}/add/items", data={"csrf": token}, files=new)
    assert (again.status_code, "there already" in again.text) == (422, True)


@pytest.mark.parametrize(("change", "state"), [("pause", "paused"), ("close", "closed"), ("resume", "open")])
def test_a_project_is_paused_stopped_and_resumed(service: DashboardService, change: str, state: str) -> None:
    id, client = service.create(), service.signed_in("write")
    post(client, f"/projects/{id}/state/{change}", f"/projects/{id}")
    assert service.rows()[0].state == state
    log = client.get(f"/projects/{id}/log").text
    assert state in log
    assert "the write key" in log


def test_the_live_part_changes_with_the_votes_and_is_not_sent_twice(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    before = client.get(f"/projects/{id}/live").text
    seen = re.search(r'name="seen" value="(\w+)"', before)
    assert seen
    assert client.get(f"/projects/{id}/live", params={"seen": seen[1]}).status_code == 204
    n_votes = service.work(id)
    service.do_jobs()
    after = client.get(f"/projects/{id}/live", params={"seen": seen[1]}).text
    assert f'id="votes">{n_votes}<' in after
    assert 'class="chart-line"' in after
    assert 'class="chart-column"' in after
