from __future__ import annotations

import time

import pytest

from crowdpilot.service.errors import Refused
from crowdpilot.service.labelling.sessions import (
    Seat,
    code_to_show,
    completion_code,
    form_token,
    seal,
    unseal,
)

SECRET = "s" * 32
SEAT = Seat("0123456789ab", 7, "prolific", "session", time.time() + 1e6)


def test_a_seat_comes_back_as_it_was():
    assert unseal(SECRET, seal(SECRET, SEAT)) == SEAT


@pytest.mark.parametrize("token", ["", "x", "a.b", seal("t" * 32, SEAT), seal(SECRET, SEAT)[:-1]])
def test_a_seat_that_nobody_gave_is_refused(token):
    with pytest.raises(Refused, match="not valid") as refused:
        unseal(SECRET, token)
    assert refused.value.status == 401


def test_a_seat_ends():
    with pytest.raises(Refused, match="has ended"):
        unseal(SECRET, seal(SECRET, SEAT._replace(expires=time.time() - 1)))


@pytest.mark.parametrize("made", [form_token, completion_code])
def test_codes_are_bound_to_project_worker_platform_and_assignment(made):
    others = [SEAT._replace(**{name: value}) for name, value in
              {"project": "x", "worker": 8, "platform": "mturk", "assignment": "y"}.items()]  # fmt: skip
    assert len({made(SECRET, seat) for seat in (SEAT, *others)}) == 5
    assert made(SECRET, SEAT._replace(expires=0)) == made(SECRET, SEAT)
    assert made("t" * 32, SEAT) != made(SECRET, SEAT)


def test_a_study_on_prolific_has_one_code_for_all_who_come_from_there():
    study = {"prolific": {"study": "b" * 24, "code": "C0DE"}}
    assert code_to_show(SECRET, SEAT, study) == "C0DE"
    assert code_to_show(SECRET, SEAT._replace(platform="link"), study) == completion_code(
        SECRET, SEAT._replace(platform="link")
    )
    assert code_to_show(SECRET, SEAT, {"prolific": None}) == completion_code(SECRET, SEAT)


def test_a_completion_code_can_be_typed():
    assert completion_code(SECRET, SEAT).isalnum()
    assert len(completion_code(SECRET, SEAT)) == 12
