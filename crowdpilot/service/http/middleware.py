"""Middleware: what every request passes: ids, headers, sizes, rate limits, metrics, known parameters."""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crowdpilot.service.errors import InvalidRequestError, RequestError, ServiceUnavailableError
from crowdpilot.service.http.body_limits import STRANGER_BYTES, find_limit, limited, too_large
from crowdpilot.service.http.metrics import Metrics
from crowdpilot.service.http.rate_limits import TOO_MANY_REQUESTS, RateLimiter
from crowdpilot.service.http.responses import DATABASE_UNAVAILABLE, error_response
from crowdpilot.service.logs import ACCESS_LOGGER, request_id
from crowdpilot.service.network_addresses import Proxies, network_of
from crowdpilot.service.platforms import PLATFORMS
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.requesters import action_log

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "media-src 'self' https:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; "
)
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    "cross-origin-opener-policy": "same-origin",
}
NO_STORE = (b"cache-control", b"no-store")
MAX_UPLOADS = 4  # under way at once in a process: bodies above `max_body_bytes`, or of unknown length
TOO_MANY_UPLOADS = "the service is busy with other uploads; try again in a moment"
ZERO_CHARACTER = "the address holds a zero character; there is nothing"
MAX_LENGTH_DIGITS = 18
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")  # of a proxy
MAX_PATH_CHARACTERS = 200  # in the log of requests

Headers = list[tuple[bytes, bytes]]
CheckSender = Callable[[Scope], None]  # raises a `RequestError` unless the sender may send a large body

access_log = logging.getLogger(ACCESS_LOGGER)


class ServiceMiddleware:
    """Adds ids and headers, refuses what is too large or too often, and counts requests.

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
    check_sender
        Called in a thread before a large body, or one of unknown length, is read.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        limiter: RateLimiter,
        metrics: Metrics,
        check_sender: CheckSender,
    ) -> None:
        self.app, self.settings, self.limiter, self.metrics = app, settings, limiter, metrics
        self.check_sender = check_sender
        self._proxies = Proxies(settings.proxies) if settings.proxies else None
        self._max_unknown = min(STRANGER_BYTES, settings.max_body_bytes)
        self._uploads = 0  # under way now
        self._start, self._count = secrets.token_hex(4), itertools.count(1)
        self._headers: dict[str, Headers] = {
            name: [(k.encode(), v.encode()) for k, v in _security_headers(settings, name).items()]
            for name in PLATFORMS
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500
        headers = dict(scope["headers"])
        id = self._identify(scope, headers)
        extra = self._headers["mturk" if "/mturk" in scope["path"] else "link"]

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message["headers"], extra, id)
            await send(message)

        try:
            await self._check_and_pass(scope, headers, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - start
            self.metrics.count_request(status, seconds)
            if access_log.isEnabledFor(logging.INFO):
                _log_access(scope, status, seconds)

    def _identify(self, scope: Scope, headers: dict[bytes, bytes]) -> bytes:
        """Set address and id of a request, which a proxy that is named may tell; the id."""
        id = f"{self._start}-{next(self._count):x}"
        client = scope.get("client")
        if self._proxies is not None and client and client[0] in self._proxies:
            forwarded = [v.decode("latin-1") for k, v in scope["headers"] if k == b"x-forwarded-for"]
            scope["client"] = (self._proxies.client_of(client[0], forwarded), 0)
            if headers.get(b"x-forwarded-proto") in (b"http", b"https"):
                scope["scheme"] = headers[b"x-forwarded-proto"].decode()
            proposed = headers.get(b"x-request-id", b"")
            id = proposed.decode() if REQUEST_ID.fullmatch(proposed) else id
        request_id.set(id)
        action_log.address.set(scope["client"][0] if scope.get("client") else None)
        return id.encode()

    async def _check_and_pass(
        self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        address = network_of(scope["client"][0]) if scope.get("client") else ""
        if not self.limiter.allows(("address", address), time.monotonic()):
            await error_response(429, TOO_MANY_REQUESTS)(scope, receive, send)
            return
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:  # no database has such texts
            await error_response(404, ZERO_CHARACTER)(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        n_bytes = int(length) if length.isdigit() and len(length) <= MAX_LENGTH_DIGITS else None
        if n_bytes is not None and n_bytes <= self._max_unknown and b"transfer-encoding" not in headers:
            await self.app(scope, receive, send)
            return
        await self._pass_large(scope, headers, n_bytes, receive, send)

    async def _pass_large(
        self, scope: Scope, headers: dict[bytes, bytes], n_bytes: int | None, receive: Receive, send: Send
    ) -> None:
        """Pass a request on whose body is large, or of unknown length, if the sender is known."""
        limit = find_limit(self.settings, scope["path"], headers.get(b"content-type", b""))
        response = None
        try:
            await run_in_threadpool(self.check_sender, scope)
        except RequestError as error:
            response = error_response(error.status, str(error))
        except ServiceUnavailableError:
            response = error_response(503, DATABASE_UNAVAILABLE)
        if response is None and (n_bytes is None or n_bytes > limit.bytes):
            response = error_response(413, too_large(limit))
        is_upload = b"transfer-encoding" in headers or (n_bytes or 0) > self.settings.max_body_bytes
        if response is None and is_upload and self._uploads >= MAX_UPLOADS:
            response = error_response(503, TOO_MANY_UPLOADS)
        if response is not None:
            await response(scope, receive, send)
            return
        self._uploads += is_upload
        try:
            await self.app(scope, limited(receive, limit), send)
        finally:
            self._uploads -= is_upload


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


def _security_headers(settings: Settings, platform: str) -> dict[str, str]:
    policy = CONTENT_SECURITY_POLICY + PLATFORMS[platform].policy
    headers = {**SECURITY_HEADERS, "content-security-policy": policy}
    if settings.secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return headers


def _with_headers(headers: Headers, extra: Headers, id: bytes) -> Headers:
    """Headers of a response with those that all have; JSON is not cached."""
    present = dict(headers)
    added = [pair for pair in extra if pair[0] not in present]
    if b"json" in present.get(b"content-type", b"") and b"cache-control" not in present:
        added.append(NO_STORE)
    return [*headers, *added, (b"x-request-id", id)]


def _log_access(scope: Scope, status: int, seconds: float) -> None:
    """Log a request without its parameters, which may hold secrets."""
    path = scope.get("raw_path", scope["path"].encode()).decode("ascii", "replace")[:MAX_PATH_CHARACTERS]
    address = scope["client"][0] if scope.get("client") else "-"
    fields: dict[str, Any] = {
        "method": scope["method"], "path": path, "status": status,
        "milliseconds": round(1000 * seconds, 1), "address": address,
    }  # fmt: skip
    access_log.info(
        "%(address)s %(method)s %(path)s %(status)s %(milliseconds)s ms", fields, extra={"fields": fields}
    )
