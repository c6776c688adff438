from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from crowdpilot.service.errors import RequestError
from crowdpilot.service.labelling.sessions import (
    Session,
    code_to_show,
    completion_codes,
    form_token,
    read_session,
    sign_session,
)

SECRET = "s" * 32
SESSION = Session("0123456789ab", 7, "prolific", 3, "nonce")
WORKER = {"id": 7, "platform": "prolific", "external": "session"}


def test_a_session_comes_back_as_it_was():
    assert read_session(SECRET, sign_session(SECRET, SESSION), 60) == SESSION


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", sign_session("t" * 32, SESSION), sign_session(SECRET, SESSION)[:-1]]
)
def test_a_session_that_was_not_signed_is_refused(token):
    with pytest.raises(RequestError, match="not valid") as refused:
        read_session(SECRET, token, 60)
    assert refused.value.status == 401


def test_a_session_ends(monkeypatch):
    token, now = sign_session(SECRET, SESSION), time.time()
    monkeypatch.setattr(time, "time", lambda: now + 62)
    with pytest.raises(RequestError, match="has ended"):
        read_session(SECRET, token, 60)


def code(project: str = "0123456789ab", secret: str = SECRET, **values: Any) -> str:
    worker: Any = SimpleNamespace(**{**WORKER, **values})
    return completion_codes(secret, project, worker)[0]


def test_form_tokens_are_bound_to_all_of_a_session():
    changes = {"project": "x", "worker": 8, "platform": "mturk", "assignment": 4, "nonce": "y"}
    others = [SESSION._replace(**{name: value}) for name, value in changes.items()]
    assert len({form_token(SECRET, session) for session in (SESSION, *others)}) == 6
    assert form_token("t" * 32, SESSION) != form_token(SECRET, SESSION)


def test_codes_are_bound_to_project_worker_platform_and_assignment():
    others = code("x"), code(id=8), code(platform="mturk"), code(external="y"), code(secret="t" * 32)
    assert len({code(), *others}) == 6


def test_a_study_on_prolific_has_one_code_for_all_who_come_from_there():
    study = {"prolific": {"study": "b" * 24, "code": "C0DE"}}
    here, there = (SimpleNamespace(**{**WORKER, "platform": name}) for name in ("prolific", "link"))
    assert code_to_show(SECRET, SESSION.project, here, study) == "C0DE"
    assert code_to_show(SECRET, SESSION.project, there, study) == code(platform="link")
    assert code_to_show(SECRET, SESSION.project, here, {"prolific": None}) == code()


def test_a_completion_code_can_be_typed():
    assert code().isalnum()
    assert len(code()) == 12
