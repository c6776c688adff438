"""The project whose settings fill in the form of a new one, and whose items may be copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData

from crowdpilot.service import access
from crowdpilot.service.errors import RequestError
from crowdpilot.service.pages.dashboard.access.requester import Requester
from crowdpilot.service.requesters.project_creation import has_same_answers
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.copies import items as copies


class CopiedProject(NamedTuple):
    """A project that is copied: its id and name, how many items it has, and whether these are copied."""

    id: str
    name: str
    n_items: int
    is_ticked: bool


def read_copied(form: FormData) -> str:
    """The id of the project whose items are copied, if that was ticked; who may read it is checked later."""
    chosen = form.get("copied_project") if form.get("copy_items") else ""
    return chosen if isinstance(chosen, str) else ""


def find_copied(
    c: Connection, requester: Requester, id: Any, *, is_ticked: bool = False
) -> CopiedProject | None:  # fmt: skip
    """The project of this id; None if there is none that the requester may read."""
    try:
        access.check(c, requester.access, id if isinstance(id, str) else "", access.READ)
    except RequestError:
        return None
    return CopiedProject(id, projects.find(c, id).name, copies.count_items(c, id), is_ticked)


def what_is_not_copied(c: Connection, copied: CopiedProject, spec: Mapping[str, Any]) -> list[str]:
    """What a new project with this description does not take from the copied one, in sentences."""
    if "gold" not in items.knowledge(c, copied.id) or has_same_answers(
        projects.find(c, copied.id).spec, spec
    ):
        return []
    return [
        f"Known answers are not copied: the answers or criteria have other names than in “{copied.name}”."
    ]
