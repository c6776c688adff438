"""Creation of a project with its items, its pictures, and perhaps the items of another project."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service import access, capacity
from crowdpilot.service.access import Requester
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import items as stored_items
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.copies import items as copies
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log, members
from crowdpilot.service.uploads import items

PLACEHOLDER = "0" * 12  # for the id of a project that is not created yet
FILE_ADDRESS = re.compile(r"/files/([0-9a-f]{12})/([0-9a-f]{64})")
Spec = Mapping[str, Any]


class NewProject(NamedTuple):
    """The ids of a project and of its first invitation, which is for everybody who has it."""

    id: str
    invitation: str


class Picture(NamedTuple):
    """A picture of the instructions, an example or the quiz that was uploaded."""

    type: str
    data: bytes


class NewContents(NamedTuple):
    """What a new project contains: files with items, pictures, and the project whose items are copied."""

    files: Sequence[items.File] = ()
    pictures: Sequence[Picture] = ()
    copied_project: str = ""


def create_empty_project(c: Connection, requester: Requester, spec: dict[str, Any]) -> NewProject:
    """Create a project, in which its requester has every right, in a write transaction."""
    access.check_may_create(requester)
    id = projects.create(c, spec)
    members.set_role(c, id, requester.member, access.ADMIN)
    action_log.write(c, requester.actor, "create", id)
    invitation = invitations.create(c, id, kind=next(iter(make_costs(spec).prices)))
    return NewProject(id, invitation.id)


def create_project(store: Store, requester: Requester, spec: Spec, contents: NewContents) -> NewProject:
    """Create a project, all or nothing; files are read before the transaction, so that nobody waits."""
    read = (
        items.read_items(PLACEHOLDER, spec, items.Body("", files=contents.files)) if contents.files else None
    )
    if read:
        capacity.check_items(spec, 0, len(read.items))
    with store.writing() as c:
        new = create_empty_project(c, requester, dict(spec))
        for picture in contents.pictures:
            stored_items.save_file(c, new.id, *picture)
        copies.change_spec(c, new.id, _with_own_files(c, spec, new.id))
        count = 0
        if read:
            moved = [{**item, "content": moved_addresses(item["content"], new.id)} for item in read.items]
            count = items.add(c, new.id, read._replace(items=moved))
        if contents.copied_project:
            access.check(c, requester, contents.copied_project, access.READ)
            count += copies.copy_items(
                c, contents.copied_project, new.id, with_gold=_same_answers(c, contents, spec)
            )
        if count:
            action_log.write(c, requester.actor, "add items", new.id, items=count)
    return new


def moved_addresses(content: Mapping[str, Any], project: str) -> dict[str, Any]:
    """The content of an item with the addresses of its files in the project that was created."""
    start = f"/files/{PLACEHOLDER}/"
    return {
        kind: value.replace(PLACEHOLDER, project, 1) if kind != "text" and value.startswith(start) else value
        for kind, value in content.items()
    }


def _same_answers(c: Connection, contents: NewContents, spec: Spec) -> bool:
    """Whether the known classes of copied items are classes of the new project, too."""
    before = copies.find_spec(c, contents.copied_project)
    return all(before[name] == spec[name] for name in ("classes", "criteria"))


def _with_own_files(c: Connection, spec: Spec, project: str) -> dict[str, Any]:
    """A description whose pictures are files of the project itself; those of others are copied."""

    def own(address: str) -> str:
        found = FILE_ADDRESS.fullmatch(address)
        if found is None or found[1] == project:
            return address
        if found[1] != PLACEHOLDER:
            copies.copy_file(c, found[1], project, found[2])
        return f"/files/{project}/{found[2]}"

    lists = {
        group: [{**record, "image": own(record["image"])} for record in spec[group]]
        for group in ("pictures", "examples", "quiz")
    }
    return {**spec, **lists}
