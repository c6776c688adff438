"""Invitation links."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.invitation_links import admit, invite

SECRET = "s" * 32
URL_SAFE = {*string.ascii_letters, *string.digits, *"-_."}


@given(
    st.text(max_size=32),
    st.text(min_size=1, max_size=32),
    st.text(min_size=1, max_size=200),
    st.floats(1, 1e12) | st.none(),
)
def test_a_named_invitation_gives_who_was_invited(project, kind, worker, expires):
    token = invite(SECRET, project, kind=kind, worker=worker, expires=expires)
    assert {*token} <= URL_SAFE
    assert admit(SECRET, project, token, now=0) == ("link", worker, "", kind, False, "")


def test_an_open_invitation_gives_somebody_new_each_time():
    token = invite(SECRET, "birds")
    found = [admit(SECRET, "birds", token) for _ in range(100)]
    assert len({arrival.external for arrival in found}) == 100
    assert {arrival.kind for arrival in found} == {"crowd"}
    assert min(len(arrival.external) for arrival in found) >= 32


def test_every_changed_character_is_refused():
    token = invite(SECRET, "birds", kind="expert", worker="ana", expires=1e10)
    for position, character in enumerate(token):
        for other in URL_SAFE - {character}:
            with pytest.raises(ValueError, match=r"^the invitation is not valid; ask for a new link$"):
                admit(SECRET, "birds", token[:position] + other + token[position + 1 :])


@given(st.integers(0, 80), st.text(min_size=1, max_size=3))
def test_nothing_can_be_put_into_or_after_a_token(position, more):
    token = invite(SECRET, "birds", worker="ana")
    with pytest.raises(ValueError, match="not valid"):
        admit(SECRET, "birds", token[:position] + more + token[position:])


@given(st.text())
def test_a_text_that_was_not_signed_is_refused(token):
    with pytest.raises(ValueError, match=r"^the invitation is not valid; ask for a new link$"):
        admit(SECRET, "birds", token)


def test_a_shortened_token_is_refused():
    token = invite(SECRET, "birds", worker="ana")
    for length in range(len(token)):
        with pytest.raises(ValueError, match="not valid"):
            admit(SECRET, "birds", token[:length])


def test_a_token_opens_one_project_with_one_secret():
    token = invite(SECRET, "birds")
    for secret, project in ((SECRET, "fish"), ("t" * 32, "birds"), (SECRET, "")):
        with pytest.raises(ValueError, match="not valid"):
            admit(secret, project, token)


def test_an_invitation_expires():
    token = invite(SECRET, "birds", worker="ana", expires=100)
    assert admit(SECRET, "birds", token, now=99.9).external == "ana"
    with pytest.raises(ValueError, match="the invitation has expired; ask for a new link"):
        admit(SECRET, "birds", token, now=100)
    with pytest.raises(ValueError, match="has expired"):
        admit(SECRET, "birds", token)


@pytest.mark.parametrize("wrong", [{"kind": ""}, {"kind": "k" * 33}, {"worker": "w" * 201}])
def test_names_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="1 to 32 characters and the worker up to 200"):
        invite(SECRET, "birds", **wrong)


@pytest.mark.parametrize("expires", [float("nan"), float("inf")])
def test_a_time_that_never_comes_is_refused(expires):
    with pytest.raises(ValueError, match="expires at a time in seconds"):
        invite(SECRET, "birds", expires=expires)
