"""Page of one item: content, answers, why it is decided so, comments, neighbours, and what can be done."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray

from crowdpilot.service import item_reviews
from crowdpilot.service.errors import InvalidRequestError, NotFoundError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.access.requester import Form, Labelling, Reading, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.items import reasons
from crowdpilot.service.pages.dashboard.items.item_table import (
    ItemTable,
    Query,
    describe_row,
    find_rows,
    read_items,
)
from crowdpilot.service.pages.dashboard.items.labels_of_forms import chosen_labels, votes_asked
from crowdpilot.service.status.decision_confidence import decision_rule, weighs_votes
from crowdpilot.service.store import items, projects, votes, workers
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row, Store

MAX_SIMILAR = 5


class Seen(NamedTuple):
    """What the campaign says of an item."""

    table: ItemTable
    reasons: list[reasons.Reasons]
    withdrawn: bool
    votes_wanted: int  # more than it has
    rule: str  # by which the policy decides, if it is one of its own
    weighs_votes: bool


def pages() -> APIRouter:
    """Routes about one item."""
    one = "/projects/{id}/items/{item}"
    return router([
        ("GET", one, show_item), ("POST", f"{one}/override", override),
        ("POST", f"{one}/override/remove", remove_override), ("POST", f"{one}/gold", make_gold),
        ("POST", f"{one}/ask-again", ask_again), ("POST", f"{one}/resolve", resolve),
    ])  # fmt: skip


async def show_item(
    id: str, item: int, requester: Reading, store: StoreOf, labelling: LabellingOf,
    q: str = "", only: str = "", order: str = "",
) -> Response:  # fmt: skip
    """One item with its answers, and why it is decided as it is."""
    with store.reading() as c:
        row = items.find(c, id, item)
    seen = await labelling.read(id, lambda replica, _: _look(replica, row.name))
    query = Query.of(q, only, order)
    project, shown = await asyncio.to_thread(_details, store, id, row, seen, query)
    most = max((abs(one.log_odds) for part in seen.reasons for one in part.reasons), default=1.0)
    return show(
        "items/item.html", requester, project, item=row, why=seen.reasons, withdrawn=seen.withdrawn,
        wanted=seen.votes_wanted, rule=seen.rule, weighs_votes=seen.weighs_votes,
        draw=lambda x: reasons.drawing(x, most), query=query._asdict(), **shown,
    )  # fmt: skip


def _look(replica: Replica, name: str) -> Seen:
    campaign = replica.campaign
    if name not in replica.item_ids:
        raise NotFoundError("there is no such item in this project")
    row = int(campaign.view.item_rows([name])[0])
    table = campaign.view.items()
    missing = int((table.votes_wanted[row] - table.votes[row]).max())
    return Seen(
        read_items(replica), reasons.find_reasons(campaign, name), bool(table.withdrawn[row]),
        max(missing, 0), decision_rule(campaign), weighs_votes(campaign),
    )  # fmt: skip


def _details(store: Store, id: str, row: Row, seen: Seen, query: Query) -> tuple[Row, dict[str, Any]]:
    with store.reading() as c:
        project = projects.find(c, id)
        answers = votes.answers_about(c, row.id)
        known = workers.find_many(c, id, [vote.worker for vote in answers])
        said = comments.about(c, id, row.id)
        rows = find_rows(c, id, seen.table, query)
        similar = _similar(seen.table, row.id)
        content = items.contents(c, seen.table.ids[similar].tolist())
    at = np.flatnonzero(seen.table.ids == row.id)
    decision = None if not len(at) else describe_row(seen.table, int(at[0]), {})
    shown = {
        "decision": decision, "votes": [_answer(vote, known, project.spec) for vote in answers],
        "comments": [_comment(one, project.spec) for one in said],
        "open_comments": sum(one.resolved is None for one in said),
        "similar": [describe_row(seen.table, n, content) for n in similar], "at": None,
    }  # fmt: skip
    return project, {**shown, **_neighbours(seen.table, rows, row.id)}


def _answer(vote: Row, known: dict[int, Row], spec: dict[str, Any]) -> dict[str, Any]:
    worker = known[vote.worker]
    return {"worker": vote.worker, "kind": worker.kind, "counted": worker.trusted, "time": vote.time,
            "seconds": vote.seconds, "question": _question(spec, vote.criterion),
            "label": "can’t tell" if vote.label is None else spec["classes"][vote.label]}  # fmt: skip


def _comment(one: Row, spec: dict[str, Any]) -> dict[str, Any]:
    return {"worker": one.worker, "text": one.text, "flagged": one.flagged, "time": one.time,
            "resolved": one.resolved, "question": _question(spec, one.criterion)}  # fmt: skip


def _question(spec: dict[str, Any], criterion: int) -> str:
    return str(spec["criteria"][criterion]["name"]) if spec["criteria"] else ""


def _neighbours(table: ItemTable, rows: NDArray[np.intp], id: int) -> dict[str, Any]:
    """The items before and after one in the order of the list, and its number in it."""
    ids = table.ids[rows]
    at = np.flatnonzero(ids == id)
    if not len(at):
        return {"before": None, "after": None, "number": 0, "total": len(ids)}
    n = int(at[0])
    after = int(ids[n + 1]) if n + 1 < len(ids) else None
    return {"before": int(ids[n - 1]) if n else None, "after": after, "number": n + 1, "total": len(ids)}


def _similar(table: ItemTable, id: int) -> list[int]:
    """Rows of items between the same two classes that are not sure, those with the highest cost first."""
    at = np.flatnonzero(table.ids == id)
    if not len(at):
        return []
    n = int(at[0])
    pair = np.sort(np.stack([table.codes, table.rivals], axis=1), axis=1)
    same = (pair == pair[n]).all(axis=1) & (table.expected > 1e-6) & (table.ids != id)
    rows = np.flatnonzero(same)
    similar: list[int] = rows[np.argsort(-table.expected[rows], kind="stable")][:MAX_SIMILAR].tolist()
    return similar


# What can be done ------------------------------------------------------------------------------


def override(id: str, item: int, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Decide as an expert."""
    item_reviews.override(store, id, requester.access, _chosen(store, id, item, form))
    return go(f"/projects/{id}/items/{item}#decision")


