"""Templates of projects: small files in the package that fill in the form of a new project."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from crowdpilot.service.schemas import ProjectIn

FOLDER = Path(__file__).parent / "project_templates"


class Template(NamedTuple):
    """A template of a project: its name in addresses, what it is called, what it is for, and its settings."""

    id: str
    title: str
    about: str
    settings: dict[str, Any]


@cache
def list_templates() -> dict[str, Template]:
    """All templates by id, in the order in which they are shown."""
    read = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
    shown = sorted(read, key=lambda id: read[id]["order"])
    return {id: Template(id, read[id]["title"], read[id]["about"], read[id]["settings"]) for id in shown}


def template_spec(id: str) -> dict[str, Any] | None:
    """The description that a template makes, with all fields; None if there is none of this name."""
    template = list_templates().get(id)
    return None if template is None else ProjectIn.model_validate(template.settings).model_dump()
