from __future__ import annotations

import os
import stat
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.signing import (
    TokenError,
    TokenExpiredError,
    derive,
    digest,
    new_key,
    read_secret,
    sign,
    unsign,
    webhook_signature,
)

SECRET = "s" * 32


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s, max_size=3)))
def test_a_token_says_what_was_signed(payload):
    assert unsign(SECRET, "worker_session", sign(SECRET, "worker_session", payload)) == payload


@given(st.data())
def test_a_changed_token_is_refused(data):
    token = sign(SECRET, "worker_session", {"worker": 7})
    n = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda c: c != token[n]))
    with pytest.raises(TokenError, match="not valid"):
        unsign(SECRET, "worker_session", token[:n] + other + token[n + 1 :])


def test_a_token_is_good_for_one_purpose_and_one_secret():
    token = sign(SECRET, "worker_session", 1)
    for secret, purpose in ((SECRET, "login"), ("t" * 32, "worker_session")):
        with pytest.raises(TokenError, match="not valid"):
            unsign(secret, purpose, token)


def test_a_token_has_one_spelling_only():
    token = sign(SECRET, "session", {"worker": 7})
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=!é"
    for other in {*alphabet} - {token[-1]}:
        for changed in (token[:-1] + other, token + other, token[:-5] + other + token[-5:]):
            with pytest.raises(TokenError, match="not valid"):
                unsign(SECRET, "session", changed)


def test_a_token_expires(monkeypatch):
    now = time.time()
    token = sign(SECRET, "session", 1)
    assert unsign(SECRET, "session", token, max_age_seconds=60) == 1
    monkeypatch.setattr(time, "time", lambda: now + 62)
    assert unsign(SECRET, "session", token) == 1
    with pytest.raises(TokenExpiredError, match="has expired"):
        unsign(SECRET, "session", token, max_age_seconds=60)


def test_what_is_derived_depends_on_every_part_and_on_where_it_ends():
    found = {derive(SECRET, p, *parts) for p in "ab" for parts in (("1", "23"), ("12", "3"), (123,), ())}
    assert len(found) == 8


def test_a_key_is_found_by_its_name_and_kept_as_a_digest():
    key, name = new_key()
    assert key.split("_")[1] == name
    assert key not in digest(key)
    assert new_key()[0] != key


def test_a_webhook_is_signed_with_its_time():
    assert webhook_signature(SECRET, b"{}", 1.5).startswith("t=1,v1=")
    assert webhook_signature(SECRET, b"{}", 1) != webhook_signature(SECRET, b"{}", 2)


def test_the_file_of_the_secret_is_made_once_and_nobody_else_reads_it(tmp_path):
    path = tmp_path / "secret"
    first = read_secret(path)
    assert len(first) >= 32
    assert read_secret(path) == first
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_file_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "secret"
    read_secret(path)
    path.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        read_secret(path)
