"""Import of Label Studio tasks and annotations into a project, and its export as Label Studio tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from crowdpilot.service import exports
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.labelling import external_votes
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.tasks import Export, Item, Vote
from crowdpilot.service.platforms.label_studio.writing import Decision, write_tasks
from crowdpilot.service.schemas import ExternalVoteIn, ItemIn
from crowdpilot.service.store import Store, items, projects, votes
from crowdpilot.service.store.answers import external_votes as stored_votes
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads.item_columns import sentence

PLATFORM = "label_studio"


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
        projects.next_change(c, project.id)
        known = items.ids_by_name(c, project.id, [item.name for item in export.items])
        new = [_new_item(item, project.spec) for item in export.items if item.name not in known]
        if new:
            items.add(c, project.id, new)
        if export.votes:
            votes = [_external_vote(vote) for vote in export.votes]
            external_votes.record_votes(c, project.id, PLATFORM, votes, replace=True)
        action_log.write(c, key, "import", project.id, items=len(new), votes=len(export.votes))
    return Counts(len(new), len(export.votes), export.skipped)


def apply_changes(store: Store, project: Row, changes: Sequence[backend.Change]) -> Counts:
    """Add, change or remove the votes of annotations of an event; those of unknown items are skipped."""
    votes = [change.vote for change in changes if change.vote is not None]
    removed = [change.key for change in changes if change.vote is None]
    with store.writing() as c:
        known = items.ids_by_name(c, project.id, [vote.item for vote in votes])
        changed = [_external_vote(vote) for vote in votes if vote.item in known]
        if changed:
            external_votes.record_votes(c, project.id, PLATFORM, changed, replace=True)
        n_removed = stored_votes.retract(c, project.id, PLATFORM, removed) if removed else 0
    n_changed = len(changed) + n_removed
    return Counts(0, n_changed, len(changes) - n_changed)


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


def _new_item(item: Item, spec: Mapping[str, Any]) -> dict[str, Any]:
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
