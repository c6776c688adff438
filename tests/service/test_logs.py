"""Logs: lines of text or JSON with the id of the request, and no secrets in them."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from crowdpilot.service.logs import JsonLines, TextLines, describe, hide_secrets, request_id
from crowdpilot.service.signing import new_key, sign
from tests.service.harness.raw_http import connect, head, read_response

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
SECRETS = [
    new_key()[0].split("_", 2)[2],
    sign("s" * 40, "worker_session", ["0" * 12, 1, "link", ""]),
    "hunter2hunter2",
]


def record(message: str, *args: Any, exc_info: Any = None) -> logging.LogRecord:
    return logging.LogRecord("crowdpilot.x", logging.ERROR, __file__, 1, message, args, exc_info)


def raised(error: Exception) -> Any:
    try:
        raise error
    except Exception:
        return sys.exc_info()


@pytest.mark.parametrize(
    "text",
    [
        f"key cp_0123456789ab_{SECRETS[0]} is wrong",
        f"GET /w/0123?invite={SECRETS[1]}&x=1",
        f"GET /login?token={SECRETS[1]}",
        f"Authorization: Bearer {SECRETS[1]}",
        f"cookie: session={SECRETS[1]}; worker_session={SECRETS[1]}",
        f"postgresql+psycopg://crowdpilot:{SECRETS[2]}@db/crowdpilot",
        f"POST /label-studio/0123456789ab/{SECRETS[2]}/webhook",
    ],
    ids=["key", "invitation", "login", "bearer", "cookie", "database", "backend"],
)
def test_secrets_are_hidden(text: str) -> None:
    shown = hide_secrets(text)
    assert not any(secret in shown for secret in SECRETS)
    assert "***" in shown


def test_what_is_no_secret_stays() -> None:
    text = "web-1 ended with code -9 at 127.0.0.1, see crowdpilot.service.http.middleware.ServiceMiddleware"
    assert hide_secrets(text) == text


@pytest.mark.parametrize("lines", [TextLines(), JsonLines()])
def test_each_record_has_the_id_of_its_request(lines: logging.Formatter) -> None:
    token = request_id.set("abc-7")
    try:
        assert "abc-7" in lines.format(record("it is %s", "so"))
    finally:
        request_id.reset(token)
    assert "abc-7" not in lines.format(record("it is so"))


def test_json_is_one_object_in_one_line() -> None:
    line = JsonLines().format(record("a\nb %s", '"c"', exc_info=raised(ValueError("wrong"))))
    found = json.loads(line)
    assert "\n" not in line
    assert (found["message"], found["level"], found["logger"]) == ('a\nb "c"', "error", "crowdpilot.x")
    assert "ValueError: wrong" in found["exception"]


class Item(BaseModel):
    """Of a request."""

    text: int


def test_tracebacks_hold_little_of_what_was_sent() -> None:
    body = "a text that somebody sent " * 100
    try:
        Item.model_validate({"text": body})
    except ValidationError as error:
        try:
            raise RuntimeError(f"cannot use {body}") from error
        except RuntimeError as outer:
            text = describe(outer)
    assert text.count("a text that somebody sent") < 10
    assert "ValidationError" in text
    assert text.index("ValidationError") < text.index("RuntimeError")


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["json", "text"])
def test_a_service_logs_requests_without_secrets(tmp_path: Path, format: str) -> None:
    command = [
        sys.executable,
        "-m",
        "crowdpilot",
        "serve",
        "--port",
        "0",
        "--access-log",
        "--log-format",
        format,
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = ""
        while "keys link" not in (line := process.stderr.readline()):  # the supervisor asks for /healthz
            address = found[0] if (found := ADDRESS.search(line)) else address
        ids = []
        for path in (
            f"/w/{'0' * 12}?invite={SECRETS[1]}", f"/login?token={SECRETS[1]}",
            f"/label-studio/{'0' * 12}/{SECRETS[2]}/health", "/a%0Ab%0D%1b[31m",
        ):  # fmt: skip
            with connect(address) as sock:
                headers = {
                    "x_api_key": f"cp_0123456789ab_{SECRETS[0]}", "cookie": f"session={SECRETS[1]}",
                    "authorization": f"Bearer {SECRETS[1]}", "x_request_id": "mine",
                }  # fmt: skip
                sock.sendall(head("GET", path, **headers))
                ids.append(read_response(sock).headers["x-request-id"])
        with connect(address) as sock:
            sock.sendall(head("GET", "/api/projects", upgrade="websocket", connection="upgrade"))
            read_response(sock)
        with connect(address) as sock:
            sock.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
            read_response(sock)
    finally:
        process.send_signal(signal.SIGINT)
        logged = process.communicate(timeout=30)[1]
    lines = [line for line in logged.splitlines() if "/healthz" not in line]
    assert not any(secret in logged for secret in [*SECRETS, "mine"])
    assert "\x1b" not in logged
    assert [sum(id in line for line in lines) for id in ids] == [1] * len(ids)
    assert len(lines) == len(ids) + 1  # what could not be read is no request
    if format == "json":
        requests = [json.loads(line) for line in lines]
        assert [one["request_id"] for one in requests[:-1]] == ids
        assert {"time", "level", "process", "method", "path", "status", "milliseconds", "address"} <= set(
            requests[0]
        )
