"""Invitation links."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.platforms.invitation_links import arrive, read_invitation, sign_invitation
from crowdpilot.service.signing import sign

SECRET = "s" * 32
ID = "0123456789abcdef"
URL_SAFE = {*string.ascii_letters, *string.digits, *"-_."}
NOT_VALID = r"^the invitation is not valid; ask for a new link$"


@given(st.text(max_size=32), st.text(max_size=16))
def test_a_token_holds_the_id_of_its_invitation(project, id):
    token = sign_invitation(SECRET, project, id)
    assert {*token} <= URL_SAFE
    assert read_invitation(SECRET, project, token) == id


def test_a_named_invitation_gives_who_was_invited():
    assert arrive(ID, "expert", "ana") == ("link", "ana", "", "expert", False, "", ID, False)


def test_an_open_invitation_gives_somebody_new_each_time():
    found = [arrive(ID, "crowd", None) for _ in range(100)]
    assert len({arrival.external for arrival in found}) == 100
    assert {(arrival.kind, arrival.invitation, arrival.guest) for arrival in found} == {("crowd", ID, True)}
    assert min(len(arrival.external) for arrival in found) >= 32


def test_every_changed_character_is_refused():
    token = sign_invitation(SECRET, "birds", ID)
    for position, character in enumerate(token):
        for other in URL_SAFE - {character}:
            with pytest.raises(ValueError, match=NOT_VALID):
                read_invitation(SECRET, "birds", token[:position] + other + token[position + 1 :])


@given(st.integers(0, 60), st.text(min_size=1, max_size=3))
def test_nothing_can_be_put_into_or_after_a_token(position, more):
    token = sign_invitation(SECRET, "birds", ID)
    with pytest.raises(ValueError, match="not valid"):
        read_invitation(SECRET, "birds", token[:position] + more + token[position:])


@given(st.text())
def test_a_text_that_was_not_signed_is_refused(token):
    with pytest.raises(ValueError, match=NOT_VALID):
        read_invitation(SECRET, "birds", token)


def test_a_shortened_token_is_refused():
    token = sign_invitation(SECRET, "birds", ID)
    for length in range(len(token)):
        with pytest.raises(ValueError, match="not valid"):
            read_invitation(SECRET, "birds", token[:length])


def test_a_token_opens_one_project_with_one_secret():
    token = sign_invitation(SECRET, "birds", ID)
    for secret, project in ((SECRET, "fish"), ("t" * 32, "birds"), (SECRET, "")):
        with pytest.raises(ValueError, match="not valid"):
            read_invitation(secret, project, token)


def test_a_token_from_before_invitations_were_stored_is_refused():
    token = sign(SECRET, "invite:birds", ["crowd", "", None])
    with pytest.raises(ValueError, match=NOT_VALID):
        read_invitation(SECRET, "birds", token)
