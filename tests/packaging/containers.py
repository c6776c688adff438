"""Dockerfile and compose.yaml, read as Docker reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from tests.packaging.building import HOME

Step = tuple[str, str]  # an instruction and its words


def stages() -> list[list[Step]]:
    """The instructions of each stage of the Dockerfile; the first part is what stands before any stage."""
    text = re.sub(r"^#.*\n", "", (HOME / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = [line for line in re.sub(r"\\\n\s*", " ", text).splitlines() if line.strip()]
    parts: list[list[Step]] = [[]]
    for word, _, rest in (line.partition(" ") for line in lines):
        if word == "FROM":
            parts.append([])
        parts[-1].append((word, rest))
    return parts


def only(steps: list[Step], word: str) -> str:
    """The words of the one instruction of a kind."""
    [found] = [rest for name, rest in steps if name == word]
    return found


def as_list(words: str) -> list[str]:
    """A command in exec form, in which no shell stands between Docker and the process."""
    command: list[str] = json.loads(words)
    return command


def healthcheck() -> list[str]:
    """The command that tells whether the container is well."""
    return as_list(only(stages()[-1], "HEALTHCHECK").partition("CMD ")[2])


def example() -> dict[str, str]:
    """What deploy/example.env gives."""
    lines = (HOME / "deploy/example.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def compose(environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """compose.yaml, with its `${...}` filled in if there is something to fill them with."""
    text = (HOME / "compose.yaml").read_text()
    filled = text if environ is None else VARIABLE.sub(lambda found: _fill(found, environ), text)
    read: dict[str, Any] = yaml.safe_load(filled)
    return read


VARIABLE = re.compile(r"\$\{(\w+):([-?])([^}]*)\}")


def _fill(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name, kind, rest = found.groups()
    if not environ.get(name) and kind == "?":
        raise LookupError(f"{name}: {rest}")
    return environ.get(name) or rest
