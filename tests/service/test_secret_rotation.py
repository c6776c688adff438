"""Secrets are rotated: the newest key signs and derives, all keys of the ring verify."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.settings import Settings, load_settings
from crowdpilot.service.signing import (
    TokenError,
    derive,
    derive_all,
    is_derived,
    read_secret,
    rotate_secret,
    sign,
    unsign,
    webhook_signature,
)

OLD, NEW = "o" * 40, "n" * 40
BOTH = f"{NEW} {OLD}"  # after a rotation


def test_what_an_older_key_signed_stays_valid_until_the_key_is_dropped() -> None:
    token = sign(OLD, "worker_session", [7])
    assert unsign(BOTH, "worker_session", token) == [7]
    with pytest.raises(TokenError, match="not valid"):
        unsign(NEW, "worker_session", token)


def test_the_newest_key_signs_and_derives() -> None:
    assert unsign(NEW, "worker_session", sign(BOTH, "worker_session", 1)) == 1
    assert derive(BOTH, "code", 1) == derive(NEW, "code", 1)
    with pytest.raises(TokenError):
        unsign(OLD, "worker_session", sign(BOTH, "worker_session", 1))


def test_what_an_older_key_derived_is_recognised() -> None:
    assert derive_all(BOTH, "code", 1) == (derive(NEW, "code", 1), derive(OLD, "code", 1))
    assert is_derived(BOTH, derive(OLD, "csrf", "x"), "csrf", "x")
    assert not is_derived(NEW, derive(OLD, "csrf", "x"), "csrf", "x")
    assert not is_derived(BOTH, derive(OLD, "csrf", "x"), "csrf", "y")
    assert not is_derived(BOTH, "é", "csrf", "y")


def test_the_address_for_label_studio_stays_valid() -> None:
    assert backend.is_password(BOTH, "birds", backend.password(OLD, "birds"))
    assert not backend.is_password(NEW, "birds", backend.password(OLD, "birds"))


def test_a_delivery_is_signed_with_each_secret_the_newest_first() -> None:
    """A receiver that knows either of the two secrets finds its signature among them."""
    new, old = (webhook_signature(secret, b"{}", now=5) for secret in ("new", "old"))
    both = webhook_signature("new old", b"{}", now=5)
    assert both == f"{new},{old.removeprefix('t=5,')}"


@pytest.mark.parametrize("between", [",", " ", "\n", ", ", "\n\n"])
def test_the_environment_may_hold_several_keys(tmp_path: Path, between: str) -> None:
    environ = {"CROWDPILOT_SECRET": f"{NEW}{between}{OLD}\n"}
    found = load_settings(str(tmp_path / "a.db"), "https://x.org", environ=environ)
    assert found.secret == BOTH


@pytest.mark.parametrize("text", ["", " ", f"{NEW} short", f"short {NEW}"])
def test_every_key_is_long(text: str) -> None:
    with pytest.raises(ValueError, match="32 characters"):
        Settings(secret=text)


def test_a_new_key_is_added_to_the_file_and_the_oldest_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    first = read_secret(file)
    assert rotate_secret(file, keep=2) == 0
    second, kept = read_secret(file).split()
    assert kept == first
    assert second != first
    assert rotate_secret(file, keep=2) == 1
    assert read_secret(file).split()[1:] == [second]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file], "no draft is left"
