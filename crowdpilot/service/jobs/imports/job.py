"""Import job: items from an address, all or none, with progress and one sentence if it fails."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from crowdpilot.service import capacity
from crowdpilot.service.errors import RequestError
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.imports.addresses import check_allowed
from crowdpilot.service.jobs.imports.reading import read_files
from crowdpilot.service.store import items, jobs
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads import items as uploads

PROGRESS_SECONDS = 1.0  # between two notes of how far it is
MAX_IGNORED_SHOWN = 20
BYTES_PER_TRANSACTION = 4 << 20  # of files, reached by the last file of a transaction
PAUSE_SECONDS = 0.1  # between two transactions: other processes look so often whether SQLite is free


def run_import(context: JobContext, job: Row) -> dict[str, Any]:
    """Read the files at an address and add their items; what is wrong is in the result as `why`."""
    address, actor = job.arguments["address"], job.arguments["actor"]
    about = {"address": address}
    try:
        return {**about, **_import(context, job, address, actor)}
    except (RequestError, ValueError) as error:
        return {**about, "why": str(error)}


def _import(context: JobContext, job: Row, address: str, actor: str) -> dict[str, Any]:
    wanted = check_allowed(address, context.settings.import_from)  # settings may have changed meanwhile
    files = read_files(wanted, context.settings, _Progress(context, job, address))
    replica, project = context.replica(job.project)
    upload = uploads.read_items(project.id, project.spec, uploads.Body("", files=files))
    with context.store.reading() as c:
        capacity.check_items(project.spec, items.count(c, project.id), len(upload.items))
        uploads.check_names(c, project.id, upload)
    capacity.check_classifier_budget(replica.campaign, project.spec, len(upload.items))
    _save_files(context.store, job, upload.media)
    ready = items.encode(upload.items)
    result = {"items": len(upload.items), "ignored": upload.ignored[:MAX_IGNORED_SHOWN]}
    with context.store.writing() as c:
        jobs.renew(c, job)
        added = uploads.add(c, project.id, upload, ready)  # with a file that was deleted since
        action_log.write(c, actor, "import", project.id, items=added, address=address)
        jobs.finish(
            c, job, {"address": address, **result}
        )  # with the items, so that a restart adds none twice
    return result


def _save_files(store: Store, job: Row, media: Iterable[uploads.Media]) -> None:
    """Save files before their items, so that no transaction is long; those without items do no harm."""
    for part in _parts(media):
        with store.writing() as c:
            jobs.renew(c, job)
            uploads.save_files(c, job.project, part)
        time.sleep(PAUSE_SECONDS)


def _parts(media: Iterable[uploads.Media]) -> Iterator[list[uploads.Media]]:
    """Files in parts that end when they have reached `BYTES_PER_TRANSACTION`."""
    part: list[uploads.Media] = []
    size = 0
    for file in media:
        part.append(file)
        size += len(file.data)
        if size >= BYTES_PER_TRANSACTION:
            yield part
            part, size = [], 0
    if part:
        yield part


class _Progress:
    """Writes down from time to time how many files are read."""

    def __init__(self, context: JobContext, job: Row, address: str) -> None:
        self.context, self.job, self.address = context, job, address
        self.last = time.monotonic()

    def __call__(self, read: int, total: int) -> None:
        if time.monotonic() - self.last >= PROGRESS_SECONDS:
            self.last = time.monotonic()
            with self.context.store.writing() as c:
                jobs.note_progress(c, self.job, {"address": self.address, "read": read, "total": total})
