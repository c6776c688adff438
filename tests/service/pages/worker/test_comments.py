"""Comments and flags of workers: on what they hold or have answered, if the project takes them."""

from __future__ import annotations

from typing import Any

import pytest

from crowdpilot.service.store.answers import comments
from tests.service.harness.worker_pages import PLAIN, leased, token, vote

OPEN = {**PLAIN, "comments": True, "flags": True}


def say(client: Any, home: str, csrf: str, item: int, **said: Any) -> Any:
    headers = {"X-CSRF-Token": csrf, "accept": "*/*"}
    return client.post(f"{home}/comment", json={"item": item, **said}, headers=headers)


def written(service: Any) -> list[tuple[str, bool]]:
    with service.store.reading() as c:
        return [(row.text, row.flagged) for row in comments.list_all(c, service.id)]


def test_a_worker_comments_before_and_after_the_answer(make: Any) -> None:
    service = make(OPEN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    csrf, item = token(page), leased(page)[0][0]
    assert say(client, home, csrf, item, flagged=True).status_code == 204
    assert vote(client, home, csrf, item).status_code == 204
    assert say(client, home, csrf, item, text=" Cut off. ", flagged=True).status_code == 204
    assert written(service) == [("Cut off.", True)]
    assert say(client, home, csrf, item, text=" ").status_code == 204
    assert written(service) == []


def test_what_a_worker_does_not_hold_is_not_commented(make: Any) -> None:
    service = make(OPEN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    csrf, item = token(page), leased(page)[0][0]
    other = service.invited()
    foreign = token(other.get(f"{home}/label").text)
    assert say(client, home, csrf, item + 1, flagged=True).status_code == 403
    assert say(client, home, csrf, item, criterion=1, flagged=True).status_code == 403
    assert say(client, home, foreign, item, flagged=True).status_code == 403
    assert say(client, home, csrf, item, text="x" * 2001).status_code == 422
    assert written(service) == []


@pytest.mark.parametrize(("field", "said"), [("comments", {"text": "Odd."}), ("flags", {"flagged": True})])
def test_a_project_takes_what_it_asks_for_only(make: Any, field: str, said: dict[str, Any]) -> None:
    service = make({**OPEN, field: False})
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    assert say(client, home, token(page), leased(page)[0][0], **said).status_code == 403
    assert written(service) == []


def test_a_project_that_is_not_open_takes_no_comments(make: Any) -> None:
    service = make(OPEN)
    client, home = service.invited(), service.home
    page = client.get(f"{home}/label").text
    service.change(state="paused")
    assert say(client, home, token(page), leased(page)[0][0], flagged=True).status_code == 409
    assert written(service) == []
