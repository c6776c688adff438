"""Exports run nothing in a spreadsheet, and odd times of clients and files never break a page or a file."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdpilot.service import exports
from crowdpilot.service.pages.dashboard.formatting import ago, clock
from crowdpilot.service.platforms.label_studio.tasks import read_tasks
from crowdpilot.service.uploads.spreadsheet_cells import NUMBER, neutralised, original
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import sqlite_url

NASTY = "=+-@＝＋－＠﹦−'\"\t\r\n ,;|a1\u00a0\u200b\ufeff\u2028\u3000\x00\x0b\u2060\ufe0f|!/"
TEXTS = st.text(st.one_of(st.sampled_from(NASTY), st.characters(exclude_categories=["Cs"])), max_size=12)
DDE = "=cmd|' /C calc'!A0"
BLANK = ("Cc", "Cf", "Zs", "Zl", "Zp")  # categories of characters that nobody sees
FORMULAS = [
    DDE, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "＝1", "＋1", "－x", "＠x",
    "\ufeff=1", "\u200b=1", "a;=1", "a|=1", "a,=1", "a\t=1", "a\n=1", "a; =1", '";=1', ';"=1', '"=1', "-1\n",
    "\x00=1", "﹦1", "a\r\n\u200b@x", "-1+cmd|' /C calc'!A0",
]  # fmt: skip


def runs(cell: str) -> bool:
    """Whether a spreadsheet may run a cell: what one sees of it begins with a sign, and not with a number."""
    shown = cell
    while shown and (unicodedata.category(shown[0]) in BLANK or shown[0] in "\ufe0f\u3164"):
        shown = shown[1:]
    if not shown or unicodedata.normalize("NFKC", shown[0]) not in ("=", "+", "-", "@"):
        return False
    number = NUMBER.match(shown)
    return number is None or shown[number.end() : number.end() + 1] not in ("", *',;|\t\r\n"')


def cells(text: str) -> Iterator[str]:
    """All cells that a spreadsheet may find, whichever separator it takes."""
    for separator in ",;|\t":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            yield from row


def as_csv(*columns: list[str]) -> str:
    table = pa.table({f"c{n}": pa.array(column, pa.string()) for n, column in enumerate(columns)})
    return b"".join(exports.write([table], "csv")).decode()


@pytest.mark.parametrize("text", FORMULAS)
def test_no_beginning_of_a_cell_is_run(text: str) -> None:
    written = as_csv(["plain", text], [text, "plain"])
    assert [cell for cell in cells(written) if runs(cell)] == []


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
@example(';"=', "x")
def test_no_text_is_run_whatever_the_separator(first: str, second: str) -> None:
    assert [cell for cell in cells(as_csv([first, "a"], [second, "b"])) if runs(cell)] == []


@settings(max_examples=500, deadline=None)
@given(TEXTS)
def test_the_original_text_is_found_again(text: str) -> None:
    assert original(neutralised(text)) == text


@pytest.mark.parametrize(
    "text", ["-1.5", "+1", "-1e-7", "0", "1,5", "plain", "it's", "'quoted'", "a - b", "a=b"]
)
def test_numbers_and_plain_texts_stay_as_they_are(text: str) -> None:
    assert neutralised(text) == text


def test_columns_of_numbers_are_not_changed() -> None:
    table = pa.table({"x": [-1.5, 2.0]})
    assert b"".join(exports.write([table], "csv")).decode().split() == ["x", "-1.5", "2"]


@pytest.mark.parametrize("name", ["=1+1", "a;=1", "＝1", " @x"])
def test_the_items_to_check_run_nothing_and_can_be_sent_back(service: DashboardService, name: str) -> None:
    project = service.project(costs={"prices": {"crowd": 0.02}})
    project.add({"name": name, "text": "Some text."}, {"name": "other", "text": "More."})
    project.add_votes((name, "ann", "good"), (name, "ben", "bad"), ("other", "ann", "good"))
    sheet = service.signed_in().get(f"/projects/{project.id}/export/check.csv").text
    assert [cell for cell in cells(sheet) if runs(cell)] == []
    assert neutralised(name) in {row[0] for row in csv.reader(io.StringIO(sheet))}
    filled = io.StringIO()
    csv.writer(filled).writerows([["name", "gold"], [neutralised(name), "good"]])
    sent = project.post("/gold", content=filled.getvalue().encode(), headers={"content-type": "text/csv"})
    assert (sent.status_code, sent.json()) == (200, {"changed": 1})


# Times ------------------------------------------------------------------------------------------

ODD = [1e300, -1e300, 1e18, -1e12, 253402300800.0, float("nan"), float("inf"), float("-inf"), 0.0, -0.5]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path_factory.mktemp("exports")))
    yield made
    made.close()


@pytest.mark.parametrize("seconds", ODD)
def test_any_time_can_be_shown(seconds: float) -> None:
    assert isinstance(clock(seconds), str)
    assert isinstance(ago(seconds), str)
    assert exports.moment(seconds) is None or len(str(exports.moment(seconds))) == len(
        "1970-01-01T00:00:00.000Z"
    )


@given(st.floats())
def test_no_time_breaks_an_export(seconds: float) -> None:
    assert str(exports.moment(seconds)).endswith("Z") or exports.moment(seconds) is None


def annotation(time: str, lead: Any) -> dict[str, Any]:
    result = {"type": "choices", "from_name": "label", "to_name": "text", "value": {"choices": ["good"]}}
    return {"id": 1, "completed_by": 7, "created_at": time, "lead_time": lead, "result": [result]}


@pytest.mark.parametrize(
    ("time", "lead"),
    [
        ("9999-12-31T23:59:59-23:59", 1e300), ("0001-01-01T00:00:00+23:59", 10**400),
        ("1066-10-14", -1), ("x", float("nan")),
    ],
    ids=["9999", "0001", "1066", "x"],
)  # fmt: skip
def test_the_times_of_a_file_never_break_exports_and_pages(
    service: DashboardService, time: str, lead: Any
) -> None:
    project = service.project()
    tasks = [{"data": {"text": "Some text."}, "annotations": [annotation(time, lead)]}]
    body = json.dumps(tasks).encode()
    sent = project.post("/label-studio", content=body, headers={"content-type": "application/json"})
    assert sent.status_code in (201, 200, 422), sent.text
    for format in exports.MEDIA_TYPES:
        assert project.get(f"/votes?format={format}").status_code == 200
    assert project.get("/label-studio").status_code == 200
    client = service.signed_in()
    for page in ("", "/items", "/workers", "/export/label-studio.json"):
        assert client.get(f"/projects/{project.id}{page}").status_code == 200, page


def test_times_that_nobody_lived_in_are_clamped() -> None:
    tasks = [{"data": {"text": "a"}, "annotations": [annotation("9999-12-31T23:59:59-23:59", 1e300)]}]
    (vote,) = read_tasks(tasks, ["bad", "good"]).votes
    assert exports.moment(vote.time) is not None
    assert vote.seconds == 86400.0


@pytest.mark.parametrize("expires", ["1e300", "-1", "NaN", "Infinity", "1e13", '"x"'])
def test_an_invitation_that_expires_at_no_time_is_refused(service: DashboardService, expires: str) -> None:
    project = service.project()
    body = f'{{"expires": {expires}}}'.encode()
    sent = project.post("/invitations", content=body, headers={"content-type": "application/json"})
    assert sent.status_code == 422
    assert service.signed_in().get(f"/projects/{project.id}").status_code == 200


# Numbers in addresses ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [10**30, -(10**30), 2**63, 2**63 - 1, 0, -1, "1" * 4000])
def test_an_odd_number_in_an_address_leads_nowhere(service: DashboardService, number: Any) -> None:
    id, client = service.create(n=2), service.signed_in()
    assert client.get(f"/projects/{id}/items/{number}").status_code == 404
    assert client.get(f"/projects/{id}/items?page={number}").status_code == 200
    for path in (f"workers/{number}/erase", f"workers/{number}"):
        assert client.get(f"/projects/{id}/{path}").status_code in (404, 405, 422)


@pytest.mark.parametrize("number", [10**30, 2**63, -1, "1e400", "NaN", "1" * 5000])
def test_an_odd_number_in_a_request_is_refused(service: DashboardService, number: Any) -> None:
    project = service.project()
    for path in (f"/deliveries?n={number}", f"/workers/{number}/approve"):
        assert project.get(path).status_code in (404, 405, 422)
    assert project.post(f"/workers/{number}/approve").status_code in (404, 422)
