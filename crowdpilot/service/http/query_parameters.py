"""Strict: parameters of an address that nobody knows are refused, so that a slip of the pen is noticed."""

from __future__ import annotations

from fastapi import Request

from crowdpilot.service.errors import InvalidRequestError


async def only_known(request: Request) -> None:
    """Raise a InvalidRequestError if the address has a parameter that is not described."""
    if not request.scope["query_string"]:
        return
    known = _described(request)
    if other := [name for name in request.query_params if name not in known]:
        takes = f"there is {', '.join(known)}" if known else "this address takes none"
        raise InvalidRequestError(f"there is no parameter {other[0][:60]!r}; {takes}")


def _described(request: Request) -> list[str]:
    paths = request.app.openapi()["paths"]
    operation = paths.get(request.scope["route"].path, {}).get(request.method.lower(), {})
    return [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
