"""The wizard without a browser: creating a project, checks of steps, previews, copies, settings in files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.setup.form import new_typed
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import GIF, PNG

FORM = {
    **{name: value for name, value in new_typed().items() if value}, "name": "Birds",
    "question": "Which bird?", "classes-0-name": "Robin", "classes-2-name": "Wren", "gold": "10",
    "examples-0-label": "Robin", "examples-0-text": "a red breast", "examples-0-why": "It is red.",
}  # fmt: skip
CSV = b"name,text,gold\na,a red breast,Robin\nb,small and brown,\nc,sings loudly,\n"
JSON = {"accept": "application/json"}


def send(client: Any, path: str = "/projects/new", files: Any = None, **more: Any) -> Any:
    """Post the form of the wizard."""
    data = {"csrf": csrf(client.get("/projects/new").text), **FORM, **more}
    return client.post(path, data=data, files=files or {"files": ("birds.csv", CSV, "text/csv")})


def test_a_form_and_a_file_make_a_project(service: DashboardService) -> None:
    client = service.signed_in("write")
    made = send(client, mistake="60", budget="20")
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


@pytest.mark.parametrize(("field", "typed", "words"), [
    ("name", "", "Fill this in."),
    ("classes", "", "at least two answers"),
    ("price", "cheap", "Give a number."),
    ("budget", "-1", "Give 0 or more."),
    ("gold", "200", "Give 100 or less."),
    ("batch", "0", "Give 1 or more."),
    ("examples-0-label", "Eagle", "not one of the classes"),
])  # fmt: skip
def test_an_error_stands_beside_its_field_and_what_was_typed_stays(
    service: DashboardService, field: str, typed: str, words: str
) -> None:
    answer = send(service.signed_in(), question="Really?", **{field: typed}, **(
        {"classes-2-name": ""} if field == "classes" else {}))  # fmt: skip
    assert answer.status_code == 422
    beside = re.search(rf'id="{field}(?:-error)?"(?: tabindex="-1")?>([^<]+)<', answer.text)
    assert beside
    assert words in beside[1]
    assert "Really?" in answer.text
    assert service.rows() == []


@pytest.mark.parametrize(("name", "data", "words"), [
    ("birds.csv", b"name\na\n", "column called text, image, audio or video is missing"),
    ("birds.csv", b"name,text,gold\na,x,Eagle\n", "Eagle"),
    ("birds.csv", b"name,text\na,x\na,y\n", "twice"),
    ("birds.pdf", b"%PDF", "no PNG, JPEG, GIF or WebP image"),
    ("", b"", "Choose a file"),
])  # fmt: skip
def test_a_wrong_file_makes_nothing(service: DashboardService, name: str, data: bytes, words: str) -> None:
    answer = send(service.signed_in(), files={"files": (name, data)} if name else {"other": ("", b"")})
    assert answer.status_code == 422
    assert words in answer.text
    assert service.rows() == []


def test_a_script_gets_what_is_wrong_or_the_address_of_the_project(service: DashboardService) -> None:
    client = service.signed_in()
    client.headers.update(JSON)
    assert send(client, name="").json() == {"wrong": {"name": "Fill this in."}}
    made = send(client)
    assert (made.status_code, made.json()) == (201, {"address": f"/projects/{service.rows()[0].id}"})


def test_files_are_items_with_addresses_in_the_new_project(service: DashboardService) -> None:
    client = service.signed_in()
    send(client, files=[("files", ("one.gif", GIF)), ("files", ("two.gif", GIF + b"1"))])
    (row,) = service.rows()
    with service.store.reading() as c:
        contents = [item.content["image"] for item in items.all_contents(c, row.id)]
    assert all(address.startswith(f"/files/{row.id}/") for address in contents)
    assert client.get(contents[0]).content == GIF


def test_pictures_of_instructions_and_quiz_become_files_of_the_project(service: DashboardService) -> None:
    client = service.signed_in()
    files = [
        ("files", ("birds.csv", CSV)), ("pictures-0-image-file", ("a.png", PNG)),
        ("quiz-0-image-file", ("b.gif", GIF)),
    ]  # fmt: skip
    made = send(client, files=files, **{"quiz-0-label": "Wren", "pictures-0-caption": "A nest"})
    assert made.status_code == 200
    (row,) = service.rows()
    assert row.spec["pictures"][0]["caption"] == "A nest"
    assert client.get(row.spec["pictures"][0]["image"]).content == PNG
    assert client.get(row.spec["quiz"][0]["image"]).content == GIF
    wrong = send(client, files=[("files", ("birds.csv", CSV)), ("pictures-0-image-file", ("a.png", b"%PDF"))])
    assert (wrong.status_code, "is no PNG" in wrong.text) == (422, True)


def test_steps_are_checked_one_after_the_other(service: DashboardService) -> None:
    client = service.signed_in()
    wrong = {"classes-2-name": "", "price": "x"}
    assert send(client, "/projects/new/check", step="1", **wrong).json() == {"wrong": {}, "summary": []}
    assert list(send(client, "/projects/new/check", step="2", **wrong).json()["wrong"]) == ["classes"]
    assert list(send(client, "/projects/new/check", step="4", **wrong).json()["wrong"]) == [
        "classes",
        "price",
    ]


def test_the_last_step_says_in_words_what_the_project_is(service: DashboardService) -> None:
    typed = {"currency": "EUR", "budget": "12", "step": "6", "items": "240"}
    said = send(service.signed_in(), "/projects/new/check", **typed).json()
    assert said["wrong"] == {}
    assert said["summary"][:3] == [
        "240 items, 2 answers: “Robin”, “Wren”.",
        "Each answer costs EUR\xa00.05, at most EUR\xa012.00 in all.",
        "A wrong label costs as much as 20 answers.",
    ]


def test_a_preview_stores_nothing_and_shows_the_first_items(service: DashboardService) -> None:
    page = send(service.signed_in(), "/projects/new/preview").text
    assert "3 items found: 3 texts" in page
    assert "1 item has a known answer" in page
    assert page.count("<article") == 3
    assert "small and brown" in page
    assert service.rows() == []


def test_a_preview_with_final_answers_says_what_does_not_fit_them(service: DashboardService) -> None:
    client, other = service.signed_in(), {"classes-0-name": "Owl"}
    assert "cannot be" not in send(client, "/projects/new/preview", **other).text
    page = send(client, "/projects/new/preview", final="yes", **other).text
    assert "Some rows cannot be read" in page
    assert "is not a class" in page


def test_a_template_fills_in_the_form(service: DashboardService) -> None:
    client = service.signed_in()
    page = client.get("/projects/new?template=spam").text
    assert 'value="Not spam"' in page
    assert client.get("/projects/new?template=../spam").status_code == 404


def test_settings_go_to_a_file_and_back(service: DashboardService) -> None:
    client = service.signed_in()
    send(client, question='Which "bird" </textarea>?')
    file = client.get(f"/projects/{service.rows()[0].id}/settings.json")
    assert "attachment" in file.headers["content-disposition"]
    token = csrf(client.get("/projects/new").text)
    again = client.post(
        "/projects/new/import", data={"csrf": token}, files={"settings": ("a.json", file.content)}
    )
    assert again.status_code == 200
    assert "Which &#34;bird&#34; &lt;/textarea&gt;?" in again.text
    wrong = {**json.loads(file.content), "batch": 0}
    bad = client.post(
        "/projects/new/import", data={"csrf": token}, files={"settings": ("a.json", json.dumps(wrong))}
    )
    assert (bad.status_code, "batch" in bad.text) == (422, True)
    assert len(service.rows()) == 1


def test_a_copy_has_the_settings_and_the_items_if_that_is_ticked(service: DashboardService) -> None:
    client = service.signed_in()
    send(client, files=[("files", ("one.gif", GIF)), ("pictures-0-image-file", ("a.png", PNG))])
    (first,) = service.rows()
    page = client.get(f"/projects/{first.id}/duplicate").text
    assert 'value="Copy of Birds"' in page
    assert "Copy the 1 item" in page
    token, address = csrf(page), first.spec["pictures"][0]["image"]
    form = {**FORM, "csrf": token, "name": "Second", "pictures-0-image": address}
    copied = {"copied_project": first.id, "copy_items": "yes"}
    made = client.post("/projects/new", data={**form, **copied})
    second = made.url.path.rpartition("/")[2]
    with service.store.reading() as c:
        (item,) = items.all_contents(c, second)
        spec = projects.find(c, second).spec
    assert item.content["image"].startswith(f"/files/{second}/")
    assert client.get(item.content["image"]).content == GIF
    assert spec["pictures"][0]["image"].startswith(f"/files/{second}/")
    assert client.get(spec["pictures"][0]["image"]).content == PNG


def test_pictures_of_another_server_are_left_out_of_imported_settings_and_told(
    service: DashboardService,
) -> None:
    client = service.signed_in()
    send(client, files=[("files", ("birds.csv", CSV)), ("pictures-0-image-file", ("a.png", PNG))])
    settings = client.get(f"/projects/{service.rows()[0].id}/settings.json").json()
    token = csrf(client.get("/projects/new").text)

    def imported(settings: dict[str, Any]) -> str:
        file = {"settings": ("a.json", json.dumps(settings))}
        return str(client.post("/projects/new/import", data={"csrf": token}, files=file).text)

    own = settings["pictures"][0]["image"]
    assert own in imported(settings)
    assert 'id="dropped"' not in imported(settings)
    page = imported({**settings, "pictures": [{"image": f"/files/{'a' * 12}/{'0' * 64}", "caption": ""}]})
    assert "1 picture is not on this server, and left out: Pictures, row 1." in page
    assert "/files/aaaaaaaaaaaa" not in page


def test_a_picture_that_is_gone_is_named_beside_its_row(service: DashboardService) -> None:
    gone = f"/files/{'a' * 12}/{'0' * 64}"
    client = service.signed_in()
    client.headers.update(JSON)
    answer = send(client, **{"quiz-4-image": gone, "quiz-4-label": "Wren"})
    assert list(answer.json()["wrong"]) == ["quiz-4-image"]


def test_without_a_script_an_error_keeps_what_is_copied(service: DashboardService) -> None:
    client, other = service.signed_in(), service.create()
    for tick in ("yes", ""):
        page = send(client, name="", copied_project=other, copy_items=tick, files={"other": ("", b"")}).text
        assert f'name="copied_project" value="{other}"' in page
        assert "Copy the 12 items of “Film reviews”" in page
        assert bool(re.search(r'name="copy_items" value="yes" checked', page)) is bool(tick)


def test_the_summary_says_if_known_answers_are_not_copied(service: DashboardService) -> None:
    client = service.signed_in()
    send(client)
    (first,) = service.rows()
    copied = {"copied_project": first.id, "copy_items": "yes", "step": "6"}
    same = send(client, "/projects/new/check", **copied).json()["summary"]
    assert same[0].startswith("3 items")
    assert not any("not copied" in words for words in same)
    other = send(client, "/projects/new/check", **copied, **{"classes-2-name": "Owl"}).json()["summary"]
    assert "Known answers are not copied" in other[-1]


def test_nobody_copies_the_items_of_a_project_that_is_not_theirs(service: DashboardService) -> None:
    other = service.create()
    with service.store.writing() as c:
        key = keys.create(c, members.find_or_create(c, "eve").id, "eve", "write")
    client = service.visitor()
    client.post("/login", data={"csrf": csrf(client.get("/login").text), "key": key})
    assert client.get(f"/projects/{other}/duplicate").status_code == 404
    made = client.post("/projects/new", data={
        **FORM, "csrf": csrf(client.get("/projects/new").text), "copied_project": other, "copy_items": "yes",
    })  # fmt: skip
    assert made.status_code == 422
    assert "Film reviews" not in made.text
    assert [row.id for row in service.rows()] == [other]
