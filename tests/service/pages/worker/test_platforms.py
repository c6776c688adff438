"""Worker pages for those who come from Prolific or MTurk."""

from __future__ import annotations

import re
import time
from typing import Any

from tests.service.harness.prolific_server import Prolific
from tests.service.harness.worker_pages import PLAIN, leased, token, vote

HIT = {"hitId": "H1", "assignmentId": "A1", "workerId": "W1", "turkSubmitTo": "https://www.mturk.com"}
PROLIFIC = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24}


def work_and_finish(client: Any, home: str) -> str:
    page = client.get(f"{home}/label").text
    csrf = token(page)
    for item, _ in leased(page):
        assert vote(client, home, csrf, item).status_code == 204
    return str(client.get(home).text)


def test_a_preview_on_mturk_shows_instructions_and_no_item(make: Any) -> None:
    service = make({**PLAIN, "mturk": {}}, address="https://label.example")
    page = service.visitor().get(
        f"{service.home}/mturk", params={**HIT, "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    )
    assert "This is a preview." in page.text
    assert "Review" not in page.text
    assert "set-cookie" not in page.headers
    assert "frame-ancestors https://worker.mturk.com" in page.headers["content-security-policy"]


def test_in_the_frame_of_mturk_the_cookie_is_partitioned(make: Any) -> None:
    service = make({**PLAIN, "mturk": {}}, address="https://label.example")
    answer = service.visitor().get(f"{service.home}/mturk", params=HIT, follow_redirects=False)
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert all("SameSite=None; Secure; Partitioned" in c and "HttpOnly" in c for c in cookies)


def test_at_the_end_the_form_goes_back_to_mturk(make: Any) -> None:
    service = make({**PLAIN, "mturk": {}}, address="https://label.example")
    client = service.visitor()
    page = client.get(f"{service.home}/mturk", params=HIT)
    assert page.status_code == 200
    policies = client.get(f"{service.home}/label").headers.get_list("content-security-policy")
    assert all("frame-ancestors https://worker.mturk.com" in policy for policy in policies)
    assert all("form-action 'self' https://www.mturk.com" in policy for policy in policies)
    done = work_and_finish(client, service.home)
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in done
    assert 'name="assignmentId" value="A1"' in done


def test_who_comes_back_with_another_assignment_has_other_work_and_another_code(make: Any) -> None:
    service = make({**PLAIN, "mturk": {}}, address="https://label.example")
    client, codes = service.visitor(), set()
    for assignment in ("A1", "A2"):
        page = client.get(f"{service.home}/mturk", params={**HIT, "assignmentId": assignment})
        assert "How it works" in page.text
        page = client.get(f"{service.home}/label")
        assert '<span id="done">0</span>' in page.text
        assert '<span id="total">3</span>' in page.text
        done = work_and_finish(client, service.home)
        assert f'name="assignmentId" value="{assignment}"' in done
        codes.update(re.findall(r'name="code" value="(\w+)"', done))
    assert len(codes) == 2
    client.get(f"{service.home}/mturk", params=HIT)
    assert 'name="assignmentId" value="A1"' in client.get(service.home).text, "the first is finished"


def test_a_form_is_never_sent_to_a_host_that_is_not_of_mturk(make: Any) -> None:
    service = make({**PLAIN, "mturk": {}}, address="https://label.example")
    page = service.visitor().get(
        f"{service.home}/mturk", params={**HIT, "turkSubmitTo": "https://evil.example"}
    )
    assert page.status_code == 403


def test_workers_of_prolific_get_the_code_of_the_study_and_a_link_back(make: Any) -> None:
    service = make({**PLAIN, "prolific": {"study": "b" * 24, "code": "C0DE"}})
    client = service.visitor()
    client.get(f"{service.home}/prolific", params=PROLIFIC)
    done = work_and_finish(client, service.home)
    assert 'href="https://app.prolific.com/submissions/complete?cc=C0DE"' in done
    other = {**PROLIFIC, "STUDY_ID": "d" * 24}
    assert service.visitor().get(f"{service.home}/prolific", params=other).status_code == 403


def test_a_project_that_is_not_on_a_platform_has_no_door_there(make: Any) -> None:
    service = make(PLAIN)
    assert service.visitor().get(f"{service.home}/prolific", params=PROLIFIC).status_code == 404
    assert service.visitor().get(f"{service.home}/mturk", params=HIT).status_code == 404


def signed(prolific: Prolific, name: str, audience: str = "https://label.example") -> dict[str, str]:
    claims = {"aud": audience, "exp": time.time() + 300, "prolific": PROLIFIC}
    return {**PROLIFIC, "prolific_token": prolific.sign(name, **claims)}


def test_links_that_have_to_be_signed_are_checked_with_the_keys_of_prolific(
    make: Any, prolific: Prolific
) -> None:
    prolific.rotate_keys("one")
    service = make({**PLAIN, "prolific": {"signed": True}}, address="https://label.example")

    def come(query: dict[str, str]) -> tuple[int, int]:
        page = service.visitor().get(f"{service.home}/prolific", params=query).status_code
        body = {"project": service.id, "prolific": query}
        return page, service.visitor().post("/api/sessions", json=body).status_code

    assert come(signed(prolific, "one")) == (200, 201)
    assert come(PROLIFIC) == come(signed(prolific, "one", "https://other.example")) == (403, 403)
    forged = signed(prolific, "one")
    prolific.rotate_keys("one")
    assert come(signed(prolific, "one")) == (403, 403)  # signed with another key of the same name
    assert come(forged) == (200, 201)
    assert prolific.count("GET", "jwks") == 1


def test_signed_links_wait_for_the_keys_of_prolific(make: Any, prolific: Prolific) -> None:
    prolific.rotate_keys("one")
    service = make({**PLAIN, "prolific": {"signed": True}}, address="https://label.example")
    prolific.is_down = True
    answer = service.visitor().get(f"{service.home}/prolific", params=signed(prolific, "one"))
    assert answer.status_code == 503
    assert "Try again" in answer.text


def test_nobody_makes_the_service_fetch_keys_that_it_does_not_use(make: Any, prolific: Prolific) -> None:
    prolific.rotate_keys("one")
    service = make({**PLAIN, "prolific": {}}, address="https://label.example")
    token = signed(prolific, "one")
    assert service.visitor().get(f"{service.home}/prolific", params=token).status_code == 200
    assert prolific.calls == []
