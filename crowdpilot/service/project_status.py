"""Overview: where a project stands, in plain numbers that JSON can hold."""

from __future__ import annotations

from typing import Any

from crowdpilot.json_values import to_json_value
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.row import Record


def of_project(replica: Replica, project: Record) -> dict[str, Any]:
    """What was asked for, and where it stands."""
    return {
        "id": project.id,
        "name": project.name,
        "state": project.state,
        "done": project.done,
        "created": project.created,
        "votes": project.votes,
        "fitted": project.fitted,
        "spec": project.spec,
        "status": to_json_value(replica.campaign.status()),
    }