def remove_override(id: str, item: int, requester: Labelling, store: StoreOf) -> Response:
    """Let the answers decide again."""
    with store.reading() as c:
        name = items.find(c, id, item).name
    item_reviews.override(store, id, requester.access, {name: None})
    return go(f"/projects/{id}/items/{item}#decision")


def make_gold(id: str, item: int, form: Form, requester: Writing, store: StoreOf) -> Response:
    """Make the class known."""
    item_reviews.make_gold(store, id, requester.access, _chosen(store, id, item, form))
    return go(f"/projects/{id}/items/{item}#decision")


def ask_again(id: str, item: int, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Ask for more votes."""
    with store.reading() as c:
        name = items.find(c, id, item).name
    item_reviews.ask_again(store, id, requester.access, [name], votes_asked(form))
    return go(f"/projects/{id}/items/{item}#decision")


def resolve(id: str, item: int, requester: Labelling, store: StoreOf) -> Response:
    """Note that comments and flags are seen to."""
    item_reviews.resolve(store, id, requester.access, item)
    return go(f"/projects/{id}/items/{item}#comments")


def _chosen(store: Store, id: str, item: int, form: Form) -> dict[str, Any]:
    """What the form says of an item, by its name; an `InvalidRequestError` if nothing was chosen."""
    with store.reading() as c:
        name, labels = items.find(c, id, item).name, chosen_labels(form, projects.find(c, id).spec)
    if not labels:
        raise InvalidRequestError("choose an answer first")
    return {name: labels}
