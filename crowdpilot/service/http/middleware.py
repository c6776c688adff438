"""Guard: stands before every route; headers that protect people, sizes, rates and numbers for operators."""

from __future__ import annotations

import time
from typing import Any

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crowdpilot.service.http.error_responses import problem
from crowdpilot.service.http.rate_limits import Limits
from crowdpilot.service.platforms import PLATFORMS
from crowdpilot.service.settings import Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; "
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    "cross-origin-opener-policy": "same-origin",
}
UPLOADS = (
    "/items",
    "/told",
    "/stop",
    "/withdraw",
    "/gold",
    "/files",
    "/projects/new",
    "/label-studio",
)  # ends of addresses that take files
STEPS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # seconds


class Guard:
    """Pure ASGI, so that it costs little.

    Parameters
    ----------
    app
        What it stands before.
    settings
        Of the service.
    limits
        For addresses.
    counts
        Requests by status, and how many were answered within each of `STEPS`.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, limits: Limits, counts: dict[Any, float]) -> None:
        self.app, self.settings, self.limits, self.counts = app, settings, limits, counts
        self._headers = {
            name: [(k.encode(), v.encode()) for k, v in _headers(settings, name).items()]
            for name in PLATFORMS
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 500
        extra = self._headers["mturk" if "/mturk" in scope["path"] else "link"]

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                said = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in said)]
            await send(message)

        try:
            await self._pass(scope, receive, answer)
        finally:
            self._count(status, time.perf_counter() - begun)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        if not self.limits.take(("address", address), time.monotonic()):
            await problem(429, "these are too many requests; wait a moment and try again")(
                scope, receive, send
            )
            return
        most = self.settings.upload if scope["path"].endswith(UPLOADS) else self.settings.body
        sent = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if not sent.isdigit() or int(sent) > most:
            await problem(413, large(most))(scope, receive, send)
            return
        await self.app(scope, _measured(receive, most), send)

    def _count(self, status: int, seconds: float) -> None:
        self.counts["status", status] += 1
        self.counts["seconds"] += seconds
        for step in STEPS:
            if seconds <= step:
                self.counts["within", step] += 1


def large(most: int) -> str:
    """Why a request is refused that is larger than this."""
    return f"the request is larger than {most} bytes; send less at once"


def _headers(settings: Settings, platform: str) -> dict[str, str]:
    found = {**HEADERS, "content-security-policy": POLICY + PLATFORMS[platform].policy}
    if settings.secure:
        found["strict-transport-security"] = "max-age=31536000"
    return found


def _measured(receive: Receive, most: int) -> Receive:
    """The same body, which ends with an exception when it is too large."""
    got = 0

    async def measured() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > most:
            raise HTTPException(413, large(most))  # the one kind that is not taken for bad JSON
        return message

    return measured
