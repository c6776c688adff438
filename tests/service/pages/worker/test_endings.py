"""The three endings of a worker, on every platform: the share is done, the study is complete, nothing now."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from crowdpilot.service.labelling import labelling_service
from crowdpilot.service.store import clock, projects, workers
from crowdpilot.service.store.tables import assignments, votes
from tests.service.harness.service import invite
from tests.service.harness.worker_pages import FULL, PLAIN, WorkerService, leased, token, vote

PLATFORMS = ("link", "prolific", "mturk")
STUDY = {"study": "b" * 24, "code": "D0NE", "code_failed": "FA1LED", "code_complete": "C0MPLETE"}
ADDRESS = "https://label.example"
COMPLETE = "The study is complete"
DONE = "Thank you, you are done"
NOTHING = "Nothing to do right now"
ENDED = pytest.mark.parametrize(
    "values", [{"state": projects.CLOSED}, {"done": True}], ids=["closed", "done"]
)


@pytest.fixture
def make(database_url: str) -> Iterator[Any]:
    """`make(spec)`: a service with a project of this description, on every platform and database."""
    with ExitStack() as stack:

        def start(spec: dict[str, Any], **more: Any) -> WorkerService:
            everywhere = {"prolific": STUDY, "mturk": {}, **spec}
            service = WorkerService(database_url, everywhere, address=ADDRESS, **more)
            stack.callback(service.close)
            return service

        yield start


def arrive(service: WorkerService, platform: str, n: int = 0) -> tuple[TestClient, Any]:
    """The n-th worker of a platform opens their link; their browser, and the page that they see."""
    client = service.visitor()
    queries = {
        "link": {"invite": invite(service.store, service.id, worker=f"worker {n}")},
        "prolific": {"PROLIFIC_PID": f"{n:024x}", "STUDY_ID": "b" * 24, "SESSION_ID": f"{n:024x}"},
        "mturk": {"hitId": "H1", "assignmentId": f"A{n}", "workerId": f"W{n}",
                  "turkSubmitTo": "https://www.mturk.com"},
    }  # fmt: skip
    path = "" if platform == "link" else f"/{platform}"
    return client, client.get(f"{service.home}{path}", params=queries[platform])


def label(client: TestClient, service: WorkerService, n: int) -> Any:
    """Answer n items, and look at the page after that."""
    page = client.get(f"{service.home}/label")
    for _ in range(n):
        item = leased(page.text)[0][0]
        assert vote(client, service.home, token(page.text), item).status_code == 204
        page = client.get(f"{service.home}/label")
    return page


def outcomes(service: WorkerService) -> list[Any]:
    with service.store.reading() as c:
        rows = c.execute(select(assignments).order_by(assignments.c.id))
        return [(row.outcome, row.finished is not None) for row in rows]


def count_workers(service: WorkerService) -> int:
    with service.store.reading() as c:
        return len(workers.list_all(c, service.id))


def assert_code(page: Any, platform: str) -> None:
    """The page has the code of the worker as its main thing, and the way back to their platform."""
    shown = re.search(r'id="code"[^>]*>(\w+)<', page.text)
    assert shown
    if platform == "prolific":
        assert shown[1] == "D0NE"
        assert 'href="https://app.prolific.com/submissions/complete?cc=D0NE"' in page.text
    elif platform == "mturk":
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page.text
        assert f'name="code" value="{shown[1]}"' in page.text


def test_whose_share_is_done_sees_the_code_at_once(make: Any) -> None:
    service = make({**PLAIN, "min_answers": 2})
    for n, platform in enumerate(PLATFORMS):
        client, _ = arrive(service, platform, n)
        page = label(client, service, 2)
        assert page.url.path == f"{service.home}/done"
        assert DONE in page.text
        assert_code(page, platform)
        assert ("/carry-on" in page.text) == (platform == "link"), "elsewhere the share is the submission"
        assert_code(client.get(service.home), platform)
    assert outcomes(service) == [("done", True)] * 3
    with service.store.reading() as c:
        assert not [row for row in c.execute(select(votes)) if row.state == "leased"], "nothing is held"


def test_who_reaches_the_limit_of_a_worker_is_done(make: Any) -> None:
    service = make({**PLAIN, "min_answers": 6, "plan": {"pilot_votes": 3, "per_worker": 1}})
    for n, platform in enumerate(PLATFORMS):
        client, _ = arrive(service, platform, n)
        assert '<span id="total">1</span>' in client.get(f"{service.home}/label").text
        page = label(client, service, 1)
        assert DONE in page.text
        assert_code(page, platform)
        assert "/carry-on" not in page.text


def test_who_has_answered_all_items_is_done(make: Any) -> None:
    service = make({**PLAIN, "min_answers": 50}, contents=[{"text": f"Text {n}."} for n in range(3)])
    for n, platform in enumerate(PLATFORMS):
        client, _ = arrive(service, platform, n)
        page = client.get(f"{service.home}/label")
        csrf = token(page.text)
        vote(client, service.home, csrf, leased(page.text)[0][0], label=None)  # which has no label
        page = label(client, service, 2)
        assert page.url.path == f"{service.home}/done"
        assert_code(page, platform)
    assert outcomes(service) == [("done", True)] * 3


@ENDED
def test_a_study_that_is_complete_gives_the_code_for_one_answer(make: Any, values: dict[str, Any]) -> None:
    service = make(PLAIN)
    clients = [arrive(service, platform, n)[0] for n, platform in enumerate(PLATFORMS)]
    for client in clients:
        label(client, service, 1)
    service.change(**values)
    for client, platform in zip(clients, PLATFORMS, strict=True):
        page = client.get(f"{service.home}/label")
        assert "Thank you, the study is complete" in page.text
        assert_code(page, platform)
    assert outcomes(service) == [("complete", True)] * 3


WAYS = {
    "link": "You can close this page.",
    "prolific": 'href="https://app.prolific.com/submissions/complete?cc=C0MPLETE"',
    "mturk": "Please return the HIT on MTurk.",
}


@ENDED
def test_who_has_no_answer_when_a_study_is_complete_is_told_what_to_do(
    make: Any, values: dict[str, Any]
) -> None:
    service = make(FULL)
    clients = [arrive(service, platform, n)[0] for n, platform in enumerate(PLATFORMS)]
    service.change(**values)
    for n, (client, platform) in enumerate(zip(clients, PLATFORMS, strict=True)):
        newcomer = arrive(service, platform, 10 + n)[1]
        for page in (client.get(service.home), newcomer):
            assert page.status_code == 200
            assert COMPLETE in page.text
            assert WAYS[platform] in page.text
            assert "You take part in a study." not in page.text
    assert outcomes(service) == [("complete", False)] * 3
    assert count_workers(service) == 3, "newcomers are not written down"


def test_without_a_code_for_it_a_submission_is_to_be_returned_on_prolific(make: Any) -> None:
    service = make({**FULL, "prolific": {"study": "b" * 24}})
    service.change(state=projects.CLOSED)
    assert "Please return your submission on Prolific." in arrive(service, "prolific")[1].text


def test_a_newcomer_to_a_project_whose_budget_is_spent_is_told(make: Any) -> None:
    service = make({**FULL, "consent": "", "quiz": [], "costs": {"prices": {"crowd": 1.0}, "budget": 3.0}})
    client, _ = arrive(service, "link")
    assert DONE in label(client, service, 3).text
    assert "/carry-on" not in client.get(service.home).text
    assert COMPLETE in arrive(service, "prolific", 1)[1].text
    assert count_workers(service) == 1


def test_who_fails_the_quiz_is_told_what_to_do(make: Any) -> None:
    service = make({**FULL, "consent": "", "quiz_tries": 1})
    ways = {**WAYS, "prolific": 'href="https://app.prolific.com/submissions/complete?cc=FA1LED"'}
    for n, platform in enumerate(PLATFORMS):
        client, page = arrive(service, platform, n)
        wrong = {"csrf": token(page.text), "answer-0": "Negative", "answer-1": "Positive"}
        page = client.post(f"{service.home}/quiz", data=wrong)
        assert "The quiz was not passed" in page.text
        assert ways[platform] in page.text
    assert outcomes(service) == [("failed", False)] * 3


ONE_VOTE_EACH = {**PLAIN, "min_answers": 5, "plan": {"pilot_votes": 1, "per_item": 1}}


def test_while_others_hold_all_items_a_worker_reads_when_to_come_back(make: Any) -> None:
    service = make(ONE_VOTE_EACH, contents=[{"text": f"Text {n}."} for n in range(4)])
    first, _ = arrive(service, "link", 1)
    others = [arrive(service, platform, 2)[0] for platform in PLATFORMS]
    page = label(first, service, 1)
    assert leased(page.text)
    for client in others:
        held = client.get(f"{service.home}/label")
        assert not leased(held.text)
        assert NOTHING in held.text
        assert "free within a minute" in held.text
        assert client.get(f"{service.home}/look").json() == {"wait": True}
    first.post(f"{service.home}/pause", data={"csrf": token(page.text)})
    assert others[0].get(f"{service.home}/look").json() == {"wait": False}
    assert leased(others[0].get(f"{service.home}/label").text)


def test_who_wants_to_stop_while_an_item_comes_free_goes_on_with_it(make: Any) -> None:
    service = make(ONE_VOTE_EACH, contents=[{"text": f"Text {n}."} for n in range(4)])
    first, _ = arrive(service, "link", 1)
    second, _ = arrive(service, "link", 2)
    page = first.get(f"{service.home}/label")
    assert leased(label(second, service, 1).text) == []
    waiting = second.get(f"{service.home}/label")
    assert "Finish and see my code" in waiting.text
    first.post(f"{service.home}/pause", data={"csrf": token(page.text)})
    after = second.post(f"{service.home}/finish", data={"csrf": token(waiting.text)})
    assert (after.status_code, after.url.path) == (200, f"{service.home}/label")
    assert leased(after.text)


def test_a_newcomer_waits_before_the_consent_while_others_hold_all_items(make: Any) -> None:
    service = make({**ONE_VOTE_EACH, "consent": "You take part."}, contents=[{"text": "One."}])
    first, page = arrive(service, "link", 1)
    version = re.search(r'name="version" value="(\w+)"', page.text)
    assert version
    agreed = {"csrf": token(page.text), "version": version[1], "agree": "yes"}
    first.post(f"{service.home}/consent", data=agreed)
    assert leased(first.get(f"{service.home}/label").text)
    _, page = arrive(service, "prolific", 2)
    assert NOTHING in page.text
    assert "You take part." not in page.text
    assert count_workers(service) == 1


def test_a_paused_project_says_so_and_gives_the_code_to_who_wants_to_stop(make: Any) -> None:
    service = make(PLAIN)
    clients = [arrive(service, platform, n)[0] for n, platform in enumerate(PLATFORMS)]
    pages = [label(client, service, 1) for client in clients]
    service.change(state=projects.PAUSED)
    for n, (client, page) in enumerate(zip(clients, pages, strict=True)):
        assert "Paused for now" in client.get(f"{service.home}/label").text
        assert client.get(f"{service.home}/look").json() == {"wait": True}
        done = client.post(f"{service.home}/finish", data={"csrf": token(page.text)})
        assert_code(done, PLATFORMS[n])
        assert "Paused for now" in arrive(service, PLATFORMS[n], 10 + n)[1].text
    assert count_workers(service) == 3


def test_when_nobody_is_needed_any_more_a_newcomer_is_told_as_soon_as_a_refit_says_so(make: Any) -> None:
    service = make(ONE_VOTE_EACH, contents=[{"text": "One."}, {"text": "Two."}])
    client, _ = arrive(service, "link", 1)
    assert DONE in label(client, service, 2).text
    service.do_jobs()
    with service.store.reading() as c:
        assert projects.find(c, service.id).done
    assert COMPLETE in arrive(service, "link", 2)[1].text


def test_who_carries_on_keeps_the_code_and_ends_when_nothing_is_left(make: Any) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    page = label(client, service, 3)
    code = re.search(r'id="code"[^>]*>(\w+)<', page.text)
    assert code
    page = client.post(f"{service.home}/carry-on", data={"csrf": token(page.text)})
    assert page.url.path == f"{service.home}/label"
    assert '<span id="done">3</span> done' in page.text
    paused = client.post(f"{service.home}/pause", data={"csrf": token(page.text)})
    assert "Finish and see my code" in paused.text
    page = label(client, service, 5)
    assert page.url.path == f"{service.home}/done"
    assert code[1] in page.text
    assert "/carry-on" not in page.text, "all eight items are answered"


def test_the_code_is_shown_while_the_project_is_being_loaded(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    assert "/carry-on" in label(client, service, 3).text
    monkeypatch.setattr(labelling_service, "MAX_WAIT_SECONDS", 0.2)
    begun, over = threading.Event(), threading.Event()
    use = service.app.state.labelling.read(service.id, lambda *_: (begun.set(), over.wait(20)))
    thread = threading.Thread(target=asyncio.run, args=(use,))
    thread.start()
    assert begun.wait(20)
    page = client.get(f"{service.home}/done")
    over.set()
    thread.join()
    assert page.status_code == 200
    assert_code(page, "link")
    assert "/carry-on" not in page.text, "it is not known whether there is more to do"


def test_work_that_was_handed_in_is_not_taken_up_again(make: Any) -> None:
    service = make({**PLAIN, "min_answers": 1})
    for platform in ("prolific", "mturk"):
        client, _ = arrive(service, platform)
        page = label(client, service, 1)
        assert client.post(f"{service.home}/carry-on", data={"csrf": token(page.text)}).status_code == 409
        assert not leased(client.get(f"{service.home}/batch").text)


def test_a_guest_whom_a_used_up_invitation_does_not_admit_is_told_that_the_study_is_full(make: Any) -> None:
    service = make(PLAIN)
    link = invite(service.store, service.id, max_uses=1)
    pages = [service.visitor().get(service.home, params={"invite": link}) for _ in range(2)]
    assert "How it works" in pages[0].text
    assert "The study is full" in pages[1].text
    assert count_workers(service) == 1


def test_a_guest_who_comes_when_too_many_have_come_is_told_so(make: Any) -> None:
    service = make({**PLAIN, "guests": {"per_hour": 1}})
    pages = [
        service.visitor().get(service.home, params={"invite": invite(service.store, service.id)})
        for _ in range(2)
    ]
    assert "How it works" in pages[0].text
    assert "Many people have just come" in pages[1].text
    assert "Your work is saved" not in pages[1].text


def test_a_first_time_worker_gets_few_items_and_more_as_they_answer(make: Any) -> None:
    contents = [{"text": f"Text {n}."} for n in range(40)]
    service = make({**PLAIN, "batch": 12, "min_answers": 30}, contents=contents)
    client, _ = arrive(service, "link")
    sizes = []
    for _ in range(9):
        page = client.get(f"{service.home}/label")
        sizes.append(len(leased(page.text)))
        vote(client, service.home, token(page.text), leased(page.text)[0][0])
    assert sizes == [3, 3, 4, 6, 8, 10, 12, 12, 12]


def test_leases_of_a_page_end_soon_without_a_sign_of_life(make: Any) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    page = client.get(f"{service.home}/label")
    csrf = {"X-CSRF-Token": token(page.text)}

    def lasts() -> float:
        with service.store.reading() as c:
            return float(max(row.expires for row in c.execute(select(votes))) - clock.now(c))

    assert 40 < lasts() <= 45
    assert client.post(f"{service.home}/presence", headers=csrf).json() == {"held": 3}
    left = client.post(f"{service.home}/presence", data={"csrf": token(page.text), "left": "1"})
    assert left.status_code == 204
    assert lasts() <= 5
    assert client.post(f"{service.home}/presence", headers=csrf).json() == {"held": 3}
    assert lasts() > 40, "the page was only loaded again"
    assert client.post(f"{service.home}/presence", headers={"X-CSRF-Token": "x"}).status_code == 403


def test_a_page_that_is_closed_leaves_the_items_to_another_page_of_the_worker(make: Any) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    csrf = token(client.get(f"{service.home}/label").text)

    def sign(page: str, **more: str) -> int:
        fields = {"csrf": csrf, "page": page, **more}
        return int(client.post(f"{service.home}/presence", data=fields).status_code)

    def lasts() -> float:
        with service.store.reading() as c:
            return float(max(row.expires for row in c.execute(select(votes))) - clock.now(c))

    assert [sign("aa"), sign("bb"), sign("aa", left="1")] == [200, 200, 204]
    assert lasts() > 40, "the other page shows them"
    assert sign("bb", left="1") == 204
    assert lasts() <= 5
    assert sign("\x00") == 422


def test_who_has_signed_out_cannot_hold_items_any_more(make: Any) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    page = client.get(f"{service.home}/label")
    cookies = dict(client.cookies)
    client.post(f"{service.home}/sign-out", data={"csrf": token(page.text)})
    for name, value in cookies.items():
        client.cookies.set(name, value)
    for more in ({}, {"left": "1"}):
        fields = {"csrf": token(page.text), "page": "aa", **more}
        assert client.post(f"{service.home}/presence", data=fields).status_code == 401


def test_an_answer_to_what_was_given_back_is_still_taken(make: Any) -> None:
    service = make(PLAIN)
    client, _ = arrive(service, "link")
    page = client.get(f"{service.home}/label")
    item = leased(page.text)[0][0]
    with service.store.writing() as c:
        c.execute(votes.update().values(state="returned"))
    assert client.post(
        f"{service.home}/presence", headers={"X-CSRF-Token": token(page.text)}
    ).json() == {"held": 0}  # fmt: skip
    assert vote(client, service.home, token(page.text), item).status_code == 204
    assert len(service.answers()) == 1
