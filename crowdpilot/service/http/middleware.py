"""Middleware: what every request passes: security headers, sizes, rate limits, metrics, known parameters."""

from __future__ import annotations

import time

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.http.metrics import Metrics
from crowdpilot.service.http.rate_limits import TOO_MANY_REQUESTS, RateLimiter
from crowdpilot.service.http.responses import error_response
from crowdpilot.service.platforms import PLATFORMS
from crowdpilot.service.settings import Settings

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; "
)
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    "cross-origin-opener-policy": "same-origin",
}
UPLOAD_PATH_ENDINGS = (
    "/items",
    "/external-votes",
    "/stop",
    "/withdraw",
    "/gold",
    "/files",
    "/projects/new",
    "/label-studio",
)


class ServiceMiddleware:
    """Adds security headers, refuses what is too large or too often, and counts requests.

    It is pure ASGI, so that it costs little.

    Parameters
    ----------
    app
        The application behind it.
    settings
        Of the service.
    limiter
        Rate limits of network addresses.
    metrics
        Where requests are counted.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, limiter: RateLimiter, metrics: Metrics) -> None:
        self.app, self.settings, self.limiter, self.metrics = app, settings, limiter, metrics
        self._headers = {
            name: [(k.encode(), v.encode()) for k, v in _security_headers(settings, name).items()]
            for name in PLATFORMS
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500
        extra = self._headers["mturk" if "/mturk" in scope["path"] else "link"]

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(pair for pair in extra if pair[0] not in present),
                ]
            await send(message)

        try:
            await self._check_and_pass(scope, receive, send_with_headers)
        finally:
            self.metrics.count_request(status, time.perf_counter() - start)

    async def _check_and_pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        if not self.limiter.allows(("address", address), time.monotonic()):
            await error_response(429, TOO_MANY_REQUESTS)(scope, receive, send)
            return
        upload = scope["path"].endswith(UPLOAD_PATH_ENDINGS)
        max_bytes = self.settings.max_upload_bytes if upload else self.settings.max_body_bytes
        length = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if not length.isdigit() or int(length) > max_bytes:
            await error_response(413, _too_large(max_bytes))(scope, receive, send)
            return
        await self.app(scope, _limited(receive, max_bytes), send)


async def reject_unknown_parameters(request: Request) -> None:
    """Raise an `InvalidRequestError` if a query parameter is not in the OpenAPI schema, such as a typo."""
    if not request.scope["query_string"]:
        return
    known = _known_parameters(request)
    if unknown := [name for name in request.query_params if name not in known]:
        choices = f"there is {', '.join(known)}" if known else "this address takes none"
        raise InvalidRequestError(f"there is no parameter {unknown[0][:60]!r}; {choices}")


def _known_parameters(request: Request) -> list[str]:
    paths = request.app.openapi()["paths"]
    operation = paths.get(request.scope["route"].path, {}).get(request.method.lower(), {})
    return [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]


def _too_large(max_bytes: int) -> str:
    return f"the request is larger than {max_bytes} bytes; send less at once"


def _security_headers(settings: Settings, platform: str) -> dict[str, str]:
    policy = CONTENT_SECURITY_POLICY + PLATFORMS[platform].policy
    headers = {**SECURITY_HEADERS, "content-security-policy": policy}
    if settings.secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return headers


def _limited(receive: Receive, max_bytes: int) -> Receive:
    """The same body, which ends with an exception when it is too large."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise HTTPException(413, _too_large(max_bytes))  # the one kind that is not taken for bad JSON
        return message

    return receive_limited
