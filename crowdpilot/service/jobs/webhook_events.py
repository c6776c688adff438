"""Webhook events: decided items and finished projects, queued in the transaction that makes them true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.messages import webhook_deliveries
from crowdpilot.service.store.messages.webhook_deliveries import MAX_ITEMS_PER_DELIVERY

MAX_ITEMS_PER_TRANSACTION = 4 * MAX_ITEMS_PER_DELIVERY


class NewDecisions(NamedTuple):
    """Items decided, or decided differently, since they were last announced."""

    items: list[dict[str, Any]]  # as they are sent
    labels: dict[int, str]  # by item id
    before: dict[int, str]  # the labels last sent, by item id


def new_decisions(c: Connection, replica: Replica, *, are_final: bool = False) -> NewDecisions:
    """What is to be announced; nothing for a project without a webhook.

    If all decisions are final because nobody is left who could vote, those of all items with votes are.
    """
    if not replica.spec["webhook"]:
        return NewDecisions([], {}, {})
    decisions = replica.campaign.decide()
    before = webhook_deliveries.read_sent_labels(c, replica.project)
    items, labels = [], {}
    for n in np.flatnonzero(decisions.done | (are_final & (decisions.votes > 0))):
        name, label = str(decisions.items[n]), str(decisions.labels[n])
        if before.get(replica.item_ids[name]) != label:
            labels[replica.item_ids[name]] = label
            cost, votes = round(float(decisions.expected[n]), 6), int(decisions.votes[n])
            items.append({"item": name, "label": label, "expected_cost": cost, "votes": votes})
    return NewDecisions(items, labels, before)


def write(c: Connection, project: Row, decided: NewDecisions) -> NewDecisions:
    """Queue at most `MAX_ITEMS_PER_TRANSACTION` items, which keeps transactions short; returns the rest."""
    items = decided.items[:MAX_ITEMS_PER_TRANSACTION]
    labels = list(decided.labels.items())
    for n in range(0, len(items), MAX_ITEMS_PER_DELIVERY):
        part = items[n : n + MAX_ITEMS_PER_DELIVERY]
        payload = {"project": project.id, "name": project.name, "items": part}
        webhook_deliveries.enqueue(c, project.id, "item.decided", payload)
    if items:
        sent = dict(labels[:MAX_ITEMS_PER_TRANSACTION])
        webhook_deliveries.write_sent_labels(c, project.id, sent, decided.before)
    left = decided.items[MAX_ITEMS_PER_TRANSACTION:]
    return NewDecisions(left, dict(labels[MAX_ITEMS_PER_TRANSACTION:]), decided.before)


def write_rest(store: Store, project: Row, decided: NewDecisions) -> None:
    """Queue all items that are left; if the process dies meanwhile, the next job finds them again."""
    while decided.items:
        with store.writing() as c:
            decided = write(c, project, decided)


def write_done(c: Connection, replica: Replica, project: Row) -> None:
    """Queue the event that a project is done."""
    if replica.spec["webhook"]:
        status = replica.campaign.status()
        payload = {
            "project": project.id, "name": project.name, "items": status.items, "votes": project.votes,
            "spent": status.spent, "expected_cost": status.loss,
        }  # fmt: skip
        webhook_deliveries.enqueue(c, project.id, "project.done", payload)
