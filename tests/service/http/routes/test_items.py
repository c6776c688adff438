"""Items come in as JSON, tables and images, all or none; what is wrong is said with its place."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from tests.service.harness.service import CRITERIA, CSV, GIF, NDJSON, PNG, Project, Service

WITH_SCORES: dict[str, Any] = {"machine": "given"}


def detail(answer: Any, status: int = 422) -> str:
    assert answer.status_code == status, answer.text
    text: str = answer.json()["detail"]
    assert "\n" not in text
    return text


def contents(project: Project) -> dict[str, Any]:
    tasks = project.get("/label-studio").json()
    return {task["data"].pop("crowdpilot_item"): task["data"] for task in tasks}


def test_items_come_as_json(project: Project) -> None:
    answer = project.post("/items", json={"items": [{"name": "a", "text": "Good."}, {"text": "Bad."}]})
    assert (answer.status_code, answer.json()) == (201, {"added": 2, "ignored": []})
    assert contents(project)["a"] == {"text": "Good."}


def test_items_come_as_csv_with_columns_of_many_names(project: Project) -> None:
    table = 'Item ID;Sentence;ground truth;date\n7;"Good;\nreally";good;today\n8;Bad.;;\n'
    answer = project.post("/items", content=table, headers=CSV)
    assert answer.json() == {"added": 2, "ignored": ["date"]}
    assert contents(project) == {"7": {"text": "Good;\nreally"}, "8": {"text": "Bad."}}
    assert project.decisions()["7"]["gold"] == "good"


def test_items_come_as_ndjson(project: Project) -> None:
    lines = (
        '{"id": 1, "text": "Good.", "gold": "good"}\n\n{"id": "x", "image": "https://example.org/a.png"}\n'
    )
    assert project.post("/items", content=lines, headers=NDJSON).json()["added"] == 2
    assert contents(project) == {"1": {"text": "Good."}, "x": {"image": "https://example.org/a.png"}}


def test_an_item_without_a_name_gets_one_that_stays(service: Service) -> None:
    rows = {"items": [{"text": "Twice."}, {"text": "Twice."}, {"text": "Once."}]}
    names = []
    for project in (service.project(), service.project()):
        project.post("/items", json=rows)
        names.append(list(project.decisions()))
    assert names[0] == names[1]
    assert len(set(names[0])) == 3
    assert "already" in detail(project.post("/items", json={"items": [{"text": "Once."}]}), 409)


def test_probabilities_of_a_machine_are_columns_and_are_made_to_sum_to_one(service: Service) -> None:
    project = service.project(**WITH_SCORES)
    table = "name,text,p_bad,p_good\na,Good.,0.1004,0.9\nb,Bad.,0.8,0.2\n"
    assert project.post("/items", content=table, headers=CSV).status_code == 201
    assert project.decisions()["a"]["label"] == "good"
    assert "row 2: the probabilities of the machine sum to 0.9" in detail(
        project.post("/items", content="name,text,p_bad,p_good\nc,x,0.5,0.4\n", headers=CSV)
    )
    assert "'p_good' is missing" in detail(
        project.post("/items", content="name,text,p_bad\nc,x,0.5\n", headers=CSV)
    )
    assert "row 3: column 'p_good': 'much' is not a number" in detail(
        project.post("/items", content="name,text,p_bad,p_good\nc,x,0,1\nd,y,0,much\n", headers=CSV)
    )
    for machine in (None, [1.0], [0.2, 0.2], {"human": [0.5, 0.5]}):
        assert project.post("/items", json={"items": [{"text": "x", "machine": machine}]}).status_code == 422


def test_probabilities_are_refused_where_no_machine_is_expected(project: Project) -> None:
    rows = {"items": [{"text": "x", "machine": [0.5, 0.5]}]}
    assert "machine 'given'" in detail(project.post("/items", json=rows))


def test_criteria_have_columns_of_their_own(service: Service) -> None:
    project = service.project(**{**CRITERIA, "costs": {}}, **WITH_SCORES)
    head = "name,text,p_human_no,p_human_yes,p_trial_no,p_trial_yes,gold_human,gold_trial"
    rows = "a,x,0.1,0.9,0.2,0.8,yes,yes\nb,y,0.5,0.5,0.5,0.5,no,\nc,z,0.1,0.9,0.1,0.9,yes,"
    assert project.post("/items", content=f"{head}\n{rows}", headers=CSV).status_code == 201
    found = project.decisions()
    assert [found[name]["gold"] for name in "abc"] == ["yes", "no", None]
    assert found["b"]["p_yes"] == 0
    both = {"human": [0.5, 0.5], "trial": [0.5, 0.5]}
    line = {"name": "d", "text": "x", "machine": both, "gold": {"human": "no"}}
    assert project.post("/items", content=json.dumps(line), headers=NDJSON).json() == {
        "added": 1,
        "ignored": [],
    }
    assert project.decisions()["d"]["gold"] == "no"
    line = {"name": "e", "text": "x", "machine": {"human": [0.5, 0.5]}}
    assert "the probabilities of the machine are missing" in detail(
        project.post("/items", content=json.dumps(line), headers=NDJSON)
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("name,text\na,x,y\n", "line 2: found 3 fields, expected 2 ('name', 'text')"),
        ("name,text\na,\n", "row 2: there is neither a text nor an image"),
        ("name,image\na,x.png\n", "row 2: column 'image': 'x.png' is neither"),
        ("name,text,gold\na,x,fair\n", "row 2: 'fair' is not a class"),
        ("name,text,text\n", "'text' occurs twice"),
        ("who,when\nx,y\n", "text, image, audio or video is missing; found 'who', 'when'"),
        ("name,text\n", "there is no row"),
        ("", "text, image, audio or video is missing"),
        ('name,text\na,"open\n', "line 2: a quote is opened and never closed"),
        ("text" + ",x" * 1_000_000, "more than 100000 columns"),
        ("text," + ",".join(f"x{n}" for n in range(20_000)), "5000 are the most"),
        ("text\n" + "," * 1_000_000, "more than 100000 columns"),
        ("name,text\na,\x00\n", "row 2: column 'text'"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_with_one_sentence(project: Project, table: str, said: str) -> None:
    assert said in detail(project.post("/items", content=table, headers=CSV))
    assert project.decisions() == {}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("{", "line 1: found broken JSON"), ("[" * 100_000, "line 1: found broken JSON"),
        ("{}\n[1]", "line 2: found [1], expected a record"),
        ('{"text": "x", "gold": "fair"}', "'fair' is not a class"),
        ('{"text": ["x"]}', "line 1: column 'text'"), ('{"text": "\\ud800"}', "line 1: column 'text'"),
        ('{"text": "x", "machine": 3}', "line 1: column 'machine'"),
    ],
)  # fmt: skip
def test_bad_lines_are_refused_with_one_sentence(project: Project, lines: str, said: str) -> None:
    assert said in detail(project.post("/items", content=lines, headers=NDJSON))


def test_other_bodies_are_refused(project: Project) -> None:
    answer = project.post("/items", content=b"\xff\xfe", headers=CSV)
    assert "line 1: found bytes that are not UTF-8" in detail(answer)
    assert "Content-Type" in detail(
        project.post("/items", content=b"x", headers={"content-type": "text/html"}), 415
    )
    assert (
        project.post("/items", content=b"{", headers={"content-type": "application/json"}).status_code == 422
    )
    assert project.post("/items", json={"items": []}).status_code == 422
    assert "items.0" in detail(project.post("/items", json={"items": [{"text": 3}]}))
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert "cannot be read" in detail(project.post("/items", content=b"nonsense", headers=broken))


def test_nothing_is_added_if_one_item_is_there_already(project: Project) -> None:
    project.add_texts(2)
    rows = {"items": [{"name": "new", "text": "x"}, {"name": "i1", "text": "y"}]}
    assert "already" in detail(project.post("/items", json=rows), 409)
    assert set(project.decisions()) == {"i0", "i1"}


# Images ----------------------------------------------------------------------------------------


def test_an_image_becomes_an_item_called_like_its_file(project: Project) -> None:
    files = [("file", ("cat.png", PNG)), ("file", ("folder/dog.gif", GIF))]
    assert project.post("/items", files=files).json() == {"added": 2, "ignored": []}
    address = f"/files/{project.id}/{sha256(PNG).hexdigest()}"
    assert contents(project)["cat.png"]["image"].endswith(address)
    shown = project.service.http.get(address)
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in shown.headers["cache-control"]
    assert shown.headers["content-disposition"] == "inline"
    assert set(project.decisions()) == {"cat.png", "dog.gif"}


def test_a_table_may_name_images_that_come_with_it(project: Project) -> None:
    table = b"name,image,text\na,cat.png,A cat.\nb,https://example.org/x.png,\n"
    files = [("file", ("items.csv", table)), ("file", ("cat.png", PNG)), ("file", ("extra.gif", GIF))]
    assert project.post("/items", files=files).json()["added"] == 3
    found = contents(project)
    assert set(found) == {"a", "b", "extra.gif"}
    assert found["a"]["image"].endswith(f"/files/{project.id}/{sha256(PNG).hexdigest()}")


@pytest.mark.parametrize("data", [b"<svg onload='alert(1)'/>", b"<html>", b"", b"RIFF1234AVI ", b"%PDF-1.7"])
def test_only_real_images_are_kept(project: Project, data: bytes) -> None:
    for name in ("a.svg", "a.png"):
        assert "is no PNG, JPEG, GIF or WebP" in detail(project.post("/items", files={"file": (name, data)}))


def test_files_are_found_in_their_project_only(service: Service) -> None:
    one, other = service.project(), service.project()
    one.post("/items", files={"file": ("a.png", PNG)})
    assert service.http.get(f"/files/{other.id}/{sha256(PNG).hexdigest()}").status_code == 404
    assert service.http.get(f"/files/{one.id}/{sha256(GIF).hexdigest()}").status_code == 404
    assert service.http.get(f"/files/{one.id}/nonsense").status_code == 422


def test_a_form_holds_files_and_nothing_else(project: Project) -> None:
    assert project.post("/items", data={"file": "x"}, files={"other": ("a.png", PNG)}).status_code == 422
    twice = [("file", ("a.png", PNG)), ("file", ("a.png", GIF))]
    assert "one file too many" in detail(project.post("/items", files=twice))


# What is known, stopped and withdrawn -------------------------------------------------------------


def test_gold_comes_as_json_and_as_a_table(project: Project) -> None:
    project.add_texts(3)
    assert project.post("/gold", json={"gold": {"i0": "good"}}).json() == {"changed": 1}
    assert project.post("/gold", content="name,label\ni1,bad\n", headers=CSV).json() == {"changed": 1}
    found = project.decisions()
    assert [found[name]["gold"] for name in ("i0", "i1", "i2")] == ["good", "bad", None]


def test_gold_may_come_with_new_items(project: Project) -> None:
    table = "name,text,label\na,Good.,good\nb,Bad.,bad\n"
    assert project.post("/gold", content=table, headers=CSV).json() == {"changed": 2}
    assert project.decisions()["b"]["gold"] == "bad"
    assert "'c' has no label" in detail(project.post("/gold", content="name,text,label\nc,x,\n", headers=CSV))


def test_gold_of_criteria_adds_up(service: Service) -> None:
    project = service.project(**{**CRITERIA, "costs": {}})
    project.add_texts(1)
    assert project.post("/gold", json={"gold": {"i0": {"human": "yes"}}}).status_code == 200
    assert project.decisions()["i0"]["gold"] is None
    assert project.post("/gold", content="name,gold_trial\ni0,yes\n", headers=CSV).status_code == 200
    assert project.decisions()["i0"]["gold"] == "yes"
    assert "no criterion" in detail(project.post("/gold", json={"gold": {"i0": "yes"}}))


def test_bad_gold_is_refused(project: Project) -> None:
    project.add_texts(1)
    assert "there is no item 'x'" in detail(project.post("/gold", json={"gold": {"x": "good"}}), 404)
    assert "'fair' is not a class" in detail(project.post("/gold", json={"gold": {"i0": "fair"}}))
    assert "'human'" in detail(project.post("/gold", json={"gold": {"i0": {"human": "good"}}}))
    assert "row 2" in detail(project.post("/gold", content="name,label\ni0,fair\n", headers=CSV))
    assert "missing" in detail(project.post("/gold", content="who,label\ni0,good\n", headers=CSV))


def test_stopped_items_are_asked_no_more_and_withdrawn_ones_are_gone(project: Project) -> None:
    project.add_texts(3)
    assert project.post("/items/stop", json={"items": ["i0", "i1"]}).json() == {"changed": 2}
    assert project.post("/items/withdraw", json={"items": ["i1"]}).json() == {"changed": 1}
    assert project.post("/items/stop", json={"items": ["i1"]}).json() == {"changed": 0}
    wanted = project.post("/vote-requests", json={"n": 10}).json()["items"]
    assert {ask["item"] for ask in wanted} == {"i2"}
    assert set(project.decisions()) == {"i0", "i2"}
    assert "there is no item 'x'" in detail(project.post("/items/stop", json={"items": ["x"]}), 404)


def test_a_machine_that_there_is_no_money_for_looks_at_nothing(service: Service) -> None:
    project = service.project(machine="given", costs={"classifier": 1, "budget": 2, "prices": {"crowd": 0.1}})
    rows = [{"text": f"{n}", "machine": [0.5, 0.5]} for n in range(3)]
    assert "the budget does not pay" in detail(project.post("/items", json={"items": rows}), 409)
    assert project.post("/items", json={"items": rows[:2]}).status_code == 201
