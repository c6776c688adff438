"""Logs on standard error: lines of text or JSON, with the id of the request and without secrets."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

TEXT, JSON = FORMATS = ("text", "json")
ACCESS_LOGGER = "crowdpilot.access"
MAX_REASON_CHARACTERS = 200  # of an exception, whose text may hold pieces of a request
MAX_CHAINED_ERRORS = 5
HIDDEN = "***"

request_id: ContextVar[str] = ContextVar("request_id", default="")  # of the request being answered

SECRETS = (
    re.compile(r"(?P<shown>cp_[0-9a-f]+_)[\w-]+"),  # API keys
    re.compile(r"(?P<shown>\b(?:invite|token|csrf|code|state|password|secret|session)=)[^\s&;\"']+", re.I),
    re.compile(r"(?P<shown>://[^\s/:@]*:)[^\s/@]+(?=@)"),  # the password of a database
    re.compile(r"(?P<shown>/label-studio/[^/\s]+/)[^/\s]+"),  # the password of an ML backend
    re.compile(r"(?P<shown>)\b[\w-]{8,}\.[\w-]{5,}\.[\w-]{16,}\b"),  # signed tokens
)


def hide_secrets(text: str) -> str:
    """The same text without keys, tokens and passwords.

    Examples
    --------
    >>> hide_secrets("GET /login?token=abc by cp_0123_xyz")
    'GET /login?token=*** by cp_0123_***'
    """
    for pattern in SECRETS:
        text = pattern.sub(rf"\g<shown>{HIDDEN}", text)
    return text


def configure(format: str = TEXT, *, access: bool = False) -> None:
    """Log to standard error from now on, in this process: warnings, and what we say ourselves.

    Parameters
    ----------
    format
        "text" or "json".
    access
        Whether each request is logged, too.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if format == JSON else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("crowdpilot").setLevel(logging.INFO)
    logging.getLogger(ACCESS_LOGGER).setLevel(logging.INFO if access else logging.WARNING)
    for name in ("uvicorn.error", "python_multipart"):  # strangers could fill the log with their warnings
        logging.getLogger(name).setLevel(logging.ERROR)


class _Lines(logging.Formatter):
    """What both formats have in common: times in UTC, and exceptions with little of their texts."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        return describe(ei[1]) if ei[1] is not None else ""


class TextLines(_Lines):
    """A line of text for each record; tracebacks follow in lines of their own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        id = request_id.get()
        line, newline, rest = super().format(record).partition("\n")
        return hide_secrets(f"{line} [{id}]{newline}{rest}" if id else f"{line}{newline}{rest}")


class JsonLines(_Lines):
    """A JSON object in one line for each record."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": self.formatTime(record), "level": record.levelname.lower(), "logger": record.name,
            "process": record.processName, "message": record.getMessage(),
        }  # fmt: skip
        if id := request_id.get():
            fields["request_id"] = id
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(
            {name: hide_secrets(value) if isinstance(value, str) else value for name, value in fields.items()}
        )


def describe(error: BaseException) -> str:
    """Where an exception comes from, and the first line of what it says."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < MAX_CHAINED_ERRORS:
        reason = str(current).partition("\n")[0][:MAX_REASON_CHARACTERS]
        frames = "".join(traceback.format_tb(current.__traceback__))
        parts.append(f"{frames}{type(current).__qualname__}: {reason}")
        hidden = None if current.__suppress_context__ else current.__context__
        current = current.__cause__ or hidden
    return "\ncaused\n".join(reversed(parts))
