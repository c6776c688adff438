"""Creation of a project with its items, its pictures, and perhaps the items of another project."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service import access, capacity
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.project_campaign import make_campaign, make_costs
from crowdpilot.service.store import items as stored_items
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.copies import items as copies
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log, members
from crowdpilot.service.uploads import items

GIVEN = "given"  # the classifier whose probabilities come with the items
NO_PROBABILITIES = (
    "the copied items bring no guesses of a classifier for these answers; choose another classifier, or keep "
    "the answers and criteria of the other project"
)
PICTURED = "pictures", "examples", "quiz"  # lists of a description whose records have an image
PLACEHOLDER = "0" * 12  # for the id of a project that is not created yet
FILE_ADDRESS = re.compile(r"/files/([0-9a-f]{12})/([0-9a-f]{64})")
Spec = Mapping[str, Any]


class NewProject(NamedTuple):
    """The ids of a project and of its first invitation, which is for everybody who has it."""

    id: str
    invitation: str


class MissingPictureError(InvalidRequestError):
    """A description shows an uploaded picture that this service does not have.

    Parameters
    ----------
    group, row
        The list of the description, and the index of the record in it.
    """

    def __init__(self, group: str, row: int) -> None:
        super().__init__(
            f"{group}, row {row + 1}: this picture is not on this server; choose it again or remove it"
        )
        self.group, self.row = group, row


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
    campaign = make_campaign(spec)
    with store.writing() as c:
        count = (len(read.items) if read else 0) + _count_copied(c, requester, spec, contents.copied_project)
        capacity.check_items(spec, 0, count)
        capacity.check_classifier_budget(campaign, spec, count)
        new = create_empty_project(c, requester, dict(spec))
        for picture in contents.pictures:
            stored_items.save_file(c, new.id, *picture)
        copies.change_spec(c, new.id, _with_own_files(c, spec, new.id))
        if read:
            moved = [{**item, "content": moved_addresses(item["content"], new.id)} for item in read.items]
            items.add(c, new.id, read._replace(items=moved))
        if contents.copied_project:
            _copy_items(c, contents.copied_project, new.id, spec)
        if count:
            action_log.write(c, requester.actor, "add items", new.id, items=count)
    return new


def _count_copied(c: Connection, requester: Requester, spec: Spec, source: str) -> int:
    """How many items are copied; a `ConflictError` if they lack probabilities that the new project needs."""
    if not source:
        return 0
    access.check(c, requester, source, access.READ)
    if spec["machine"] == GIVEN and (
        not has_same_answers(copies.find_spec(c, source), spec) or copies.lack_probabilities(c, source)
    ):
        raise ConflictError(NO_PROBABILITIES)
    return copies.count_items(c, source)


def _copy_items(c: Connection, source: str, target: str, spec: Spec) -> None:
    before = copies.find_spec(c, source)
    order = [before["classes"].index(name) for name in spec["classes"]] if spec["machine"] == GIVEN else None
    copies.copy_items(c, source, target, with_gold=has_same_answers(before, spec), class_order=order)


def has_same_answers(before: Spec, spec: Spec) -> bool:
    """Whether known classes of one project are such of another: classes and criteria have the same names."""
    return all(_names(before, part) == _names(spec, part) for part in ("classes", "criteria"))


def _names(spec: Spec, part: str) -> set[str]:
    return {one["name"] if isinstance(one, Mapping) else one for one in spec[part]}


def moved_addresses(content: Mapping[str, Any], project: str) -> dict[str, Any]:
    """The content of an item with the addresses of its files in the project that was created."""
    start = f"/files/{PLACEHOLDER}/"
    return {
        kind: value.replace(PLACEHOLDER, project, 1) if kind != "text" and value.startswith(start) else value
        for kind, value in content.items()
    }


def _with_own_files(c: Connection, spec: Spec, project: str) -> dict[str, Any]:
    """A description whose pictures are files of the project itself; those of others are copied."""

    def own(group: str, row: int, address: str) -> str:
        found = FILE_ADDRESS.fullmatch(address)
        if found is None or found[1] == project:
            return address
        if found[1] != PLACEHOLDER:
            if not copies.has_file(c, found[1], found[2]):
                raise MissingPictureError(group, row)
            copies.copy_file(c, found[1], project, found[2])
        return f"/files/{project}/{found[2]}"

    lists = {
        group: [{**record, "image": own(group, n, record["image"])} for n, record in enumerate(spec[group])]
        for group in PICTURED
    }
    return {**spec, **lists}


def drop_missing_pictures(c: Connection, spec: Spec) -> tuple[dict[str, Any], list[tuple[str, int]]]:
    """A description without the uploaded pictures that this service does not have, and where they were."""
    missing = [
        (group, n) for group in PICTURED for n, record in enumerate(spec[group])
        if (found := FILE_ADDRESS.fullmatch(record["image"])) and not copies.has_file(c, *found.groups())
    ]  # fmt: skip
    lists: dict[str, list[Any]] = {
        group: [
            {**record, "image": ""} if (group, n) in missing else record
            for n, record in enumerate(spec[group])
            if group != "pictures" or (group, n) not in missing
        ]
        for group in PICTURED
    }
    return {**spec, **lists}, missing
