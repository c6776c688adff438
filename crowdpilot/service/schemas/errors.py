"""Schema of an error, as problem+json."""

from __future__ import annotations

from pydantic import BaseModel


class ErrorOut(BaseModel):
    """Why a request is refused, as problem+json (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
