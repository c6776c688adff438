"""Messages to workers: how a requester writes to a worker on the platform that they came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from crowdpilot.service.store.engine import Row

PROLIFIC_SUBMISSIONS = "https://app.prolific.com/researcher/workspaces/studies/{study}/submissions"
MTURK_WORKERS = "https://requester.mturk.com/workers"
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Message(NamedTuple):
    """How to write to a worker, and where."""

    words: str
    link: str = ""
    name: str = ""


def message_of(worker: Row, spec: Mapping[str, Any]) -> Message:
    """How to write to a worker; a platform of our own links has no messages."""
    if worker.external is None:
        return Message("Their data is erased; nobody knows who they are.")
    if worker.platform == "prolific":
        study = (spec["prolific"] or {}).get("study", "")
        words = "Open the submissions of your study, find their id, and choose Message beside it."
        if not ID.fullmatch(study):
            return Message(f"{words} Enter the study id under Recruiting, and a link is shown here.")
        return Message(words, PROLIFIC_SUBMISSIONS.format(study=quote(study)), "Submissions on Prolific")
    if worker.platform == "mturk":
        words = "Find their id among your workers on MTurk. Its API can send them e-mail (NotifyWorkers)."
        return Message(words, MTURK_WORKERS, "Workers on MTurk")
    return Message("They came through your link. Write to them in the way you sent it: Crowdpilot cannot.")
