"""News: what the requester's address is told, written in the transaction that makes it true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import webhook_deliveries
from crowdpilot.service.store.engine import Row, Store

PORTION = 4 * webhook_deliveries.MAX_ITEMS_PER_DELIVERY  # items that are written at once


class News(NamedTuple):
    """Items that were decided, or decided otherwise, since they were last spoken of."""

    items: list[dict[str, Any]]
    labels: dict[int, str]
    before: dict[int, str]


def find(c: Connection, replica: Replica) -> News:
    """What is new; nothing if nobody wants to be told."""
    if not replica.spec["webhook"]:
        return News([], {}, {})
    now = replica.campaign.decide()
    before = webhook_deliveries.read_sent_labels(c, replica.project)
    items, labels = [], {}
    for n in np.flatnonzero(now.done):
        name, label = str(now.items[n]), str(now.labels[n])
        if before.get(replica.item_ids[name]) != label:
            labels[replica.item_ids[name]] = label
            cost, votes = round(float(now.expected[n]), 6), int(now.votes[n])
            items.append({"item": name, "label": label, "expected_cost": cost, "votes": votes})
    return News(items, labels, before)


def write(c: Connection, project: Row, news: News) -> News:
    """Some of the items are to be told, so many that nobody waits long for the database; the rest."""
    now = news.items[:PORTION]
    for n in range(0, len(now), webhook_deliveries.MAX_ITEMS_PER_DELIVERY):
        told = {
            "project": project.id,
            "name": project.name,
            "items": now[n : n + webhook_deliveries.MAX_ITEMS_PER_DELIVERY],
        }
        webhook_deliveries.enqueue(c, project.id, "item.decided", told)
    if now:
        webhook_deliveries.write_sent_labels(
            c, project.id, dict(list(news.labels.items())[:PORTION]), news.before
        )
    return News(news.items[PORTION:], dict(list(news.labels.items())[PORTION:]), news.before)


def write_rest(store: Store, project: Row, news: News) -> None:
    """All that is left to be told; what is not written because a process dies is found again."""
    while news.items:
        with store.writing() as c:
            news = write(c, project, news)


def write_done(c: Connection, replica: Replica, project: Row) -> None:
    """That a project is done is to be told."""
    if replica.spec["webhook"]:
        status = replica.campaign.status()
        told = {
            "project": project.id, "name": project.name, "items": status.items, "votes": project.votes,
            "spent": status.spent, "expected_cost": status.loss,
        }  # fmt: skip
        webhook_deliveries.enqueue(c, project.id, "project.done", told)
