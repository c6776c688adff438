"""Upload checks: whether a project can take more items, before any is written."""

from __future__ import annotations

import asyncio

from crowdpilot.service import capacity
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.engine import Row


async def check_upload(labelling: LabellingService, id: str, n_items: int) -> None:
    """Raise a `ConflictError` if a project cannot hold so many items more, or not pay to classify them.

    The replica of the project is needed only if there is something to pay.
    """
    project, before = await asyncio.to_thread(_read_size, labelling, id)
    capacity.check_items(project.spec, before, n_items)
    if make_costs(project.spec).classifier and project.spec["machine"] != "none":
        await labelling.read(
            id, lambda replica, row: capacity.check_classifier_budget(replica.campaign, row.spec, n_items)
        )


def _read_size(labelling: LabellingService, id: str) -> tuple[Row, int]:
    with labelling.store.reading() as c:
        return projects.find(c, id), items.count(c, id)
