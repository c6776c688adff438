"""Exceptions of the service: why a request is refused, one class for each HTTP status code."""

from __future__ import annotations


def translatable(message: str) -> str:
    """The same message; `make messages` puts it into the catalogues of the worker pages."""
    return message


class RequestError(Exception):
    """A request that is refused for a reason that its sender can mend; the message says what to do.

    Parameters
    ----------
    message
        With a placeholder such as `%(name)s` for each value, so that it can be translated.
    values
        What the placeholders stand for.
    """

    status = 400  # the HTTP status code

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(message % values if values else message)
        self.message, self.values = message, values


class AuthenticationError(RequestError):
    """The key, link or session is missing, not valid or has expired."""

    status = 401


class ForbiddenError(RequestError):
    """The sender is known, but may not do this."""

    status = 403


class InvalidLinkError(ForbiddenError, ValueError):
    """A worker comes with an address that the platform or the project cannot have made."""


class NotFoundError(RequestError):
    """There is no such thing."""

    status = 404


class ConflictError(RequestError):
    """The state of the project, item or worker does not allow this."""

    status = 409


class UnsupportedMediaTypeError(RequestError):
    """The body is of a content type that this address does not take."""

    status = 415


class InvalidRequestError(RequestError):
    """A value in the request cannot be used."""

    status = 422


class RateLimitError(RequestError):
    """The sender makes too many requests."""

    status = 429


class NotReadyError(RequestError):
    """What is asked for is still being made."""

    status = 503


class ServiceUnavailableError(Exception):
    """The database cannot be reached or written to now; nothing was changed."""
