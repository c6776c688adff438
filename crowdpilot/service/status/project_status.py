"""Project status: the description of a project and where its campaign stands, as JSON values."""

from __future__ import annotations

from typing import Any

from crowdpilot.json_values import to_json_value
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.status.item_progress import count_items
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
        "waiting": replica.waiting_votes,
        "fitted": project.fitted,
        "spec": project.spec,
        "status": to_json_value(replica.campaign.status()),
        "progress": count_items(replica, project)._asdict(),
        "caveats": guest_caveats(replica),
    }


def guest_caveats(replica: Replica) -> list[str]:
    """What the votes of guests cannot tell; nothing if there are no guests."""
    if not replica.has_guests:
        return []
    n_gold = int((replica.campaign.view.items().gold >= 0).any(axis=1).sum())
    return trust.find_caveats(replica.spec, n_gold)
