"""Refusals: why a request is not done, each with its status code."""

from __future__ import annotations


class Refused(Exception):
    """A request that is not done, for a reason that its sender can mend.

    Parameters
    ----------
    status
        The HTTP status code.
    detail
        One sentence that says what to do.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Unavailable(Exception):
    """The database cannot be reached or written to now; nothing was changed."""
