"""Worker pages without a browser: who may come in, what comes next, and what is never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.api.models import ProjectIn
from crowdpilot.service.app import create_app
from crowdpilot.service.pages.worker import worker_pages
from crowdpilot.service.platforms.links import invite
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, migrate, projects, workers
from crowdpilot.service.store.tables import votes as votes_table

SECRET = "x" * 40
HOSTILE = "<script>alert(1)</script><svg onload=alert(2)>{{ 7 * 7 }}\nsecond line"
TEXTS = [{"text": f"Review {n}. {HOSTILE}"} for n in range(8)]
PLAIN = {"name": "Film reviews", "classes": ["Positive", "Negative"], "question": "Does the writer like it?",
         "batch": 3, "plan": {"pilot_votes": 3, "per_item": 5}}  # fmt: skip
FULL = {
    **PLAIN,
    "consent": "You take part in a study.\n\nYou can stop at any time.",
    "instructions": "Read the whole text.",
    "examples": [{"text": "A gem.", "label": "Positive", "why": "It is praised."}],
    "quiz": [{"text": "Great fun.", "label": "Positive"}, {"text": "So dull.", "label": "Negative"}],
}
HTML = {"accept": "text/html"}


class Service:
    """A service with one project."""

    def __init__(
        self,
        folder: Path,
        spec: dict[str, Any],
        address: str = "http://testserver",
        contents: Sequence[dict[str, str]] = TEXTS,
    ) -> None:
        settings = Settings(database=f"sqlite:///{folder / 'test.db'}", secret=SECRET, address=address)
        store = Store(settings.database)
        migrate(store)
        new = [{"name": f"item {n}", "content": content} for n, content in enumerate(contents)]
        with store.writing() as c:
            self.project = projects.create(c, ProjectIn(**spec).model_dump())
            items.add(c, self.project, new)
        store.close()
        self.app = create_app(settings)
        if not any(getattr(route, "path", "") == "/w/{project}" for route in self.app.routes):
            self.app.include_router(worker_pages())
        self.store: Store = self.app.state.store
        self.home = f"/w/{self.project}"

    def client(self) -> TestClient:
        return TestClient(self.app, base_url=self.app.state.settings.address, headers=HTML)

    def invited(self, **who: Any) -> TestClient:
        """Somebody who has opened the link of an invitation."""
        client = self.client()
        client.get(self.home, params={"invite": invite(SECRET, self.project, **who)})
        return client

    def change(self, **values: Any) -> None:
        with self.store.writing() as c:
            projects.put(c, self.project, **values)

    def worker(self, number: int = 1) -> Any:
        with self.store.reading() as c:
            return workers.find(c, self.project, number)

    def answers(self) -> list[Any]:
        with self.store.reading() as c:
            return [row for row in c.execute(votes_table.select()) if row.state in ("voted", "unsure")]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[Service] = []

    def start(spec: dict[str, Any], **more: Any) -> Service:
        made.append(Service(tmp_path, spec, **more))
        return made[-1]

    yield start
    for service in made:
        service.app.state.desk.close()
        service.store.close()


def token(text: str) -> str:
    found = re.search(r'<meta name="csrf" content="([^"]+)">', text)
    assert found
    return found[1]


def lent(text: str) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in re.findall(r'data-item="(\d+)" data-criterion="(\d+)"', text)]


def vote(client: TestClient, home: str, csrf: str, item: int, **more: Any) -> Any:
    given = {"item": item, "criterion": 0, "label": "Positive", "seconds": 1.5, "key": f"key-of-{item:08}"}
    return client.post(
        f"{home}/vote", json={**given, **more}, headers={"X-CSRF-Token": csrf, "accept": "*/*"}
    )


def test_a_worker_goes_from_link_to_code(make: Any) -> None:
    service = make(FULL)
    client, home = service.invited(), service.home
    page = client.get(home)
    assert "You take part in a study." in page.text
    version = re.search(r'name="version" value="(\w+)"', page.text)
    assert version
    csrf = token(page.text)
    page = client.post(f"{home}/consent", data={"csrf": csrf, "version": version[1], "agree": "yes"})
    assert page.url.path == f"{home}/instructions"
    assert "It is praised." in page.text
    assert service.worker().consent == version[1]
    page = client.get(f"{home}/quiz")
    assert "Great fun." in page.text
    page = client.post(f"{home}/quiz", data={"csrf": csrf, "answer-0": "Positive", "answer-1": "Negative"})
    assert page.url.path == f"{home}/label"
    given = 0
    for _ in range(10):
        batch = lent(client.get(f"{home}/batch").text)
        for item, _ in batch:
            assert vote(client, home, csrf, item).status_code == 204
            given += 1
        if not batch:
            break
    assert given == len(service.answers()) > 0
    assert "Nothing to do right now" in client.get(home).text
    page = client.post(f"{home}/finish", data={"csrf": csrf})
    assert page.url.path == f"{home}/done"
    code = re.search(r'id="code"[^>]*>(\w+)<', page.text)
    assert code
    assert code[1] in client.get(home).text


def test_items_are_shown_as_text_whatever_they_contain(make: Any) -> None:
    service = make(PLAIN)
    client = service.invited()
    for text in (client.get(f"{service.home}/label").text, client.get(f"{service.home}/batch").text):
        assert (
            "&lt;script&gt;alert(1)&lt;/script&gt;&lt;svg onload=alert(2)&gt;{{ 7 * 7 }}\nsecond line" in text
        )
        assert "<script>alert" not in text
        assert "<svg onload" not in text


def test_nothing_about_gold_machine_or_counts_reaches_the_browser(make: Any) -> None:
    service = make({**PLAIN, "machine": "given", "plan": {"gold": 0.5, "seed": 77}})
    with service.store.writing() as c:
        new = {"name": "secret-name", "content": {"text": "x"}, "machine": [0.123, 0.877], "gold": "Negative"}
        items.add(c, service.project, [new])
    client = service.invited()
    texts = [client.get(f"{service.home}/{part}").text for part in ("label", "batch", "instructions")]
    for word in ("gold", "machine", "0.123", "0.877", "secret-name", "votes"):
        assert not any(word in text.lower() for text in texts)


def test_the_quiz_does_not_show_its_answers_and_ends_after_its_tries(make: Any) -> None:
    service = make({**FULL, "consent": ""})
    client, home = service.invited(), service.home
    page = client.get(f"{home}/quiz")
    assert "checked" not in page.text
    wrong = {"csrf": token(page.text), "answer-0": "Positive", "answer-1": "Positive"}
    page = client.post(f"{home}/quiz", data=wrong)
    assert "1 of 2 was right." in page.text
    assert "It is praised." in page.text
    assert "1 try left" in page.text
    page = client.post(f"{home}/quiz", data=wrong)
    assert "The quiz was not passed" in page.text
    right = {**wrong, "answer-1": "Negative"}
    assert "The quiz was not passed" in client.post(f"{home}/quiz", data=right).text
    assert "The quiz was not passed" in client.get(f"{home}/label").text
    assert client.get(f"{home}/batch", headers={"accept": "*/*"}).status_code == 409


def test_who_does_not_agree_sees_no_item(make: Any) -> None:
    service = make(FULL)
    client, home = service.invited(), service.home
    page = client.get(home)
    version = re.search(r'name="version" value="(\w+)"', page.text)
    assert version
    data = {"csrf": token(page.text), "version": version[1], "agree": "no"}
    assert "You did not agree" in client.post(f"{home}/consent", data=data).text
    assert service.worker().consent is None
    assert client.get(f"{home}/label").url.path == f"{home}/consent"


@pytest.mark.parametrize("path", ["vote", "undo", "pause", "finish", "consent", "quiz"])
def test_nothing_is_posted_without_the_token_of_our_own_page(make: Any, path: str) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    good = token(client.get(f"{home}/label").text)
    for csrf in ("", "wrong", good[:-1] + ("A" if good[-1] != "A" else "B")):
        data = {"csrf": csrf, "version": "x", "agree": "yes"}
        assert client.post(f"{home}/{path}", data=data).status_code in (403, 422)
    assert vote(client, home, "wrong", 1).status_code == 403
    assert service.answers() == []


def test_a_vote_is_taken_as_json_only(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    csrf = token(client.get(f"{home}/label").text)
    body = '{"item": 1, "criterion": 0, "label": "Positive", "seconds": 1, "key": "key-12345678"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        headers = {"X-CSRF-Token": csrf, "content-type": kind, "accept": "*/*"}
        assert client.post(f"{home}/vote", content=body, headers=headers).status_code in (415, 422)
    assert service.answers() == []


def test_a_vote_sent_twice_counts_once_and_can_be_undone(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    csrf, item = token(page), lent(page)[0][0]
    assert [vote(client, home, csrf, item).status_code for _ in range(2)] == [204, 204]
    assert vote(client, home, csrf, item, key="another-key").status_code == 409
    assert len(service.answers()) == 1
    undone = client.post(f"{home}/undo", headers={"X-CSRF-Token": csrf})
    assert lent(undone.text) == [(item, 0)]
    assert service.answers() == []
    assert vote(client, home, csrf, item, label=None, key="third-key").status_code == 204
    assert service.answers()[0].state == "unsure"


def test_a_vote_on_what_was_not_lent_or_with_an_unknown_class_is_refused(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    csrf, mine = token(page), {item for item, _ in lent(page)}
    other = next(n for n in range(1, 9) if n not in mine)
    assert vote(client, home, csrf, other).status_code == 403
    assert vote(client, home, csrf, min(mine), label="Unheard of").status_code == 422


def test_a_guest_who_opens_the_link_again_is_the_same_worker(make: Any) -> None:
    service = make(PLAIN)
    client = service.invited()
    link = invite(SECRET, service.project)
    for _ in range(3):
        client.get(service.home, params={"invite": link})
    service.invited()
    with service.store.reading() as c:
        assert len(workers.listed(c, service.project)) == 2


def test_who_has_no_seat_is_told_to_open_their_link(make: Any) -> None:
    service = make(PLAIN)
    page = service.client().get(service.home)
    assert page.status_code == 401
    assert "pen the link to the project again" in page.text
    page = service.client().get(service.home, params={"invite": "forged.token"})
    assert page.status_code == 403
    assert "ask for a new link" in page.text
    assert service.client().get("/w/ffffffffffff", params={"invite": "x"}).status_code == 404


def test_a_seat_opens_its_own_project_only(make: Any) -> None:
    service = make(PLAIN)
    with service.store.writing() as c:
        other = projects.create(c, ProjectIn(**PLAIN).model_dump())
    seat = service.invited().cookies.get("seat")
    stranger = service.client()
    stranger.cookies.set("seat", seat or "")
    assert stranger.get(f"/w/{other}/label").status_code == 401


@pytest.mark.parametrize(
    ("values", "words"), [({"state": "paused"}, "Paused for now"), ({"state": "closed"}, "is closed")]
)
def test_a_project_that_lends_nothing_says_so(make: Any, values: dict[str, str], words: str) -> None:
    service = make(PLAIN)
    client = service.invited()
    service.change(**values)
    assert words in client.get(service.home).text
    assert words in client.get(f"{service.home}/label").text


def test_a_blocked_worker_is_told_so_and_sees_no_item(make: Any) -> None:
    service = make(PLAIN)
    client = service.invited()
    with service.store.writing() as c:
        workers.bar(c, service.project, 1, workers.BLOCKED)
    assert "You cannot go on here" in client.get(f"{service.home}/label").text


def test_after_a_pause_the_work_goes_on(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    vote(client, home, token(page), lent(page)[0][0])
    page = client.post(f"{home}/pause", data={"csrf": token(page)}).text
    assert "Your answer is saved." in page
    assert len(lent(client.get(home).text)) == 3


def test_pages_forbid_whatever_is_not_theirs(make: Any) -> None:
    service = make(PLAIN)
    page = service.invited().get(f"{service.home}/label")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert " style=" not in page.text
    assert not re.search(r"<script(?![^>]*\bsrc=)", page.text)


def test_the_cookie_is_hidden_from_scripts_and_kept_to_the_project(make: Any) -> None:
    service = make(PLAIN, address="https://label.example")
    link = invite(SECRET, service.project)
    answer = service.client().get(service.home, params={"invite": link}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax; Secure" in cookie
    assert f"Path=/w/{service.project};" in cookie
