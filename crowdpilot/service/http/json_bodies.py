"""JSON bodies that may be large: parsed in a thread, so that other requests are answered meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from crowdpilot.service.errors import InvalidRequestError

JSON = "application/json"


def json_body(type: Any) -> Callable[[Request], Coroutine[Any, Any, Any]]:
    """A dependency: the body as a value of this type.

    Declare it after the requester, so that nobody's body is parsed who may not send it.
    """
    adapter = TypeAdapter(type)

    def parse(data: bytes) -> Any:
        try:
            return adapter.validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise RequestValidationError([first]) from None

    async def read(request: Request) -> Any:
        if request.headers.get("content-type", JSON).partition(";")[0].strip().lower() != JSON:
            raise InvalidRequestError(f"send {JSON}, and say so in Content-Type")
        return await asyncio.to_thread(parse, await request.body())

    return read


def body_schema(type: Any) -> dict[str, Any]:
    """The body that a route with `json_body` takes, for the OpenAPI schema."""
    content = {JSON: {"schema": inlined_schema(type)}}
    return {"requestBody": {"required": True, "content": content}}


def inlined_schema(type: Any) -> dict[str, Any]:
    """The schema of a type with its definitions in place, for a route that reads its body itself."""
    schema = TypeAdapter(type).json_schema()
    definitions = schema.pop("$defs", {})

    def inline(node: Any) -> Any:
        if isinstance(node, list):
            return [inline(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return inline(definitions[node["$ref"].rpartition("/")[2]])
        return {name: inline(part) for name, part in node.items()}

    inlined: dict[str, Any] = inline(schema)
    return inlined
