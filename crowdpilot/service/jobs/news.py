"""News: what the requester's address is told, written in the transaction that makes it true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.service.mirror import Mirror
from crowdpilot.service.store import deliveries
from crowdpilot.service.store.record import Record


class News(NamedTuple):
    """Items that were decided, or decided otherwise, since they were last spoken of."""

    items: list[dict[str, Any]]
    labels: dict[int, str]
    before: dict[int, str]


def find(c: Connection, mirror: Mirror) -> News:
    """What is new; nothing if nobody wants to be told."""
    if not mirror.spec["webhook"]:
        return News([], {}, {})
    now = mirror.campaign.decide()
    before = deliveries.said(c, mirror.project)
    items, labels = [], {}
    for n in np.flatnonzero(now.done):
        name, label = str(now.items[n]), str(now.labels[n])
        if before.get(mirror.ids[name]) != label:
            labels[mirror.ids[name]] = label
            cost, votes = round(float(now.expected[n]), 6), int(now.votes[n])
            items.append({"item": name, "label": label, "expected_cost": cost, "votes": votes})
    return News(items, labels, before)


def write(c: Connection, project: Record, news: News) -> None:
    """Items that were decided are to be told, some hundreds at a time."""
    for n in range(0, len(news.items), deliveries.MANY):
        told = {"project": project.id, "name": project.name, "items": news.items[n : n + deliveries.MANY]}
        deliveries.add(c, project.id, "item.decided", told)
    if news.labels:
        deliveries.say(c, project.id, news.labels, news.before)


def write_done(c: Connection, mirror: Mirror, project: Record) -> None:
    """That a project is done is to be told."""
    if mirror.spec["webhook"]:
        status = mirror.campaign.status()
        told = {
            "project": project.id, "name": project.name, "items": status.items, "votes": project.votes,
            "spent": status.spent, "expected_cost": status.loss,
        }  # fmt: skip
        deliveries.add(c, project.id, "project.done", told)
