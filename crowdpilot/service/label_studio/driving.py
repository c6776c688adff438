"""Driving: which tasks annotators of Label Studio are given, opened and closed as the campaign wants votes.

Label Studio gives a task to whoever presses "Label all tasks" while `is_labeled` is false and its `overlap`
is above the number of its annotations and locks. An open task has room for one annotation: it closes by
itself with the next one, and is opened again if another vote is worth its price.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from sqlalchemy import Connection

from crowdpilot.service.label_studio.links import Link, count_annotations
from crowdpilot.service.label_studio.pulling import withdraw
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio.client import LabelStudioError
from crowdpilot.service.store import Store, jobs, projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections, tasks
from crowdpilot.service.store.label_studio import votes as ls_votes

T = TypeVar("T")
ReadReplica = Callable[[Callable[[Replica, Row], T]], T]  # applies a function to the replica as it is now
MIN_PEOPLE = 2  # who have answered an item, before it is given up because everybody there has
PATIENCE_SECONDS = 24 * 3600.0  # without a vote, after which one is enough
LEFT_SECONDS = 7 * 24 * 3600.0  # without a vote of somebody, after which they are not waited for
BEHIND_SECONDS = 2 * 3600.0  # that others have gone on without somebody, who is not waited for then
WAITING_SECONDS = 3600.0  # without a vote, after which the project is said to be waiting
MIN_OPEN_TASKS = 10  # that somebody finds who comes, if so many are wanted
MAX_PROPOSED = 5000  # items of which the order is asked
COMPLETION_JOB = "completion"
MAX_ROUNDS = 20  # of opening and closing, while votes keep coming in


class Plan(NamedTuple):
    """Numbers of tasks to open and to close, and whether votes are wanted that somebody there can give."""

    open: list[int]
    close: list[int]
    is_finished: bool


class Wanted(NamedTuple):
    """Items on which a vote is worth its price, the best first; and all of them, which may be more."""

    best: list[str]
    all: set[str]
    needs_refit: bool


def drive(store: Store, link: Link, read: ReadReplica[Wanted]) -> str:
    """Open and close tasks until they are as the campaign wants them; the state of the connection then.

    One process at a time does so for a project; another that comes meanwhile leaves it to that one.
    """
    driver = f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(4)}"
    with store.writing() as c:
        if not connections.claim(c, link.id, driver):
            return str(link.row.state)
    try:
        for _ in range(MAX_ROUNDS):
            state = _round(store, link, read)
            with store.writing() as c:
                _change_state(c, link.id, state)
                if connections.release(c, link.id, driver):
                    break
    finally:
        with store.writing() as c:
            connections.change(c, link.id, driver=None, driver_until=None)
    return state


def _round(store: Store, link: Link, read: ReadReplica[Wanted]) -> str:
    wanted = read(find_wanted)
    with store.reading() as c:
        project = projects.find(c, link.id)
        rows = tasks.list_all(c, link.id)
        last_votes = ls_votes.last_times(c, link.id)
    now, last = time.time(), max(last_votes.values(), default=link.row.created)
    plan = make_plan(wanted, rows, who_is_there(last_votes, now), is_quiet=now - last > PATIENCE_SECONDS)
    annotations = {row.task: row.annotations for row in rows}
    for number in plan.open:  # first, so that nobody who comes meanwhile is told that there is nothing
        _open(store, link, number, annotations[number])
    for number in plan.close:
        _close(store, link, number)
    if wanted.needs_refit:
        with store.writing() as c:
            jobs.enqueue(c, link.id, jobs.REFIT)
    if project.state != projects.OPEN:
        return connections.STOPPED
    if plan.is_finished and not wanted.needs_refit and rows:
        return connections.FINISHED
    return connections.WAITING if rows and now - last > WAITING_SECONDS else connections.RUNNING


def _change_state(c: Connection, project: str, state: str) -> None:
    """Write the state, in a write transaction; a job looks whether the project is done, or no longer is."""
    before = connections.find(c, project)
    connections.change(c, project, state=state)
    if before is not None and (before.state == connections.FINISHED) != (state == connections.FINISHED):
        jobs.enqueue(c, project, COMPLETION_JOB)


def find_wanted(replica: Replica, project: Row) -> Wanted:
    """The items on which the campaign wants votes now; none of a project that is not open."""
    campaign = replica.campaign
    if project.state != projects.OPEN or not len(campaign):
        return Wanted([], set(), needs_refit=False)
    best = [str(ask.item) for ask in campaign.propose(min(len(campaign), MAX_PROPOSED))]
    table = campaign.view.items()
    rows = np.flatnonzero(table.open & ~table.done)
    needs_refit = not best and project.votes != project.fitted
    return Wanted(best, {str(table.names[row]) for row in rows} if best else set(), needs_refit)


def who_is_there(last_votes: Mapping[str, float], now: float) -> set[str]:
    """Who is waited for, of people with the times of their last votes: not those who have left.

    Examples
    --------
    >>> sorted(who_is_there({"ann": 90_000.0, "bob": 89_000.0, "eve": 80_000.0}, now=100_000.0))
    ['ann', 'bob']
    """
    last = max(last_votes.values(), default=now)
    return {
        person
        for person, moment in last_votes.items()
        if now - moment < LEFT_SECONDS and last - moment < BEHIND_SECONDS
    }


def make_plan(wanted: Wanted, rows: Sequence[Row], people: set[str], *, is_quiet: bool = False) -> Plan:
    """Which tasks to open and close, so that everybody there has some of the best to choose from.

    Parameters
    ----------
    wanted
        By the campaign.
    rows
        All tasks, with the names of their items.
    people
        Who has voted and not left since, by their names in Label Studio.
    is_quiet
        Whether no vote has come for long, so that nobody else is waited for.
    """
    by_name = {row.name: row for row in rows}
    min_people = 1 if is_quiet else MIN_PEOPLE
    exhausted = {
        row.name for row in rows if len(row.annotators) >= min_people and people <= set(row.annotators)
    }
    possible = wanted.all - exhausted
    chosen = {row.name for row in rows if row.is_open and row.name in possible}
    enough = max(MIN_OPEN_TASKS, 2 * (len(people) + 1))  # for each, as others may hold some of them
    left = _needs(by_name, chosen, people, enough)
    for name in wanted.best:
        if name in by_name and name in possible and name not in chosen:
            who = [person for person, n in left.items() if n > 0 and person not in by_name[name].annotators]
            if who:
                chosen.add(name)
                for person in left:
                    left[person] -= person not in by_name[name].annotators
        if max(left.values()) <= 0:
            break
    return Plan(
        open=[by_name[name].task for name in wanted.best if name in chosen and not by_name[name].is_open],
        close=[row.task for row in rows if row.is_open and row.name not in chosen],
        is_finished=not possible & by_name.keys(),
    )


def _needs(by_name: Mapping[str, Row], chosen: set[str], people: set[str], enough: int) -> dict[str, int]:
    """How many more open tasks each person needs; the one without a name is somebody new."""
    answered = [set(by_name[name].annotators) for name in chosen]
    return {person: enough - sum(person not in who for who in answered) for person in ["", *sorted(people)]}


def _open(store: Store, link: Link, number: int, annotations: int) -> None:
    """Make room for one annotation; whether another came meanwhile is seen in the answer."""
    for _ in range(2):
        now = _change_task(store, link, number, overlap=annotations + 1, is_labeled=False)
        if now is None or now == annotations:
            break
        annotations = now
    if now is not None:
        with store.writing() as c:
            tasks.set_open(c, link.id, {number: now}, is_open=True)
            connections.renew(c, link.id)


def _close(store: Store, link: Link, number: int) -> None:
    """Leave no room: without any overlap it stays closed whatever Label Studio computes anew."""
    now = _change_task(store, link, number, overlap=0, is_labeled=True)
    if now is not None:
        with store.writing() as c:
            tasks.set_open(c, link.id, {number: now}, is_open=False)
            connections.renew(c, link.id)


def _change_task(store: Store, link: Link, number: int, *, overlap: int, is_labeled: bool) -> int | None:
    """How many annotations of a task count after the change; None if it was deleted there."""
    try:
        task = link.client.change_task(number, overlap=overlap, is_labeled=is_labeled)
    except LabelStudioError as error:
        if error.status != 404:
            raise
        with store.writing() as c:
            withdraw(c, link.id, tasks.find(c, link.id, [number]))
        return None
    return count_annotations(task, skips_count=link.row.skips_count)
