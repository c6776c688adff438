"""Responses: problem+json (RFC 9457) for every error, and files to be saved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from crowdpilot.service.errors import RequestError, ServiceUnavailableError, translatable
from crowdpilot.service.schemas import ErrorOut

INTERNAL_ERROR = translatable("something is wrong on our side; it is logged, and nothing was half-done")
DATABASE_UNAVAILABLE = translatable(
    "the service cannot write to its database now; nothing was lost, try again in a moment"
)
DISCONNECTED = "the connection ended before the request did; send it again"
UNREADABLE_BODY = "the body of the request cannot be read; check its encoding and its Content-Type"
REPORT_SCRIPT = re.compile(r"script-src 'sha256-([A-Za-z0-9+/=]{44})'")
MAX_HEAD_CHARACTERS = 2000  # of a report, before its title
PROBLEM_JSON = "application/problem+json"

ErrorPage = Callable[[Request, int, str], Response]  # of the request, the status and the message
Translate = Callable[[str, Mapping[str, object]], str]  # of a message with placeholders, and their values


def error_response(status: int, message: str) -> Response:
    """An error for programs."""
    body = ErrorOut(title=HTTPStatus(status).phrase, status=status, detail=message)
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return JSONResponse(body.model_dump(), status, headers, PROBLEM_JSON)


def error_schemas(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, for the OpenAPI schema."""
    content = {PROBLEM_JSON: {"schema": ErrorOut.model_json_schema()}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def attachment(pieces: Iterable[bytes], filename: str, media_type: str) -> Response:
    """A file that a browser saves."""
    headers = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces, headers=headers, media_type=media_type)


def report_headers(page: str) -> dict[str, str]:
    """Headers of a report that a browser opens: a sandbox without an origin, and no script but its own."""
    found = REPORT_SCRIPT.search(page[:MAX_HEAD_CHARACTERS])
    script = f"'sha256-{found[1]}'" if found else "'none'"
    policy = (
        "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src {script}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, "Cache-Control": "no-store"}


def add_error_handlers(app: FastAPI, error_page: ErrorPage, translate: Translate) -> None:
    """Turn every exception into a response: a page for people, problem+json for programs."""

    def respond(
        request: Request, status: int, message: str, values: Mapping[str, object] = MappingProxyType({})
    ) -> Response:
        message = translate(message, values)
        if not request.url.path.startswith("/api") and "text/html" in request.headers.get("accept", ""):
            return error_page(request, status, message)
        return error_response(status, message)

    def on_request_error(request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestError):
            return respond(request, 500, str(error))
        return respond(request, error.status, error.message, error.values)

    def on_unavailable(request: Request, _: Exception) -> Response:
        return respond(request, 503, DATABASE_UNAVAILABLE)

    def on_invalid(request: Request, error: Exception) -> Response:
        message = _first_error(error) if isinstance(error, RequestValidationError) else str(error)
        return respond(request, 422, message)

    def on_http_exception(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return respond(request, 500, str(error))
        if error.status_code == 400:  # the framework could not even decode the body
            return respond(request, 422, UNREADABLE_BODY)
        response = respond(request, error.status_code, error.detail)
        response.headers.update(error.headers or {})  # such as the methods that are allowed
        return response

    def on_value_error(request: Request, error: Exception) -> Response:
        return respond(request, 422, str(error))

    def on_disconnect(request: Request, _: Exception) -> Response:
        return respond(request, 400, DISCONNECTED)  # for the metrics: nobody will read it

    def on_unexpected(request: Request, _: Exception) -> Response:
        return respond(request, 500, INTERNAL_ERROR)

    app.add_exception_handler(Exception, on_unexpected)
    app.add_exception_handler(RequestError, on_request_error)
    app.add_exception_handler(ServiceUnavailableError, on_unavailable)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(ValueError, on_value_error)
    app.add_exception_handler(ClientDisconnect, on_disconnect)


def _first_error(error: RequestValidationError) -> str:
    """The first thing that is wrong, with where it is."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message
