"""The API of Prolific (v1) over HTTPS: requests with the token of the operator, and errors of one sentence.

Authentication and errors: https://docs.prolific.com/documentation/get-started/api-fundamentals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import requests

from crowdpilot.service.platforms.prolific.address import (
    NO_TOKEN,
    ODD_TOKEN,
    TOKEN,
    api_address,
    api_token,
)

PATIENT_SECONDS, QUICK_SECONDS = 20.0, 6.0
CONNECT_SECONDS = 5.0
PAGE_SIZE = 100
MAX_PAGES = 200
MAX_BYTES = 1 << 24
ID = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)
MAX_DETAIL_CHARACTERS = 300


class UncertainError(ValueError):
    """Prolific did not answer, or with an error of its own: it may have done what was asked for."""


class Client:
    """A client of the API.

    Parameters
    ----------
    quick
        Whether to give up after a few seconds, where a page waits for it.
    """

    def __init__(self, *, quick: bool = False) -> None:
        if not api_token():
            raise ValueError(NO_TOKEN)
        if not (api_token().isascii() and api_token().isprintable()):
            raise ValueError(ODD_TOKEN)
        self._seconds = QUICK_SECONDS if quick else PATIENT_SECONDS
        self._headers = {"Authorization": f"Token {api_token()}"}

    def get(self, path: str, what: str, **query: Any) -> dict[str, Any]:
        """What is found at a path; `what` says in words what is done, for the sentence of an error."""
        return self._call("GET", path, what, params=query)

    def post(self, path: str, what: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a body that is posted."""
        return self._call("POST", path, what, json=body)

    def patch(self, path: str, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a change."""
        return self._call("PATCH", path, what, json=body)

    def pages(self, path: str, what: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All results of a list, page by page, each once: also if the list has no pages."""
        seen: set[str] = set()
        for page in range(1, MAX_PAGES + 1):
            found = self.get(path, what, **query, page=page, page_size=PAGE_SIZE).get("results")
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                raise UncertainError(f"Prolific answered in a way that is not known when asked to {what}")
            new = {id: one for one in found if (id := read_id(one)) not in seen}
            yield from new.values()
            seen |= new.keys()
            if len(found) < PAGE_SIZE or not new:
                return

    def _call(self, method: str, path: str, what: str, **content: Any) -> dict[str, Any]:
        address = f"{api_address()}/api/v1/{path}"
        try:
            with requests.request(
                method, address, headers=self._headers, allow_redirects=False, stream=True,
                timeout=(CONNECT_SECONDS, self._seconds), **content,
            ) as answer:  # fmt: skip
                body = read_body(answer, MAX_BYTES)
        except requests.ConnectTimeout:
            raise ValueError(f"Prolific cannot be reached to {what}; try again later") from None
        except requests.RequestException:
            raise UncertainError(f"Prolific did not answer when asked to {what}; try again later") from None
        return _read(answer.status_code, body, what)


def read_body(answer: requests.Response, most: int) -> bytes:
    """The body of an answer; a `RequestException` if it is cut off or has more bytes than this."""
    body = b""
    for part in answer.iter_content(1 << 16):
        body += part
        if len(body) > most:
            raise requests.RequestException(f"the answer has more than {most} bytes")
    return body


def read_id(found: Mapping[str, Any]) -> str:
    """The id of what Prolific answers with."""
    id = found.get("id")
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise UncertainError("Prolific answered in a way that is not known: it gives no id")
    return id


def read_number(found: Mapping[str, Any], name: str) -> int:
    """A whole number that Prolific answers with; 0 if there is none."""
    try:
        return round(float(found.get(name) or 0))
    except (TypeError, ValueError, OverflowError):
        raise UncertainError(f"Prolific answered in a way that is not known: {name} is no number") from None


def _read(status: int, content: bytes, what: str) -> dict[str, Any]:
    """The body of an answer; a `ValueError` says why Prolific refuses."""
    if status == 401:
        raise ValueError(f"Prolific does not know the token of the server; set {TOKEN} to a valid one")
    if status == 404:
        raise ValueError(f"Prolific refused to {what}: the account of the server has no such thing")
    if status == 429:
        raise ValueError(f"Prolific has had too many requests to {what}; try again in a minute")
    if status >= 500:
        raise UncertainError(f"Prolific could not {what} because of an error of its own; try again later")
    try:
        body = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        body = None
    if status >= 300:
        raise ValueError(f"Prolific refused to {what}: {_detail(body) or f'status {status}'}")
    if body is None:
        raise UncertainError(f"Prolific answered in a way that is not known when asked to {what}")
    return body if isinstance(body, dict) else {"answer": body}


def _detail(body: Any) -> str:
    """What an error says, in one line: its detail is a text, a list, or lists by the names of fields."""
    error = body.get("error", body) if isinstance(body, dict) else body
    detail = error.get("detail") or error.get("title") if isinstance(error, dict) else error
    text = " ".join("; ".join(_flat(detail)).split()).rstrip(".")
    return text if len(text) <= MAX_DETAIL_CHARACTERS else f"{text[: MAX_DETAIL_CHARACTERS - 1]}…"


def _flat(detail: Any) -> Iterator[str]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield f"{name}: {', '.join(_flat(inner))}"
    elif isinstance(detail, list):
        for one in detail:
            yield from _flat(one)
    elif detail is not None:
        yield str(detail)
