"""Worker pages without a browser: what comes next, and what is never shown."""

from __future__ import annotations

import re
from typing import Any

from crowdpilot.service.store import items, workers
from tests.service.harness.worker_pages import FULL, PLAIN, leased, token, vote


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
    page = client.get(f"{home}/label")
    for n in range(3):
        assert f'<span id="done">{n}</span> of <span id="total">3</span>' in page.text
        assert vote(client, home, csrf, leased(page.text)[0][0]).status_code == 204
        page = client.get(f"{home}/label")
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
        new = {
            "name": "secret-name",
            "content": {"text": "x"},
            "classifier_probs": [0.123, 0.877],
            "gold": "Negative",
        }
        items.add(c, service.id, [new])
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
    csrf, item = token(page), leased(page)[0][0]
    assert [vote(client, home, csrf, item).status_code for _ in range(2)] == [204, 204]
    assert vote(client, home, csrf, item, key="another-key").status_code == 409
    assert len(service.answers()) == 1
    undone = client.post(f"{home}/undo", headers={"X-CSRF-Token": csrf})
    assert leased(undone.text) == [(item, 0)]
    assert service.answers() == []
    assert vote(client, home, csrf, item, label=None, key="third-key").status_code == 204
    assert service.answers()[0].state == "unsure"


def test_a_vote_on_what_was_not_lent_or_with_an_unknown_class_is_refused(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    csrf, mine = token(page), {item for item, _ in leased(page)}
    for other in (*range(1, 9), min(mine) + 1):
        assert vote(client, home, csrf, other).status_code == 403
    assert vote(client, home, csrf, min(mine), label="Unheard of").status_code == 422


def test_a_blocked_worker_reads_so_and_sees_no_item(make: Any) -> None:
    service = make(PLAIN)
    client = service.invited()
    with service.store.writing() as c:
        workers.exclude(c, service.id, 1, workers.BLOCKED)
    assert "You cannot go on here" in client.get(f"{service.home}/label").text


def test_after_a_pause_the_work_goes_on(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    vote(client, home, token(page), leased(page)[0][0])
    page = client.post(f"{home}/pause", data={"csrf": token(page)}).text
    assert "Your answer is saved." in page
    assert "1 of 3 answers until you can finish" in page
    assert "Finish and see my code" not in page
    assert len(leased(client.get(home).text)) == 2


def test_who_signs_out_is_signed_out_everywhere(make: Any) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    other = service.visitor()
    other.cookies.set("worker_session", client.cookies.get("worker_session") or "")
    assert leased(other.get(f"{home}/label").text)
    left = client.post(f"{home}/sign-out", data={"csrf": token(page)})
    assert "Signed out" in left.text
    assert client.cookies.get("worker_session") is None
    for path in ("", "/label", "/batch", "/done"):
        assert other.get(f"{home}{path}").status_code == 401
    assert vote(other, home, token(page), leased(page)[0][0]).status_code == 401
