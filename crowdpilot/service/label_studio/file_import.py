"""Exports that are imported as files, read as the connection of their project says, if it has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdpilot.service.label_studio.events import find_link
from crowdpilot.service.label_studio.links import find_own_predictions, user_numbers
from crowdpilot.service.platforms.label_studio.tasks import Export, read_tasks
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store
from crowdpilot.service.store.engine import Row


def read_export(store: Store, settings: Settings, project: Row, tasks: Sequence[dict[str, Any]]) -> Export:
    """Items and votes of an export (JSON).

    Of a project that is connected the labelling configuration is known, and Label Studio is asked who has an
    e-mail address that stands alone, and which of our predictions an annotation was made from.
    """
    link = find_link(store, settings, project.id)
    if link is None:
        return read_tasks(tasks, project.spec["classes"])
    found = [one for task in tasks for one in task.get("annotations") or () if isinstance(one, dict)]
    return read_tasks(
        tasks,
        link.classes,
        link.config,
        address=link.row.address,
        users=user_numbers(link.client) if any(_has_address_alone(one) for one in found) else None,
        own=find_own_predictions(link.client, found, link.classes, link.config),
    )


def _has_address_alone(annotation: Mapping[str, Any]) -> bool:
    by = annotation.get("completed_by")
    return isinstance(by, str) or (isinstance(by, dict) and by.get("id") is None)
