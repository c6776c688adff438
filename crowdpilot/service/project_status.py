"""Project status: the description of a project and where its campaign stands, as JSON values."""

from __future__ import annotations

from typing import Any

from crowdpilot.json_values import to_json_value
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row


def project_summary(replica: Replica, project: Row) -> dict[str, Any]:
    """The row of a project, and the status of its campaign as it is now."""
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
