from __future__ import annotations

import time

import pytest

from crowdpilot.service.errors import RequestError
from crowdpilot.service.labelling.sessions import (
    Session,
    code_to_show,
    completion_code,
    form_token,
    read_session,
    sign_session,
)

SECRET = "s" * 32
SESSION = Session("0123456789ab", 7, "prolific", "session")


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


@pytest.mark.parametrize("made", [form_token, completion_code])
def test_codes_are_bound_to_project_worker_platform_and_assignment(made):
    others = [SESSION._replace(**{name: value}) for name, value in
              {"project": "x", "worker": 8, "platform": "mturk", "assignment": "y"}.items()]  # fmt: skip
    assert len({made(SECRET, session) for session in (SESSION, *others)}) == 5
    assert made("t" * 32, SESSION) != made(SECRET, SESSION)


def test_a_study_on_prolific_has_one_code_for_all_who_come_from_there():
    study = {"prolific": {"study": "b" * 24, "code": "C0DE"}}
    assert code_to_show(SECRET, SESSION, study) == "C0DE"
    assert code_to_show(SECRET, SESSION._replace(platform="link"), study) == completion_code(
        SECRET, SESSION._replace(platform="link")
    )
    assert code_to_show(SECRET, SESSION, {"prolific": None}) == completion_code(SECRET, SESSION)


def test_a_completion_code_can_be_typed():
    assert completion_code(SECRET, SESSION).isalnum()
    assert len(completion_code(SECRET, SESSION)) == 12
