"""Keys of signed links, fetched from a server that rotates them."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from crowdpilot.service.errors import InvalidLinkError, NotReadyError
from crowdpilot.service.platforms.prolific import arrive
from crowdpilot.service.platforms.prolific.public_keys import KEEP_SECONDS, RETRY_SECONDS, PublicKeys
from tests.service.harness.prolific_server import Prolific

DAY_SECONDS = 24 * 3600.0
ADDRESS = "https://label.example"
IDS = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "60" * 12, "SESSION_ID": "0a" * 12}
JWKS = "/jwks.json"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(clock: Clock) -> PublicKeys:
    return PublicKeys(clock)


def link(prolific: Prolific, name: str) -> str:
    return prolific.sign(name, aud=ADDRESS, exp=time.time() + 300, prolific=IDS)


def comes_in(keys: PublicKeys, token: str) -> bool:
    found = keys.keys_for(token)
    try:
        arrive({"prolific_token": token}, keys=found, audience=ADDRESS)
    except InvalidLinkError:
        return False
    return True


def test_keys_are_fetched_once_for_many_links(prolific: Prolific, keys: PublicKeys) -> None:
    prolific.rotate_keys("one", "two")
    assert all(comes_in(keys, link(prolific, name)) for name in ("one", "two", "one"))
    assert prolific.count("GET", JWKS) == 1


def test_a_key_that_is_new_is_fetched_when_a_link_names_it(
    prolific: Prolific, keys: PublicKeys, clock: Clock
) -> None:
    prolific.rotate_keys("one")
    old = link(prolific, "one")
    assert comes_in(keys, old)
    prolific.rotate_keys("two")
    clock.seconds += RETRY_SECONDS
    assert comes_in(keys, link(prolific, "two"))
    assert not comes_in(keys, old)  # Prolific has withdrawn its key
    assert prolific.count("GET", JWKS) == 2


def test_unknown_keys_are_asked_for_once_in_a_minute(
    prolific: Prolific, keys: PublicKeys, clock: Clock
) -> None:
    prolific.rotate_keys("one", "forged")
    forged = link(prolific, "forged")
    prolific.signing.pop("forged")
    assert not any(comes_in(keys, forged) for _ in range(20))
    assert prolific.count("GET", JWKS) == 1
    clock.seconds += RETRY_SECONDS
    assert not any(comes_in(keys, forged) for _ in range(20))
    assert prolific.count("GET", JWKS) == 2


def test_what_is_no_token_fetches_nothing_new(prolific: Prolific, keys: PublicKeys, clock: Clock) -> None:
    prolific.rotate_keys("one")
    for nonsense in ("", "x", "a.b.c", "é.é.é"):
        assert keys.keys_for(nonsense)
        clock.seconds += RETRY_SECONDS
    assert prolific.count("GET", JWKS) == 1


def test_keys_are_fetched_again_within_a_day(prolific: Prolific, keys: PublicKeys, clock: Clock) -> None:
    prolific.rotate_keys("one")
    token = link(prolific, "one")
    assert comes_in(keys, token)
    prolific.rotate_keys("two")  # as after a leak: what the old key signs is not accepted for long
    clock.seconds += KEEP_SECONDS
    assert KEEP_SECONDS <= DAY_SECONDS
    assert not comes_in(keys, token)


def test_old_keys_are_kept_while_prolific_does_not_answer(
    prolific: Prolific, keys: PublicKeys, clock: Clock
) -> None:
    prolific.rotate_keys("one")
    token = link(prolific, "one")
    assert comes_in(keys, token)
    prolific.is_down = True
    clock.seconds += 2 * KEEP_SECONDS
    assert all(comes_in(keys, token) for _ in range(5))
    assert prolific.count("GET", JWKS) == 2  # and not for each link
    prolific.is_down = False
    prolific.rotate_keys("two")
    clock.seconds += RETRY_SECONDS
    assert comes_in(keys, link(prolific, "two"))


def test_without_any_keys_nobody_comes_in(prolific: Prolific, keys: PublicKeys) -> None:
    prolific.rotate_keys("one")
    prolific.is_down = True
    with pytest.raises(NotReadyError, match="the keys of Prolific cannot be fetched now"):
        keys.keys_for(link(prolific, "one"))


def test_an_empty_list_of_keys_does_not_replace_those_of_before(
    prolific: Prolific, keys: PublicKeys, clock: Clock
) -> None:
    prolific.rotate_keys("one")
    token = link(prolific, "one")
    assert comes_in(keys, token)
    prolific.signing.clear()
    clock.seconds += KEEP_SECONDS
    assert comes_in(keys, token)


def test_many_links_at_once_fetch_the_keys_once(prolific: Prolific, keys: PublicKeys) -> None:
    prolific.rotate_keys("one")
    token, came = link(prolific, "one"), []
    threads = [threading.Thread(target=lambda: came.append(comes_in(keys, token))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert came == [True] * 8
    assert prolific.count("GET", JWKS) == 1


def test_keys_that_are_cut_off_are_not_used_and_stop_nobody(
    monkeypatch: pytest.MonkeyPatch, keys: PublicKeys
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PROLIFIC_URL", f"http://127.0.0.1:{server.getsockname()[1]}")

        def answer() -> None:
            called, _ = server.accept()
            with called:
                called.recv(65536)
                called.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(NotReadyError, match="cannot be fetched now"):
            keys.keys_for("token")
        thread.join(10)
