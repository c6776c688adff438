"""Import of Label Studio tasks and annotations into a project, and its export as Label Studio tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection

from crowdpilot.service import exports
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.item_reviews import judge_anew
from crowdpilot.service.labelling import external_votes
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.annotations import Vote
from crowdpilot.service.platforms.label_studio.tasks import Export, Item
from crowdpilot.service.platforms.label_studio.writing import Decision, write_tasks
from crowdpilot.service.schemas import ExternalVoteIn, ItemIn
from crowdpilot.service.store import Store, items, projects, votes
from crowdpilot.service.store.answers import external_votes as stored_votes
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import votes as ls_votes
from crowdpilot.service.store.label_studio.votes import PLATFORM
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads.item_columns import sentence


class Counts(NamedTuple):
    """New items, votes that were added or changed, and annotations that are no votes."""

    items: int
    votes: int
    skipped: int


def find_single_question_project(store: Store, id: str) -> Row:
    """The row of a project; a `ConflictError` if it has criteria, which Label Studio cannot show."""
    with store.reading() as c:
        project = projects.find(c, id)
    if project.spec["criteria"]:
        raise ConflictError("the project has criteria, and Label Studio is asked one question; use another")
    return project


def import_tasks(store: Store, project: Row, key: str, export: Export) -> Counts:
    """Add the items of an export that are new, and all its votes, in one transaction."""
    with store.writing() as c:
        added = add_items(c, project, export.items)
        if export.votes:
            record_votes(c, project.id, export.votes)
        action_log.write(c, key, "import", project.id, items=added, votes=len(export.votes))
    return Counts(added, len(export.votes), export.skipped)


def apply_changes(
    store: Store, project: Row, changes: Sequence[backend.Change], new: Sequence[Item] = ()
) -> Counts:
    """Add, change or remove the votes of annotations of an event; those of unknown items are skipped.

    Parameters
    ----------
    store, project
        The database, and the row of the project.
    changes
        In the order of the event.
    new
        Items that the event is about, of which those are added that are not there yet.
    """
    votes = [change.vote for change in changes if change.vote is not None]
    removed = [change.key for change in changes if change.vote is None]
    with store.writing() as c:
        added = add_items(c, project, new) if new else 0
        known = items.ids_by_name(c, project.id, [vote.item for vote in votes])
        changed = [vote for vote in votes if vote.item in known]
        if changed:
            record_votes(c, project.id, changed)
        n_removed = stored_votes.retract(c, project.id, PLATFORM, removed) if removed else 0
    n_changed = len(changed) + n_removed
    return Counts(added, n_changed, len(changes) - n_changed)


def add_items(c: Connection, project: Row, found: Sequence[Item]) -> int:
    """Add the items that are new, and make known what is ground truth in Label Studio; how many are new.

    In a write transaction.
    """
    projects.next_change(c, project.id)
    known = items.named(c, project.id, [item.name for item in found])
    new = [to_new_item(item, project.spec) for item in found if item.name not in known]
    if new:
        items.add(c, project.id, new)
    classes = project.spec["classes"]
    gold = {
        item.name: classes[item.gold]
        for item in found
        if item.gold is not None and item.name in known and known[item.name].gold is None
    }
    if gold:
        items.set_gold(c, project.id, gold)
        judge_anew(c, project.id)
    return len(new)


def record_votes(c: Connection, project: str, votes: Sequence[Vote]) -> list[Vote]:
    """Write votes so that each annotation is one vote, of one worker, in a write transaction; which were new.

    An annotation that is known with the same label stays the vote of whoever gave it, whatever name a
    payload has for them. What a reviewer has changed is their vote. Of two annotations of a worker about
    an item the later one counts.
    """
    ids = items.ids_by_name(c, project, list({vote.item for vote in votes}))
    stored = ls_votes.of_items(c, project, list(ids.values()))
    by_key = {row.key: row for row in stored if row.key}
    by_worker = {(row.name, row.external): row for row in stored}
    new: dict[tuple[str, str], Vote] = {}
    moved = []
    for vote in votes:
        before = by_key.get(vote.key) if vote.key else None
        if before is not None and (before.name, before.label) == (vote.item, vote.label):
            continue
        if vote.changed_by and (vote.is_edit or before is not None):
            vote = vote._replace(worker=vote.changed_by)
        other = new.get((vote.item, vote.worker)) or by_worker.get((vote.item, vote.worker))
        if other is not None and other.key != vote.key and _is_later(other.time, vote.time):
            continue
        if before is not None and before.external != vote.worker:
            moved.append(vote.key)
        new[vote.item, vote.worker] = vote
    if moved:
        stored_votes.retract(c, project, PLATFORM, moved)
    if new:
        external_votes.record_votes(
            c, project, PLATFORM, [_external_vote(vote) for vote in new.values()], replace=True
        )
    return list(new.values())


def _is_later(time: float | None, than: float | None) -> bool:
    return time is not None and than is not None and time > than


def export_tasks(
    store: Store, project: Row, decided: exports.ProjectDecisions, address: str
) -> list[dict[str, Any]]:
    """Items that are not withdrawn as tasks: decisions as predictions, votes that count as annotations."""
    with store.reading() as c:
        rows = items.list_all(c, project.id)
        all_votes = [
            Vote(row.key or "", row.item, str(row.worker), row.label, row.seconds, row.time)
            for part in votes.export(c, project.id)
            for row in part
            if row.counted
        ]
    shown = [Item(row.name, row.content) for row in rows if row.state != items.WITHDRAWN]
    return write_tasks(shown, all_votes, _decisions(decided), project.spec["classes"], address=address)


def _decisions(decided: exports.ProjectDecisions) -> dict[str, Decision]:
    decisions = decided.decisions
    best = decisions.probs.argmax(axis=1) if decisions.labels.dtype.kind in "iu" else decisions.codes
    probs = decisions.probs[range(len(best)), best]
    return {
        str(name): Decision(int(label), float(p))
        for name, label, p in zip(decisions.items.tolist(), best.tolist(), probs.tolist(), strict=True)
    }


def to_new_item(item: Item, spec: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it is stored; a `ValueError` if it does not fit the schema of other uploads."""
    _check(f"task {item.name[:60]!r}", ItemIn, {"name": item.name, **item.content})
    machine = item.machine if spec["machine"] == "given" else None
    return {
        "name": item.name,
        "content": item.content,
        "classifier_probs": None if machine is None else list(machine),
        "gold": None if item.gold is None else spec["classes"][item.gold],
    }


def _external_vote(vote: Vote) -> external_votes.ExternalVote:
    _check("an annotation", ExternalVoteIn, {"item": vote.item, "worker": vote.worker, "label": "any"})
    return external_votes.ExternalVote(
        vote.item, vote.worker, vote.label, 0, None, vote.seconds, vote.time, vote.key or None
    )


def _check(what: str, schema: type[BaseModel], fields: dict[str, str]) -> None:
    """Raise a `ValueError` if what comes from Label Studio does not fit the schema of other requests."""
    try:
        schema.model_validate(fields)
    except ValidationError as error:
        where = error.errors()[0]["loc"][0]
        raise ValueError(f"{what} has a {where} that cannot be taken: {sentence(error)}") from None
