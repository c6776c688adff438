"""Settings of a project in a file: JSON or TOML with the fields of `ProjectIn`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from crowdpilot.service.schemas.project import ProjectIn

MAX_SETTINGS_BYTES = 4 << 20
NOT_SETTINGS = "this holds no settings of a project; export those of a project to see what they look like"


def read_settings(name: str, data: bytes, changes: Mapping[str, Any] | None = None) -> ProjectIn:
    """The settings in a JSON or TOML file, with changes; a `ValueError` says what is wrong with it."""
    if len(data) > MAX_SETTINGS_BYTES:
        raise ValueError(f"{name}: the file is larger than {MAX_SETTINGS_BYTES} bytes; {NOT_SETTINGS}")
    format = "TOML" if name.lower().endswith(".toml") else "JSON"
    try:
        text = data.decode("utf-8-sig")
        settings = tomllib.loads(text) if format == "TOML" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: this is no {format} ({str(error).partition(chr(10))[0]})") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{name}: {NOT_SETTINGS}")
    try:
        return ProjectIn.model_validate({**settings, **(changes or {})})
    except ValidationError as error:
        raise ValueError(f"{name}: {_sentence(error)}") from None


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    where, message = ".".join(map(str, first["loc"])), str(first["msg"]).removeprefix("Value error, ")
    return f"{where}{': ' if where else ''}{message[:1].lower()}{message[1:]}"


def write_settings(spec: Mapping[str, Any]) -> str:
    """The settings of a project as JSON, such as `read_settings` reads."""
    return json.dumps(ProjectIn.model_validate(dict(spec)).model_dump(), indent=2, ensure_ascii=False) + "\n"
