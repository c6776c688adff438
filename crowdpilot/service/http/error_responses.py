"""Errors: every exception becomes one problem document, in one place."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from crowdpilot.service.errors import RequestError, ServiceUnavailableError
from crowdpilot.service.http.schemas import Problem
from crowdpilot.service.pages.rendering import error_page

BROKEN = "something is wrong on our side; it is written down, and nothing was half-done"
BUSY = "the service cannot write to its database now; nothing was lost, try again in a moment"
UNREADABLE = "the body of the request cannot be read; check its encoding and its Content-Type"


def problem(status: int, detail: str) -> Response:
    """A problem document."""
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return JSONResponse(body.model_dump(), status, headers, "application/problem+json")


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems a route may answer with, for its description."""
    content = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def answer(request: Request, status: int, detail: str) -> Response:
    """A page for people, a problem document for programs."""
    if not request.url.path.startswith("/api") and "text/html" in request.headers.get("accept", ""):
        return error_page(request, status, detail)
    return problem(status, detail)


def install(app: FastAPI) -> None:
    """Map exceptions to answers."""

    def refused(request: Request, error: Exception) -> Response:
        status, detail = (error.status, str(error)) if isinstance(error, RequestError) else (500, str(error))
        return answer(request, status, detail)

    def unavailable(request: Request, _: Exception) -> Response:
        return answer(request, 503, BUSY)

    def invalid(request: Request, error: Exception) -> Response:
        return answer(
            request, 422, _first(error) if isinstance(error, RequestValidationError) else str(error)
        )

    def http(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return answer(request, 500, str(error))
        if error.status_code == 400:  # the framework could not even decode the body
            return answer(request, 422, UNREADABLE)
        found = answer(request, error.status_code, error.detail)
        found.headers.update(error.headers or {})  # such as the methods that are allowed
        return found

    def wrong(request: Request, error: Exception) -> Response:
        return answer(request, 422, str(error))

    def broken(request: Request, _: Exception) -> Response:
        return answer(request, 500, BROKEN)

    app.add_exception_handler(Exception, broken)
    app.add_exception_handler(RequestError, refused)
    app.add_exception_handler(ServiceUnavailableError, unavailable)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(ValueError, wrong)


def _first(error: RequestValidationError) -> str:
    """The first thing that is wrong, with where it is."""
    found = error.errors()[0]
    where = ".".join(str(part) for part in found["loc"] if part not in ("body", "query", "path"))
    what = str(found["msg"]).removeprefix("Value error, ")
    return f"{where}: {what}" if where else what
