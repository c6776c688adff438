"""What a project needs next: where it stands in one sentence, why it does not go on, and what to do."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.formatting import count
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.status.item_progress import ItemProgress
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.statistics import LastVote

QUIET_SECONDS = 3600.0  # without a vote, after which a running project is said to be stuck
EMPTY, WAITING, RUNNING, STUCK, PAUSED, FINISHED, STOPPED = (
    "empty", "waiting", "running", "stuck", "paused", "finished", "stopped",
)  # fmt: skip


class Action(NamedTuple):
    """A button: its words, and the path below the project's own address."""

    words: str
    path: str
    scope: str = "read"  # the least right that it needs: read, labels, writes


class NextSteps(NamedTuple):
    """Where a project stands."""

    state: str
    title: str
    words: str
    actions: Sequence[Action] = ()

    @property
    def is_over(self) -> bool:
        """Whether no more votes are taken."""
        return self.state in (FINISHED, STOPPED)

    @property
    def tone(self) -> str:
        """The kind of notice."""
        return {FINISHED: "good", STUCK: "warn"}.get(self.state, "")


class Supply(NamedTuple):
    """What votes need: money and people."""

    is_spent: bool  # no further vote can be paid
    everybody_asked: bool  # all workers have answered all that is open
    per_worker: int | None  # the limit that all workers have reached, if they have


EXPORT, REPORT = Action("Export the labels", "/export"), Action("Read the report", "/export/report")
AUDIT, ARCHIVE = Action("Check by an audit", "/audit"), Action("Archive", "/archive", "writes")
REVIEW, INVITE = (
    Action("Review items in doubt", "/review", "labels"),
    Action("Invite workers", "/recruiting", "labels"),
)
SETTINGS, ADD = Action("Change the settings", "/settings", "writes"), Action("Add items", "/add", "writes")
PREVIEW = Action("See it as a worker", "/preview", "labels")


def read_supply(replica: Replica, spec: Mapping[str, Any]) -> Supply:
    """Whether money or people have run out; no single votes are looked at, which may be many."""
    view, limit = replica.campaign.view, replica.campaign.plan.per_worker
    table = view.items()
    everybody = view.all_were_asked(np.flatnonzero(table.open & ~table.done))
    named = [name for name in view.worker_names if name is not None]
    is_full = limit is not None and bool(named) and all(view.asked_count(name) >= limit for name in named)
    price = min(make_costs(spec).prices.values(), default=0.0)
    return Supply(view.budget_left < price * (1 - 1e-9), everybody, limit if is_full else None)


def next_steps(
    project: Row, progress: ItemProgress, supply: Supply, last: LastVote, now: float | None = None
) -> NextSteps:
    """Where a project stands, and what its requester can do."""
    if not progress.items:
        return NextSteps(EMPTY, "This project has no items yet",
                         "Add what is to be labelled, look at the pages of workers, then invite workers.",
                         (ADD, PREVIEW, INVITE))  # fmt: skip
    if project.done:
        return NextSteps(FINISHED, f"Finished: {_all(progress.items)}",
                         "By your settings every item has enough answers. Nobody is asked any more.",
                         (EXPORT, REPORT, AUDIT, ARCHIVE))  # fmt: skip
    if project.state == projects.CLOSED:
        return NextSteps(STOPPED, "You have stopped this project",
                         "Every item has the label that fits its answers best. You can open it again.",
                         (EXPORT, REPORT, AUDIT, ARCHIVE))  # fmt: skip
    if project.state == projects.PAUSED:
        return NextSteps(PAUSED, "Paused: workers get no items", "Press Resume to go on.")
    if supply.is_spent:
        return NextSteps(STUCK, f"The budget is spent, and {_open(progress)}",
                         "Raise the budget to get more answers, or stop the project and take the labels "
                         "as they are.", (SETTINGS, EXPORT, REVIEW))  # fmt: skip
    if not project.votes:
        return NextSteps(WAITING, "Waiting for the first answer", "Send workers a link.", (INVITE, PREVIEW))
    quiet = (time.time() if now is None else now) - (last.time or project.created)
    return _if_quiet(progress, supply, quiet) or NextSteps(RUNNING, "Running", _running(last))


def _if_quiet(progress: ItemProgress, supply: Supply, quiet: float) -> NextSteps | None:
    """Why no votes come any more, if none has come for long."""
    if quiet < QUIET_SECONDS or not progress.open:
        return None
    since, still = _since(quiet), _open(progress)
    if supply.per_worker is not None:
        return NextSteps(STUCK, f"No answer for {since}: everybody has reached their limit",
                         f"{still}. A worker may give {supply.per_worker:,} answers. Raise "
                         "that limit, or invite more people.", (INVITE, SETTINGS, REVIEW))  # fmt: skip
    if supply.everybody_asked:
        return NextSteps(STUCK, f"No answer for {since}: new people are needed",
                         f"{still}, and everybody who came has answered them. Invite "
                         "others, or decide these items yourself.", (INVITE, REVIEW))  # fmt: skip
    return NextSteps(STUCK, f"No answer for {since}", f"{still}, and nobody is at work. Invite more "
                     "people, or decide these items yourself.", (INVITE, REVIEW))  # fmt: skip


def _running(last: LastVote) -> str:
    people = (
        f"{count(last.active, 'worker')} answered within the last hour"
        if last.active
        else "nobody is at work"
    )
    return f"{people[:1].upper()}{people[1:]}."


def _all(n: int) -> str:
    return "the item is decided" if n == 1 else f"all {n:,} items are decided"


def _open(progress: ItemProgress) -> str:
    return f"{count(progress.open, 'item')} {'is' if progress.open == 1 else 'are'} still open"


def _since(seconds: float) -> str:
    hours = int(seconds // 3600)
    return count(hours, "hour") if hours < 48 else count(hours // 24, "day")
