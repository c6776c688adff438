"""Pages of workers: sorted and filtered, one worker with answers and notes, blocking with a preview."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.workers.messages import message_of
from crowdpilot.service.pages.dashboard.workers.worker_list import Query, sort_workers
from crowdpilot.service.store import workers
from crowdpilot.service.store.engine import Row
from tests.service.harness.dashboard import HOSTILE, DashboardService, post
from tests.service.harness.service import CRITERIA, create_project

ROW: dict[str, Any] = {"kind": "crowd", "platform": "link", "state": "active", "counted": True, "flags": []}
ROWS = [
    {**ROW, "worker": 1, "external": "5f0aAA", "votes": 3, "skill": 0.9, "seconds": 2.0, "pay": 1, "seen": 5},
    {**ROW, "worker": 2, "external": "5f0aBB", "votes": 9, "skill": None, "seconds": None, "pay": 3,
     "seen": None, "kind": "expert", "counted": False},
    {**ROW, "worker": 3, "external": None, "votes": 5, "skill": 0.4, "seconds": 1.0, "pay": 2, "seen": 9,
     "state": "blocked", "flags": ["too fast"], "platform": "prolific"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query(), [2, 3, 1]), (Query(order="skill"), [1, 3, 2]), (Query(order="low"), [3, 1, 2]),
        (Query(order="fast"), [3, 1, 2]), (Query(order="pay"), [2, 3, 1]), (Query(order="seen"), [3, 1, 2]),
        (Query(order="flags"), [3, 1, 2]), (Query(q="5F0aBB"), [2]), (Query(q="3"), [3]),
        (Query(kind="expert"), [2]), (Query(platform="prolific"), [3]), (Query(state="blocked"), [3]),
        (Query(state="flagged"), [3]), (Query(state="waiting"), [2]), (Query(q="nobody"), []),
    ],
)  # fmt: skip
def test_workers_are_searched_filtered_and_sorted(query: Query, expected: list[int]) -> None:
    assert [row["worker"] for row in sort_workers(ROWS, query)] == expected


@pytest.fixture
def id(service: DashboardService) -> str:
    """A project where three have voted."""
    made = service.create(8)
    service.work(made)
    return made


def first_worker(service: DashboardService, id: str) -> Row:
    with service.store.reading() as c:
        return workers.list_all(c, id)[0]


def test_a_worker_has_a_page_with_answers_matrix_times_and_pay(service: DashboardService, id: str) -> None:
    worker = first_worker(service, id)
    page = service.signed_in("read").get(f"/projects/{id}/workers/{worker.id}").text
    for words in ("What they answer", "says Positive", "Time of each answer", "1 visit", ">ann<", "Agrees"):
        assert words in page
    assert HOSTILE not in page
    assert "Save notes" not in page  # who only reads changes nothing
    assert service.signed_in("read").get(f"/projects/{id}/workers/999").status_code == 404
    listed = service.signed_in("read").get(f"/projects/{id}/workers?order=skill&state=active&q=ann").text
    assert "1 worker<" in listed


def test_notes_are_written_on_the_page(service: DashboardService, id: str) -> None:
    worker, client = first_worker(service, id), service.signed_in("label-ops")
    home = f"/projects/{id}/workers/{worker.id}"
    page = post(client, f"{home}/notes", home, notes=f"Asked a good question {HOSTILE}").text
    assert "Asked a good question &lt;script&gt;" in page
    assert first_worker(service, id).notes.startswith("Asked")


def test_a_block_shows_what_would_change_and_leaves_votes_out(service: DashboardService, id: str) -> None:
    worker, client = first_worker(service, id), service.signed_in("label-ops")
    home = f"/projects/{id}/workers/{worker.id}"
    page = client.get(f"{home}/block").text
    assert re.search(r"They gave \d+ answers\. Without them", page)
    assert client.post(f"{home}/block", data={"votes": "leave out"}).status_code == 403  # no token
    assert post(client, f"{home}/block", f"{home}/block", votes="sell").status_code == 422
    blocked = post(client, f"{home}/block", f"{home}/block", votes="leave out").text
    assert "Their answers are left out of all decisions" in blocked
    row = first_worker(service, id)
    assert (row.state, row.trusted) == ("blocked", False)
    assert "no answer of theirs counts" in client.get(f"{home}/block").text
    post(client, f"{home}/unblock", home)
    row = first_worker(service, id)
    assert (row.state, row.trusted) == ("active", True)


def test_with_criteria_answers_are_beside_their_own_question(service: DashboardService) -> None:
    new = [{"name": f"p{n}", "content": {"text": f"Paper {n}"}} for n in range(3)]
    id = create_project(service.store, CRITERIA, new)
    headers = {"X-API-Key": service.keys["write"]}
    votes = [
        {"item": "p0", "worker": "ann", "label": "yes", "criterion": name} for name in ("human", "trial")
    ]
    service.http.post(f"/api/projects/{id}/external-votes", json={"votes": votes}, headers=headers)
    page = service.signed_in("read").get(f"/projects/{id}/workers/{first_worker(service, id).id}").text
    assert page.count('<td dir="auto">human</td>') == page.count('<td dir="auto">trial</td>') == 1


class FakeWorker(dict[str, Any]):
    __getattr__ = dict.__getitem__


@pytest.mark.parametrize(
    ("platform", "study", "link"),
    [
        ("prolific", "60abc", "https://app.prolific.com/researcher/workspaces/studies/60abc/submissions"),
        ("prolific", "", ""), ("prolific", "../x\" onclick=", ""), ("link", "60abc", ""),
        ("mturk", "", "https://requester.mturk.com/workers"),
    ],
)  # fmt: skip
def test_messages_are_written_on_the_platform(platform: str, study: str, link: str) -> None:
    worker: Any = FakeWorker(platform=platform, external="x")
    assert message_of(worker, {"prolific": {"study": study}}).link == link
