"""What a connection changes in a project of Label Studio: its settings, its webhook and its ML backend.

`maximum_annotations` of 0 closes all tasks in one request, and new ones from the start; predictions are not
shown to annotators, whose votes would repeat them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdpilot.service.label_studio.links import Link, backend_address
from crowdpilot.service.platforms.label_studio.client import LabelStudioError
from crowdpilot.service.settings import Settings

CLOSED = {"maximum_annotations": 0, "show_collab_predictions": False}
REQUEUE_FOR_OTHERS = "REQUEUE_FOR_OTHERS"  # skipped tasks go to others, and do not count as annotated
REPORT_MARK = "Labels, confidence and worker quality: "


def settings_before(there: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a project as they are put back at the end.

    Without any annotations wanted, as after a connection that broke off, no task would ever be open again.
    """
    before = {name: there.get(name) for name in CLOSED if there.get(name) is not None}
    return {**before, "maximum_annotations": max(1, int(before.get("maximum_annotations") or 1))}


def skips_count(there: Mapping[str, Any]) -> bool:
    """Whether a task that somebody skipped counts as annotated by them."""
    return str(there.get("skip_queue", REQUEUE_FOR_OTHERS)) != REQUEUE_FOR_OTHERS


def changed_settings(there: Mapping[str, Any]) -> bool:
    """Whether somebody has changed what keeps tasks closed."""
    return any(there.get(name) != value for name, value in CLOSED.items())


def close_all(link: Link) -> None:
    """Close all tasks."""
    link.client.change_project(link.number, **CLOSED)


def install(settings: Settings, link: Link) -> list[str]:
    """Install ML backend and webhook, and link to the report; sentences about what did not succeed."""
    url, problems = backend_address(settings, link.id), []
    try:
        link.client.install_backend(link.number, url)
    except LabelStudioError as error:
        problems.append(
            f"Label Studio does not take the service as an ML backend ({error}); predictions are written "
            "at the end instead, or start Label Studio with ML_BLOCK_LOCAL_IP=false and connect again"
        )
    try:
        link.client.install_webhook(link.number, f"{url}/webhook")
    except LabelStudioError as error:
        raise LabelStudioError(
            f"Label Studio will not call {settings.address}: {error}", error.status
        ) from None
    _write_description(link, f"{REPORT_MARK}{settings.address}/projects/{link.id}/workers")
    return problems


def restore(link: Link) -> None:
    """Put the settings back; what people have written in the description meanwhile stays."""
    link.client.change_project(link.number, **link.row.settings_before)
    _write_description(link, "")


def _write_description(link: Link, report: str) -> None:
    """Write this line at the end of the description, in place of an earlier one of ours."""
    before = str(link.client.project(link.number).get("description") or "")
    kept = "\n".join(line for line in before.splitlines() if not line.startswith(REPORT_MARK)).strip()
    now = "\n\n".join(filter(None, [kept, report]))
    if now != before:
        link.client.change_project(link.number, description=now)
