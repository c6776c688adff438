"""The client of Label Studio: both kinds of token, pages, retries, and what it says when it is refused."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from crowdpilot.service.platforms.label_studio import client as client_module
from crowdpilot.service.platforms.label_studio.client import LabelStudio, LabelStudioError, is_personal

LOOPBACK = (IPv4Network("127.0.0.0/8"),)
LEGACY = "0123456789abcdef0123456789abcdef01234567"
Answer = tuple[int, Any]


def jwt(**claims: Any) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{body}.c2lnbmF0dXJl"


PERSONAL = jwt(token_type="refresh", user_id=1)


@contextmanager
def answering(answer: Callable[[str, str, str, Any], Answer]) -> Iterator[str]:
    """A server that answers method, path, authorization and body; its address."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = json.loads(body) if body else None
            status, value = answer(self.command, self.path, self.headers.get("Authorization", ""), given)
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "PAUSE_SECONDS", 0.0)


def test_a_legacy_token_is_sent_as_it_is() -> None:
    with answering(lambda method, path, by, _: (200, {"by": by, "path": path})) as address:
        found = LabelStudio(f"{address}/studio/", LEGACY, LOOPBACK).user()
    assert found == {"by": f"Token {LEGACY}", "path": "/studio/api/current-user/whoami"}


def test_a_personal_token_is_exchanged_and_again_when_it_has_expired() -> None:
    valid: list[str] = []

    def answer(method: str, path: str, by: str, body: Any) -> Answer:
        if path == "/api/token/refresh":
            assert (by, body) == ("", {"refresh": PERSONAL})
            valid.append(f"Bearer access-{len(valid)}")
            return 200, {"access": valid[-1].removeprefix("Bearer ")}
        return (200, {"by": by}) if valid and by == valid[-1] else (401, {"detail": "expired"})

    with answering(answer) as address:
        studio = LabelStudio(address, PERSONAL, LOOPBACK)
        assert studio.user() == studio.user() == {"by": "Bearer access-0"}
        valid.append("Bearer another")
        assert studio.user() == {"by": "Bearer access-2"}


@pytest.mark.parametrize("token", [LEGACY, "a.b.c", "..", "", jwt(a=1) + ".x", "é.ü.ö"])
def test_what_is_no_json_web_token_is_a_legacy_token(token: str) -> None:
    assert not is_personal(token)
    assert is_personal(PERSONAL)


def test_all_pages_are_read() -> None:
    def answer(method: str, path: str, by: str, body: Any) -> Answer:
        page = int(parse_qs(urlsplit(path).query)["page"][0])
        return 200, {"tasks": [{"id": n} for n in range(page * 2 - 2, min(page * 2, 5))], "total": 5}

    with answering(answer) as address:
        pages = list(LabelStudio(address, LEGACY, LOOPBACK).tasks(3))
    assert [[task["id"] for task in page] for page in pages] == [[0, 1], [2, 3], [4]]


def test_a_project_without_tasks_has_one_empty_page() -> None:
    with answering(lambda *_: (200, {"tasks": [], "total": 0})) as address:
        assert list(LabelStudio(address, LEGACY, LOOPBACK).tasks(3)) == [[]]


@pytest.mark.parametrize(("call", "tries"), [("project", 3), ("change_task", 3), ("install_backend", 1)])
def test_what_can_be_said_twice_is_tried_again(call: str, tries: int) -> None:
    calls = []

    def answer(method: str, path: str, by: str, body: Any) -> Answer:
        if path.startswith("/api/ml?"):
            return 200, []
        calls.append(path)
        return 503, {"detail": "busy"}

    arguments = (1, "http://x.example") if call == "install_backend" else (1,)
    with answering(answer) as address, pytest.raises(LabelStudioError, match="refuses with status 503: busy"):
        getattr(LabelStudio(address, LEGACY, LOOPBACK), call)(*arguments)
    assert len(calls) == tries


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((401, {"detail": "Invalid token."}), "does not accept the access token; make a new one"),
        ((404, {"detail": "No Project"}), "project 1 is not at .*, or the user of the token may not see it"),
        ((400, {"detail": "Validation error", "validation_errors": {"url": ["bad"]}}), r'url: \["bad"\]'),
        ((302, b""), "sends elsewhere; give the address"),
        ((200, b"<html>"), "is not Label Studio; check it"),
        ((200, []), "another answer than expected"),
        ((500, b"<html>"), "status 500: no reason is given"),
    ],
)
def test_an_error_is_one_sentence_without_the_token(answer: Answer, problem: str) -> None:
    with answering(lambda *_: answer) as address, pytest.raises(LabelStudioError, match=problem) as error:
        LabelStudio(address, LEGACY, LOOPBACK).project(1)
    assert LEGACY not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_private_address_is_refused_unless_the_operator_allows_its_network() -> None:
    with answering(lambda *_: (200, {})) as address:
        with pytest.raises(ValueError, match="in a network that is not public"):
            LabelStudio(address, LEGACY).user()
        assert LabelStudio(address, LEGACY, LOOPBACK).user() == {}


def test_a_server_that_does_not_answer_is_named() -> None:
    with answering(lambda *_: (200, {})) as address:
        pass
    with pytest.raises(LabelStudioError, match=f"Label Studio at {address} does not answer: "):
        LabelStudio(address, LEGACY, LOOPBACK).user()


def test_only_what_is_ours_is_uninstalled() -> None:
    deleted = []

    def answer(method: str, path: str, by: str, body: Any) -> Answer:
        if method == "DELETE":
            deleted.append(path)
            return 204, b""
        return 200, [
            {"id": 1, "url": "https://pilot.example/label-studio/p/w"},
            {"id": 2, "url": "https://other.example/"},
            {"id": 3, "url": "https://pilot.example/label-studio/p/w/webhook"},
        ]

    with answering(answer) as address:
        LabelStudio(address, LEGACY, LOOPBACK).uninstall(5, "https://pilot.example/label-studio/p/w")
    assert deleted == ["/api/webhooks/1/", "/api/webhooks/3/", "/api/ml/1", "/api/ml/3"]
