"""Overview: where a project stands, in plain numbers that JSON can hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.row import Record


def of_project(replica: Replica, project: Record) -> dict[str, Any]:
    """What was asked for, and where it stands."""
    status = asdict(replica.campaign.status())
    return {
        "id": project.id,
        "name": project.name,
        "state": project.state,
        "done": project.done,
        "created": project.created,
        "votes": project.votes,
        "fitted": project.fitted,
        "spec": project.spec,
        "status": {name: finite(value) for name, value in status.items()},
    }


def finite(value: Any) -> Any:
    """The same number, or None where it is infinite or not a number."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
